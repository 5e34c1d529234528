package bench

import (
	"runtime"
	"time"
	"unsafe"

	"github.com/vastgo/vast/bulk"
	"github.com/vastgo/vast/internal/clock"
	"github.com/vastgo/vast/vm"
)

// element is the type of the elements in most containers: the Transform of "Virtual Arrays for Virtual
// Worlds" (3dverse), 40 bytes.
type element struct {
	position vector
	rotation quaternion
	scale    vector
}

type vector struct{ x, y, z float32 }

type quaternion struct{ x, y, z, w float32 }

const bytesElement = int(unsafe.Sizeof(element{}))

func bytesElements(n int) int { return n * bytesElement }

// numbered returns the i-th element. The loops that append do not call numbered but repeat its literal,
// because the result of an inlined function is copied once more.
func numbered(i int) element { return element{position: vector{float32(i), 1, 2}} }

func arrayWorks() []work {
	return []work{
		{"append", bytesElements, func(n int) ([]side, func()) { return appends(n, false) }},
		{"append-longest", bytesElements, func(n int) ([]side, func()) { return appends(n, true) }},
	}
}

// appends returns the sides of the work append, or of the work append-longest if longest is true. Both works
// append n elements. A side of append-longest measures only the time of its slowest append.
func appends(n int, longest bool) (sides []side, done func()) {
	return []side{
		{"vast", func(m *meter) { appendArray(m, n, longest) }},
		{"slice-grown", func(m *meter) { appendSlice(m, n, 0, longest) }},
		{"slice-made", func(m *meter) { appendSlice(m, n, n, longest) }},
		{"fresh-region", func(m *meter) { appendRegion(m, n, longest) }},
		{"geometric-blocks", func(m *meter) { appendBlocks(m, n, &geometricBlocks{}, longest) }},
		{"fixed-blocks", func(m *meter) { appendBlocks(m, n, &fixedBlocks{}, longest) }},
	}, nil
}

// stopwatch keeps the longest lap. Each call of the method lap ends a lap and begins the next lap. The first
// lap begins at start.
type stopwatch struct {
	start   time.Duration // reading of clock.Now
	last    time.Duration // time from start to the beginning of the current lap
	longest time.Duration
}

func (s *stopwatch) lap() {
	now := clock.Now() - s.start
	s.longest = max(s.longest, now-s.last)
	s.last = now
}

// resume forgets the longest lap, and begins a lap now.
func (s *stopwatch) resume() { s.last, s.longest = clock.Now()-s.start, 0 }

func appendArray(m *meter, n int, longest bool) {
	var a *bulk.Array[element]
	if longest {
		a = newArray(n)
		s := stopwatch{start: clock.Now()}
		fillArrayLapping(a, n, &s)
		m.time = s.longest
	} else {
		m.run(func() {
			a = newArray(n)
			fillArray(a, n)
		})
		m.weigh()
	}
	mustSucceed(a.Close())
}

func newArray(n int) *bulk.Array[element] {
	return made(bulk.NewArray[element](bulk.Options{Name: "bench", Capacity: n}))
}

//go:noinline
func fillArray(a *bulk.Array[element], n int) {
	for i := range n {
		a.Append(element{position: vector{float32(i), 1, 2}})
	}
}

//go:noinline
func fillArrayLapping(a *bulk.Array[element], n int, s *stopwatch) {
	for i := range n {
		a.Append(element{position: vector{float32(i), 1, 2}})
		s.lap()
	}
}

func appendSlice(m *meter, n, capacity int, longest bool) {
	var es []element
	if longest {
		es = make([]element, 0, capacity)
		s := stopwatch{start: clock.Now()}
		es = fillSliceLapping(es, n, &s)
		m.time = s.longest
	} else {
		m.run(func() { es = fillSlice(n, capacity) })
		m.weigh()
	}
	runtime.KeepAlive(es)
}

//go:noinline
func fillSlice(n, capacity int) []element {
	es := make([]element, 0, capacity)
	for i := range n {
		es = append(es, element{position: vector{float32(i), 1, 2}})
	}
	return es
}

//go:noinline
func fillSliceLapping(es []element, n int, s *stopwatch) []element {
	for i := range n {
		es = append(es, element{position: vector{float32(i), 1, 2}})
		s.lap()
	}
	return es
}

func appendRegion(m *meter, n int, longest bool) {
	var r *vm.Region
	if longest {
		r = newRegion(n)
		s := stopwatch{start: clock.Now()}
		fillRegionLapping(elementsOf(r, n), &s)
		m.time = s.longest
	} else {
		m.run(func() {
			r = newRegion(n)
			fillRegion(elementsOf(r, n))
		})
		m.weigh()
	}
	mustSucceed(r.Close())
}

// newRegion returns a region with committed memory for n elements and the page policy of an Array.
func newRegion(n int) *vm.Region {
	bytes := n * bytesElement
	r := made(vm.Reserve(bytes, vm.Options{Name: "bench"}))
	mustSucceed(r.Huge(0, r.Size()))
	mustSucceed(r.Commit(0, bytes))
	return r
}

// elementsOf returns the memory of r as n elements. The caller must have committed memory for n elements. The
// conversion is sound because an element holds no Go pointers.
func elementsOf(r *vm.Region, n int) []element { return unsafe.Slice((*element)(r.Base()), n) }

//go:noinline
func fillRegion(es []element) {
	for i := range es {
		es[i] = element{position: vector{float32(i), 1, 2}}
	}
}

//go:noinline
func fillRegionLapping(es []element, s *stopwatch) {
	for i := range es {
		es[i] = element{position: vector{float32(i), 1, 2}}
		s.lap()
	}
}

// blocks is a container that grows by adding blocks, and never moves a block.
type blocks interface {
	fill(n int)
	fillLapping(n int, s *stopwatch)
}

func appendBlocks(m *meter, n int, b blocks, longest bool) {
	if longest {
		s := stopwatch{start: clock.Now()}
		b.fillLapping(n, &s)
		m.time = s.longest
	} else {
		m.run(func() { b.fill(n) })
		m.weigh()
	}
	runtime.KeepAlive(b)
}
