package store

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vastgo/vast/internal/clock"
	"github.com/vastgo/vast/internal/state"
)

// Only systems that name a column in their Writes, and changes of the structure, write the largest arrays of
// a world. So most of a copy need not be made in the pause, while the world stands still. This part of the
// copy is called late: it is made between ticks, and while systems write other columns. Before code writes,
// it must call the method need or all. These methods help with the copy, and return when the needed part of
// the copy is complete.
//
// Code that writes without such a call would spoil the copy. So the memory is guarded: the kernel reports
// whether the memory was written before the copy was complete. If the memory was written, the checkpoint
// fails, and the next checkpoints copy the column in the pause. If the kernel cannot guard memory, nothing is
// late.

// late is the part of a copy that is made after the pause. The goroutine that owns the world calls postpone.
// The methods of late may be called from any goroutine.
type late struct {
	stage  *stage
	arrays []*lateArray // in the order in which they are copied
	asked  atomic.Int64 // number of requests by systems so far
	waits  waits        // how long other goroutines wait for the copy
	ended  atomic.Bool  // no array is left
}

// lateArray is an array that is copied after the pause.
type lateArray struct {
	array  *state.Array
	name   string        // of the column
	lo, hi int           // its pieces are stage.work[lo:hi]
	next   atomic.Int64  // number of pieces whose copy has begun
	left   atomic.Int64  // number of pieces that are not copied yet
	asked  atomic.Int64  // number of the first request for the array, from 1; 0 if there was none
	torn   atomic.Bool   // the memory was written before the copy was complete
	done   chan struct{} // closed when the copy is complete and the array is no longer guarded
}

// eagerFor is the number of checkpoints that copy a column in the pause, after a late copy of the column was
// spoilt.
const eagerFor = 64

// minLate is the least size, in bytes, of an array that is copied after the pause.
var minLate = 256 << 10

// postpone makes an array late if that is possible, and reports whether the array is late. s.work[first:] are
// the comparisons of the array.
func (s *stage) postpone(p *picture, a *state.Array, known *knownArray, first int) bool {
	switch a.Kind {
	case state.Elements, state.Links, state.PoolElements:
	default:
		return false
	}
	n := a.Len * int(a.Type.Size())
	if a.Container != 0 || a.Column < 0 || a.Kept == nil || n < minLate || s.pages == nil {
		return false
	}
	name := p.state.Columns[a.Column].Name
	if s.eager[name] > 0 || !s.pages.guard(a.Base, n) {
		return false
	}
	// Elements may die and be born after the pause, so note now which elements belong to the state.
	known.now = resize(known.now, (a.Len+63)/64)
	masks := known.now
	a.Masks(masks)
	a.Kept = func(group int) uint64 { return masks[group] }
	if s.late == nil {
		s.late = &late{stage: s}
	}
	one := &lateArray{array: a, name: name, lo: first, hi: len(s.work), done: make(chan struct{})}
	for i := first; i < one.hi; i++ {
		s.work[i].late = true
	}
	one.left.Store(int64(one.hi - one.lo))
	s.late.arrays = append(s.late.arrays, one)
	return true
}

// help copies pieces of an array until each piece is copied, or is being copied by another goroutine. Between
// two pieces, help yields the processor.
func (a *lateArray) help(s *stage) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	for {
		i := a.lo + int(a.next.Add(1)) - 1
		if i >= a.hi {
			return
		}
		a.copy(s, &s.work[i])
		if a.left.Add(-1) == 0 {
			if !s.pages.release(a.array.Base, a.array.Len*int(a.array.Type.Size())) {
				a.torn.Store(true)
			}
			close(a.done)
		}
		runtime.Gosched()
	}
}

// copy copies a piece. If the memory is gone, because the program has closed the world or given memory back,
// the copy is spoilt.
func (a *lateArray) copy(s *stage, c *comparison) {
	defer func() {
		switch v := recover().(type) {
		case nil:
		case interface {
			error
			Addr() uintptr
		}:
			a.torn.Store(true)
		default:
			panic(v)
		}
	}()
	c.copy(s)
}

// finish copies all arrays that are not copied yet, on as many goroutines as there are processors.
func (l *late) finish() error {
	var group sync.WaitGroup
	for range runtime.GOMAXPROCS(0) - 1 {
		group.Go(l.help)
	}
	l.help()
	group.Wait()
	var torn []string
	s := l.stage
	for _, a := range l.arrays {
		<-a.done
		if a.torn.Load() {
			s.eager[a.name] = eagerFor
			torn = append(torn, a.name)
		}
		if n := a.asked.Load(); n > 0 { // without a request, the column keeps its rank
			s.urgent[a.name] = n
		}
	}
	l.ended.Store(true)
	if torn == nil {
		return nil
	}
	slices.Sort(torn)
	return fmt.Errorf("column %s was written while it was being copied, between ticks or by a system that "+
		"does not name the column in its Writes: name the column there, and make all other changes in "+
		"inputs; for some time, checkpoints copy the column while the world stands still",
		strings.Join(slices.Compact(torn), ", "))
}

func (l *late) help() {
	for _, a := range l.arrays {
		a.help(l.stage)
	}
}

// need returns when the arrays of the given columns are copied.
func (l *late) need(columns []int) {
	if l.ended.Load() {
		return
	}
	l.wait(func(a *lateArray) bool {
		if !slices.Contains(columns, a.array.Column) {
			return false
		}
		a.asked.CompareAndSwap(0, l.asked.Add(1))
		return true
	})
}

// all returns when all arrays are copied.
func (l *late) all() {
	if !l.ended.Load() {
		l.wait(func(*lateArray) bool { return true })
	}
}

// wait helps with the copy, and returns when all arrays for which selected returns true are copied.
func (l *late) wait(selected func(*lateArray) bool) {
	began, waited, ended := clock.Now(), false, true
	for _, a := range l.arrays {
		asked := selected(a)
		select {
		case <-a.done:
			continue
		default:
		}
		if !asked {
			ended = false
			continue
		}
		if !waited {
			waited = true
			l.waits.begin(began)
		}
		a.help(l.stage)
		<-a.done
	}
	if ended {
		l.ended.Store(true)
	}
	if waited {
		l.waits.end(began, clock.Now())
	}
}

// waits adds up how long goroutines have waited. A wait also counts before it is over, because the waiting
// goroutine may run again long after the copy is complete.
type waits struct {
	mu     sync.Mutex
	over   time.Duration // the sum of the waits that are over
	now    int           // how many goroutines wait
	begins time.Duration // the sum of the times at which these goroutines began to wait
}

func (w *waits) begin(at time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now++
	w.begins += at
}

func (w *waits) end(began, at time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now--
	w.begins -= began
	w.over += at - began
}

// sum returns the sum of all waits up to a time.
func (w *waits) sum(at time.Duration) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.over + time.Duration(w.now)*at - w.begins
}
