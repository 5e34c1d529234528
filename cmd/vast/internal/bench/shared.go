package bench

import (
	"fmt"
	"sync"

	"github.com/vastgo/vast/bulk"
)

func sharedWorks() (works []work) {
	for _, goroutines := range []int{1, 2, 4, 8} {
		works = append(works, work{fmt.Sprintf("shared-append-%d", goroutines), bytesElements,
			func(n int) ([]side, func()) {
				return sharedAppends(n, goroutines)
			}})
	}
	for _, goroutines := range []int{1, 2, 4, 8} {
		works = append(works, work{fmt.Sprintf("shared-churn-%d", goroutines), nil,
			func(n int) ([]side, func()) {
				return sharedChurns(max(1, n/2), goroutines)
			}})
	}
	return append(works,
		work{"shared-get", nil, func(n int) ([]side, func()) { return sharedReads(max(1, n/10), readGet) }},
		work{"shared-load-2", nil, func(n int) ([]side, func()) {
			return sharedReads(max(1, n/10), readLoad2)
		}},
		work{"shared-get-beside-writer", nil, func(n int) ([]side, func()) {
			return sharedReads(max(1, n/10), readBesideWriter)
		}},
	)
}

// together starts the given number of goroutines, calls f on each one, and waits for all calls. No call
// begins before all goroutines have started.
func together(goroutines int, f func(g int)) {
	var ready, all sync.WaitGroup
	ready.Add(goroutines)
	for g := range goroutines {
		all.Go(func() {
			ready.Done()
			ready.Wait()
			f(g)
		})
	}
	all.Wait()
}

// share returns the number of operations of goroutine g, if all goroutines together execute n operations.
func share(n, g, goroutines int) int { return n*(g+1)/goroutines - n*g/goroutines }

func sharedAppends(n, goroutines int) (sides []side, done func()) {
	array := func(name string, fill func(a *bulk.SharedArray[element], n int)) side {
		return side{name, func(m *meter) {
			var a *bulk.SharedArray[element]
			m.run(func() {
				a = made(bulk.NewSharedArray[element](bulk.Options{Name: "bench", Capacity: n}))
				together(goroutines, func(g int) { fill(a, share(n, g, goroutines)) })
			})
			m.weigh()
			mustBe(name, a.Len(), n)
			mustSucceed(a.Close())
		}}
	}
	slice := func(name string, fill func(s *lockedSlice, n int)) side {
		return side{name, func(m *meter) {
			s := &lockedSlice{}
			m.run(func() { together(goroutines, func(g int) { fill(s, share(n, g, goroutines)) }) })
			m.weigh()
			mustBe(name, len(s.elements), n)
		}}
	}
	return []side{
		array("vast", fillByAppender),
		array("vast-without-appender", fillShared),
		slice("mutex-append", fillLocked),
		slice("mutex-append-batches", fillLockedBatches),
	}, nil
}

//go:noinline
func fillByAppender(a *bulk.SharedArray[element], n int) {
	appender := a.Appender()
	for i := range n {
		appender.Append(element{position: vector{float32(i), 1, 2}})
	}
	_, _, err := appender.Flush()
	mustSucceed(err)
}

//go:noinline
func fillShared(a *bulk.SharedArray[element], n int) {
	for i := range n {
		a.Append(element{position: vector{float32(i), 1, 2}})
	}
}

type lockedSlice struct {
	sync.Mutex
	elements []element
}

//go:noinline
func fillLocked(s *lockedSlice, n int) {
	for i := range n {
		s.Lock()
		s.elements = append(s.elements, element{position: vector{float32(i), 1, 2}})
		s.Unlock()
	}
}

// fillLockedBatches appends batches that are as large as the buffer of a [bulk.Appender].
//
//go:noinline
func fillLockedBatches(s *lockedSlice, n int) {
	batch := make([]element, 0, 8192/bytesElement)
	for i := range n {
		if len(batch) == cap(batch) {
			s.Lock()
			s.elements = append(s.elements, batch...)
			s.Unlock()
			batch = batch[:0]
		}
		batch = append(batch, element{position: vector{float32(i), 1, 2}})
	}
	s.Lock()
	s.elements = append(s.elements, batch...)
	s.Unlock()
}
