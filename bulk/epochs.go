package bulk

import (
	"slices"
	"sync"
	"sync/atomic"
)

// epochs determines when no reader can access a removed value any more.
//
// The method is epoch-based reclamation: Keir Fraser, "Practical lock-freedom" (2004), chapter 5.2.3. A
// reader that enters announces the current epoch. The epoch advances when all readers that are inside have
// announced the current epoch. A reader that can access a value removed in epoch e has announced epoch e or
// an earlier epoch. The epoch advances from e+1 to e+2 only after all these readers have left.
//
// The alternative is hazard pointers (Michael, 2004): a reader announces each object before reading it, by a
// store with a memory barrier. With epochs a reader needs one barrier for any number of objects. The drawback
// of epochs: one reader that stays inside delays all freeing. Therefore [SharedTable] bounds the number of
// values that wait to be freed, and its error gives the number of readers and writers that are inside.
type epochs struct {
	now atomic.Uint64
	_   [56]byte // keeps mu and all out of the cache line of now, which readers load

	mu  sync.Mutex
	all atomic.Pointer[[]*presence] // the joined goroutines; each change replaces the slice
}

// presence says whether one goroutine is inside, and since which epoch. It lies on the Go heap, alone on its
// cache line.
type presence struct {
	_     [64]byte
	state atomic.Uint64 // 0 outside; epoch<<1 | 1 inside
	_     [56]byte
}

func (e *epochs) join() *presence {
	p := &presence{}
	e.mu.Lock()
	defer e.mu.Unlock()
	var all []*presence
	if old := e.all.Load(); old != nil {
		all = *old
	}
	all = append(slices.Clip(all), p)
	e.all.Store(&all)
	return p
}

// part undoes join.
func (e *epochs) part(p *presence) {
	e.mu.Lock()
	defer e.mu.Unlock()
	all := slices.DeleteFunc(slices.Clone(*e.all.Load()), func(q *presence) bool { return q == p })
	e.all.Store(&all)
}

// enter announces that p's goroutine is inside. If the epoch advances between the load and the store, p
// announces a past epoch, which safely delays the next advance.
func (e *epochs) enter(p *presence) { p.state.Store(e.now.Load()<<1 | 1) }

func (p *presence) exit() { p.state.Store(0) }

// advance increments the epoch if all goroutines that are inside have announced the current epoch. It loads
// the epoch before the list of joined goroutines, so that the list has all goroutines with earlier epochs.
func (e *epochs) advance() {
	now := e.now.Load()
	if all := e.all.Load(); all != nil {
		for _, p := range *all {
			if s := p.state.Load(); s&1 == 1 && s>>1 != now {
				return
			}
		}
	}
	e.now.CompareAndSwap(now, now+1)
}

// unseen reports whether all goroutines that could access a value removed in the given epoch have left.
func (e *epochs) unseen(epoch uint64) bool { return epoch+2 <= e.now.Load() }

func (e *epochs) inside() (n int) {
	if all := e.all.Load(); all != nil {
		for _, p := range *all {
			n += int(p.state.Load() & 1)
		}
	}
	return n
}
