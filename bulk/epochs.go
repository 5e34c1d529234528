package bulk

import (
	"slices"
	"sync"
	"sync/atomic"
)

// epochs tells when nobody can look any more at what was taken out of sight.
//
// The method is epoch-based reclamation: Keir Fraser, "Practical lock-freedom" (2004), chapter 5.2.3. Who looks says so
// and notes the epoch in which it began. The epoch advances when everybody who is looking began in the current one. What
// goes out of sight in epoch e can be seen only by those who began in e or before; when the epoch is e+2, all of these
// have stopped.
//
// It was chosen over hazard pointers (Michael, 2004), where a reader announces each object that it looks at with a store
// that the processor must finish before going on: here that price is paid once for any number of objects. The other side
// is that one reader who stays inside holds up all that is to be freed; so what waits is bounded by the container, and
// its error says how much waits.
type epochs struct {
	now atomic.Uint64
	_   [56]byte // readers look at now; those who join and part do not disturb them

	mu  sync.Mutex
	all atomic.Pointer[[]*presence] // of everybody who joined; replaced as a whole
}

// presence says whether one goroutine looks, and since which epoch. It lies on the Go heap and alone on its cache line.
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

func (e *epochs) part(p *presence) {
	e.mu.Lock()
	defer e.mu.Unlock()
	all := slices.DeleteFunc(slices.Clone(*e.all.Load()), func(q *presence) bool { return q == p })
	e.all.Store(&all)
}

// enter says that p's goroutine looks from now on. Should the epoch advance between the load and the store, p has an
// epoch that is past, and holds up the next advance: that is safe.
func (e *epochs) enter(p *presence) { p.state.Store(e.now.Load()<<1 | 1) }

// exit says that p's goroutine has stopped looking.
func (p *presence) exit() { p.state.Store(0) }

// advance moves the epoch on by one, unless somebody inside began in an earlier one. The epoch is loaded before the list
// of those who joined: who joined and entered before the epoch became what it is stands in that list.
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

// unseen reports whether what went out of sight in the epoch since can be seen by nobody.
func (e *epochs) unseen(since uint64) bool { return since+2 <= e.now.Load() }

// inside returns how many look at the moment.
func (e *epochs) inside() (n int) {
	if all := e.all.Load(); all != nil {
		for _, p := range *all {
			n += int(p.state.Load() & 1)
		}
	}
	return n
}
