package bulk

import (
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/vastgo/vast/internal/longtest"
	"github.com/vastgo/vast/internal/modeltest"
	"github.com/vastgo/vast/vm"
)

func newSharedArray[T any](t testing.TB, o Options) *SharedArray[T] {
	t.Helper()
	a, err := NewSharedArray[T](o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	return a
}

// some returns a number of elements for tests with many goroutines.
func some() int {
	if !longtest.Enabled() || vm.HeapStandIn() {
		return 4_000
	}
	return 50_000
}

func TestAppendersBesideReaders(t *testing.T) {
	for _, pages := range pageKinds {
		const appenders = 4
		each := some() / appenders
		a := newSharedArray[record](t, Options{Pages: pages, Capacity: appenders * each})
		var appending, reading sync.WaitGroup
		var done atomic.Bool
		for g := range appenders {
			appending.Go(func() {
				number := func(i int) record { return numbered(g*each + i) }
				to := a.Appender()
				for i := 0; i < each; i++ {
					switch {
					case g == 0: // single elements
						if at, p := a.Append(number(i)); *p != number(i) || *a.At(at) != number(i) {
							t.Errorf("Append returned index %d, where At finds another element", at)
						}
					case g == 1 && i%8 == 0 && i+8 <= each: // several at a time
						var several []record
						for n := range 8 {
							several = append(several, number(i+n))
						}
						at, added, err := a.AppendSlice(several)
						if err != nil || added[7] != number(i+7) || a.At(at+7) != &added[7] {
							t.Errorf("AppendSlice returned index %d, where At finds other elements: %v", at,
								err)
						}
						i += 7
					default:
						to.Append(number(i))
						if i%100 == 0 {
							if at, added, err := to.Flush(); err != nil ||
								*a.At(at + len(added) - 1) != number(i) {
								t.Errorf("Flush: %v", err)
							}
						}
					}
				}
				if _, _, err := to.Flush(); err != nil || to.Buffered() != 0 {
					t.Errorf("the last Flush leaves %d elements: %v", to.Buffered(), err)
				}
			})
		}
		for range 2 {
			reading.Go(func() {
				r, last := rand.New(rand.NewPCG(1, 2)), 0
				for ; !done.Load(); runtime.Gosched() { // lets other goroutines run on a single processor
					s := a.Slice()
					if len(s) < last || a.Len() < len(s) {
						t.Errorf("Slice has %d elements, then %d, and then Len is %d, want ascending numbers",
							last, len(s), a.Len())
					}
					last = len(s)
					for range min(len(s), 50) {
						i := r.IntN(len(s))
						if s[i] != numbered(int(s[i][0])) || *a.At(i) != s[i] {
							t.Errorf("element %d of %d is %v", i, len(s), s[i])
							return
						}
					}
					if len(s) > 0 && s[len(s)-1] != numbered(int(s[len(s)-1][0])) {
						t.Errorf("the last of %d elements is not completely written", len(s))
						return
					}
				}
			})
		}
		appending.Wait()
		done.Store(true)
		reading.Wait()
		if a.Len() != appenders*each {
			t.Fatalf("%v: %d elements, want %d", pages, a.Len(), appenders*each)
		}
		var next [appenders]int
		for i, e := range a.Slice() {
			g := int(e[0]) / each
			if e != numbered(g*each+next[g]) {
				t.Fatalf("%v: element %d is %v, want number %d of goroutine %d", pages, i, e, next[g], g)
			}
			next[g]++
		}
	}
}

func TestLenStopsAtGaps(t *testing.T) {
	a := newSharedArray[uint64](t, Options{Capacity: 1000})
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	var claims [][2]int // first index and number of elements of each claim
	for total := 0; total < 1000; {
		n := min(r.IntN(150)+1, 1000-total)
		first, err := a.claim(opAppendN, n)
		if err != nil || first != total {
			t.Fatalf("claimed index %d, want %d: %v", first, total, err)
		}
		claims, total = append(claims, [2]int{first, n}), total+n
	}
	var there [1000]bool
	for _, c := range r.Perm(len(claims)) {
		first, n := claims[c][0], claims[c][1]
		a.written.add(first, n)
		for i := range n {
			there[first+i] = true
		}
		want := 0
		for want < 1000 && there[want] {
			want++
		}
		if a.Len() != want {
			t.Fatalf("%d elements are published, want %d", a.Len(), want)
		}
		for i := range there {
			if text := modeltest.PanicText(func() { a.At(i) }); (text == "") != there[i] {
				t.Fatalf("At(%d) panics with %q, written: %t", i, text, there[i])
			}
		}
	}
}

func TestGapBeforeGrowth(t *testing.T) {
	a := newSharedArray[record](t, Options{Capacity: 100_000, Step: 1, Pages: vm.PagesSmall})
	if err := a.Grow(1); err != nil {
		t.Fatal(err)
	}
	room := int(a.room.Load())
	if _, err := a.claim(opAppendN, room); err != nil {
		t.Fatal(err)
	}
	for i := range 3 * room {
		a.Append(numbered(i))
	}
	if int(a.room.Load()) <= room || a.Len() != 0 {
		t.Fatalf("there is room for %d elements, want more than %d, and Len is %d, want 0", a.room.Load(),
			room, a.Len())
	}
	a.written.add(0, room)
	if a.Len() != 4*room {
		t.Fatalf("%d elements are published, want %d", a.Len(), 4*room)
	}
}

func TestAppendersReachTheLimit(t *testing.T) {
	for _, pages := range pageKinds {
		limit := vm.NewLimit(512 << 10)
		other := newArray[record](t, Options{Limit: limit, Pages: pages, Capacity: 10_000})
		if err := other.Grow(5000); err != nil {
			t.Fatal(err)
		}
		a := newSharedArray[record](t, Options{Limit: limit, Pages: pages, Capacity: 100_000, Name: "shared"})
		appended := func() (total int64) {
			var all sync.WaitGroup
			var n atomic.Int64
			for g := range 4 {
				all.Go(func() {
					to := a.Appender()
					e := exhausted(func() {
						for i := 0; ; i++ {
							if g%2 == 0 {
								a.Append(numbered(i))
								n.Add(1)
							} else {
								to.Append(numbered(i))
							}
						}
					})
					if !errors.Is(e, vm.ErrLimit) || e.Purpose != "shared" {
						t.Errorf("%v: Append beyond the limit panics with %v", pages, e)
					}
					if g%2 != 0 && to.Buffered() != cap(to.buffer) {
						t.Errorf("%v: a failed Append left %d elements in the buffer, want %d", pages,
							to.Buffered(), cap(to.buffer))
					}
				})
			}
			all.Wait()
			return n.Load()
		}
		single := appended()
		n := a.Len()
		if room := int(a.room.Load()); n > room || room-n >= bytesBuffer/40 || int64(n) < single {
			t.Fatalf("%v: Len is %d, there is room for %d, and %d elements were appended one by one", pages,
				n, room, single)
		}
		if n != int(a.claimed.Load()) {
			t.Fatalf("%v: Len is %d, but %d indices are claimed", pages, n, a.claimed.Load())
		}
		if err := other.Close(); err != nil {
			t.Fatal(err)
		}
		if single := appended(); a.Len() < n+int(single) || a.Len() < n+3000 {
			t.Fatalf("%v: after the other array was closed, the length went only from %d to %d", pages, n,
				a.Len())
		}
		for i, e := range a.Slice() {
			if e != numbered(int(e[0])) {
				t.Fatalf("%v: element %d is %v", pages, i, e)
			}
		}
		if a.Close() != nil || limit.Used() != 0 {
			t.Fatalf("%v: %d bytes stay in use after Close", pages, limit.Used())
		}
	}
}

func TestSharedArrayMisuse(t *testing.T) {
	open, closed := newSharedArray[record](t, Options{Name: "open"}),
		newSharedArray[record](t, Options{Name: "ships"})
	open.Append(record{})
	closed.Append(record{})
	to := closed.Appender()
	to.Append(record{})
	for range 2 {
		if err := closed.Close(); err != nil {
			t.Fatalf("Close: %v", err)
		}
	}
	for _, c := range []struct {
		name string
		f    func()
		want string
	}{
		{"strings", func() { _, _ = NewSharedArray[string](Options{}) },
			"bulk: NewSharedArray[string]: string is a string"},
		{"no size", func() { _, _ = NewSharedArray[struct{}](Options{}) }, "no size"},
		{"capacity", func() { _, _ = NewSharedArray[record](Options{Capacity: -1}) },
			"Options.Capacity is -1"},
		{"At beyond the end", func() { open.At(1) }, "At(1) on open of length 1"},
		{"At before the start", func() { open.At(-1) }, "At(-1) on open"},
		{"At overflow", func() { open.At(math.MinInt) }, "on open of length 1"},
		{"At far", func() { open.At(math.MaxInt) }, "on open of length 1"},
		{"Grow", func() { _ = open.Grow(-1) }, "Grow(-1) on open"},
		{"closed Append", func() { closed.Append(record{}) }, "ships is used after Close"},
		{"closed AppendSlice", func() { _, _, _ = closed.AppendSlice(make([]record, 2)) },
			"ships is used after Close"},
		{"closed AppendSlice of nothing", func() { _, _, _ = closed.AppendSlice(nil) },
			"ships is used after Close"},
		{"closed At", func() { closed.At(0) }, "ships is used after Close"},
		{"closed Slice", func() { closed.Slice() }, "ships is used after Close"},
		{"closed Grow", func() { _ = closed.Grow(1) }, "ships is used after Close"},
		{"closed Appender", func() { closed.Appender() }, "ships is used after Close"},
		{"closed Flush", func() { _, _, _ = to.Flush() }, "ships is used after Close"},
	} {
		if got := modeltest.PanicText(c.f); !strings.Contains(got, c.want) {
			t.Errorf("%s: panic %q, want %q", c.name, got, c.want)
		}
	}
	if open.Len() != 1 || closed.Len() != 0 || to.Buffered() != 1 {
		t.Errorf("the lengths are %d and %d, want 1 and 0; the buffer has %d elements, want 1", open.Len(),
			closed.Len(), to.Buffered())
	}
}

func TestSharedArraySizesThatOverflow(t *testing.T) {
	for _, capacity := range []int{math.MaxInt, math.MaxInt / 40, math.MaxInt / 100} {
		if _, err := NewSharedArray[record](Options{Capacity: capacity}); !errors.Is(err, vm.ErrSize) &&
			!errors.Is(err, vm.ErrAddressSpace) {
			t.Errorf("capacity %d: %v", capacity, err)
		}
	}
	a := newSharedArray[record](t, Options{Capacity: 100})
	a.Append(numbered(1))
	for _, n := range []int{100, math.MaxInt, math.MaxInt / 40, math.MaxInt - 1} {
		if err := a.Grow(n); !errors.Is(err, vm.ErrCapacity) {
			t.Errorf("Grow(%d): %v", n, err)
		}
	}
	if _, s, err := a.AppendSlice(make([]record, 100)); s != nil || !errors.Is(err, vm.ErrCapacity) {
		t.Errorf("AppendSlice of 100: %v", err)
	}
	if a.Len() != 1 || *a.At(0) != numbered(1) {
		t.Errorf("the array has %d elements, want 1, or element 0 is wrong", a.Len())
	}
	if at, s, err := a.AppendSlice(nil); err != nil || len(s) != 0 || at != 1 {
		t.Errorf("AppendSlice of no elements returns index %d, want 1, %d elements and the error %v", at,
			len(s), err)
	}
	if err := a.Grow(99); err != nil {
		t.Errorf("Grow to the capacity: %v", err)
	}
	budget := newSharedArray[record](t, Options{Name: "ships", MaxBytes: 1000})
	for i := range 25 {
		budget.Append(numbered(i))
	}
	if e := exhausted(func() { budget.Append(record{}) }); e == nil || !errors.Is(e, vm.ErrLimit) ||
		!strings.Contains(e.Error(), "Options.MaxBytes (1000 B)") {
		t.Errorf("beyond the budget: %v", e)
	}
}

func TestSharedMemoryIsCounted(t *testing.T) {
	limit := vm.NewLimit(1 << 30)
	a := newSharedArray[record](t, Options{Limit: limit, Capacity: 100_000, Pages: vm.PagesSmall})
	p := newSharedPool[record](t, Options{Limit: limit, Capacity: 100_000, Pages: vm.PagesSmall})
	for i := range 5000 {
		a.Append(numbered(i))
		p.Insert(numbered(i))
	}
	for _, c := range []interface {
		Reserved() int
		Committed() int
		Resident() (int, error)
		Close() error
	}{a, p} {
		resident, err := c.Resident()
		if err != nil && !errors.Is(err, errors.ErrUnsupported) {
			t.Error(err)
		}
		if err == nil && resident < 5000*40 || c.Committed() < 5000*40 || c.Reserved() < 100_000*40 ||
			resident > c.Reserved() {
			t.Errorf("%T: %d bytes are resident, %d committed, %d reserved", c, resident, c.Committed(),
				c.Reserved())
		}
	}
	if limit.Used() != a.Committed()+p.Committed() {
		t.Errorf("the limit counts %d bytes; the array commits %d and the pool %d", limit.Used(),
			a.Committed(), p.Committed())
	}
	if a.Close() != nil || p.Close() != nil || a.Reserved()+a.Committed()+p.Reserved()+p.Committed() != 0 {
		t.Error("memory is left after Close")
	}
}
