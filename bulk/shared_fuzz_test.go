package bulk

import (
	"fmt"
	"iter"
	"testing"

	"github.com/vastgo/vast/internal/longtest"
	"github.com/vastgo/vast/internal/modeltest"
	"github.com/vastgo/vast/vm"
)

// sharedForTest gives a SharedPool the methods of a Pool. An Inserter makes some insertions and removals.
type sharedForTest[T any] struct {
	takenOver[T]
	SharedPool *SharedPool[T]
	inserter   *Inserter[T]
	changes    int // insertions and removals so far
}

// takenOver has the methods of a SharedPool that sharedForTest does not replace. The compiler makes a wrapper
// for each method of an embedded type. To have fewer wrappers, sharedForTest embeds this interface and not
// the SharedPool.
type takenOver[T any] interface {
	Valid(Handle[T]) bool
	Len() int
	Clear(func(Handle[T], *T))
	All() iter.Seq2[Handle[T], *T]
	Runs() iter.Seq2[int, []T]
	Reserved() int
	Committed() int
	Resident() (int, error)
	Close() error
	checkInvariants()
}

func makeSharedForTest[T any](o Options) (*sharedForTest[T], error) {
	p, err := NewSharedPool[T](o)
	if err != nil {
		return nil, err
	}
	return &sharedForTest[T]{p, p, p.Inserter(), 0}, nil
}

func (p *sharedForTest[T]) Insert(v T) (Handle[T], *T) {
	p.changes++
	// In the model, the slots that the inserter keeps are free. Close gives them back to the pool.
	if p.changes%100 == 0 || p.Len()+4*slotsPerWord >= p.SharedPool.plan.capacity {
		p.inserter.Close()
	}
	if p.changes%2 == 0 {
		return p.inserter.Insert(v)
	}
	return p.SharedPool.Insert(v)
}

func (p *sharedForTest[T]) InsertZero() (Handle[T], *T) {
	var zero T
	return p.Insert(zero)
}

func (p *sharedForTest[T]) Remove(h Handle[T]) bool {
	p.changes++
	if p.changes%4 < 3 {
		return p.inserter.Remove(h)
	}
	return p.SharedPool.Remove(h)
}

func (p *sharedForTest[T]) Grow(n int) error {
	p.inserter.Close()
	return p.SharedPool.Grow(n)
}

func (p *sharedForTest[T]) Get(h Handle[T]) *T {
	e := p.SharedPool.Get(h)
	if v, ok := p.SharedPool.Load(h); ok != (e != nil) || ok && any(v) != any(*e) {
		panic(fmt.Sprintf("Load(%v) = %v, %t, but Get finds %v", h, v, ok, e))
	}
	return e
}

func (p *sharedForTest[T]) Trim() error { return nil }

func FuzzSharedPool(f *testing.F) {
	f.Add([]byte{2, 200, 50, 5, 100, 2, 255, 255, 9, 8, 0, 2, 200, 9, 6, 1, 1, 1, 7, 255, 255})
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, pages := range pageKinds {
			playHandled(t, "SharedPool", Options{Pages: pages}, data, numbered)
		}
	})
}

func sharedRounds() int {
	if vm.HeapStandIn() {
		return 1
	}
	return longtest.Pick(1, 6)
}

func TestSharedPoolAgainstModel(t *testing.T) {
	n := longtest.Pick(400, 1500)
	for range sharedRounds() {
		data := modeltest.RandomBytes(t, n)
		for _, pages := range pageKinds {
			for _, step := range []int{0, 1, 100_000} {
				o := Options{Pages: pages, Step: step}
				playHandled(t, "SharedPool", o, data, numbered)
				playHandled(t, "SharedPool", o, data, numberedByte)
				playHandled(t, "SharedPool", o, data[:300], numberedLarge)
				playHandled(t, "SharedPool", o, data[:300], func(int) struct{} { return struct{}{} })
			}
		}
	}
}

type sharedArrayForTest[T any] struct{ *SharedArray[T] }

func (a sharedArrayForTest[T]) Append(v T) *T {
	_, p := a.SharedArray.Append(v)
	return p
}

func (a sharedArrayForTest[T]) AppendN(n int) ([]T, error) {
	_, added, err := a.AppendSlice(make([]T, n))
	return added[:len(added):len(added)], err
}

func playSharedArray[T comparable](t *testing.T, o Options, data []byte, element func(int) T) {
	o.Capacity = arrayCapacity
	a := newSharedArray[T](t, o)
	playAnyArray(t, sharedArrayForTest[T]{a}, nil, data, element)
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
}

func FuzzSharedArray(f *testing.F) {
	f.Add([]byte{0, 0, 1, 200, 2, 1, 1, 100, 3, 255, 255, 5, 9})
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, pages := range pageKinds {
			playSharedArray(t, Options{Pages: pages}, data, numbered)
		}
	})
}

func TestSharedArrayAgainstModel(t *testing.T) {
	for range sharedRounds() {
		data := modeltest.RandomBytes(t, 2000)
		for _, pages := range pageKinds {
			for _, step := range []int{0, 1, 100_000} {
				o := Options{Pages: pages, Step: step}
				playSharedArray(t, o, data, numbered)
				playSharedArray(t, o, data, numberedByte)
				playSharedArray(t, o, data[:300], numberedLarge)
			}
		}
	}
}
