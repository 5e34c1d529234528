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

// In the pause of a checkpoint, the world stands still. To make the pause short, the store copies large
// arrays after the pause: between ticks, and while systems write other columns. These arrays are called
// late.
//
// Before a system runs, the store calls late.need for the columns in its Writes. Before inputs or commands
// are applied, the store calls late.all. Both methods help with the copy, and return when the arrays are
// copied.
//
// Other writes would spoil the copy. So the kernel guards the memory of a late array: it reports whether the
// memory was written before the copy was complete. If the memory was written, the checkpoint fails, and the
// next checkpoints copy the column in the pause. If the kernel cannot guard memory, no array is late.

// late holds the late arrays of a checkpoint. Its methods may be called from any goroutine.
type late struct {
	stage  *stage
	arrays []*lateArray // in the order in which they are copied
	asked  atomic.Int64 // number of requests of systems for arrays so far
	waits  waits        // times for which goroutines wait for the copy
	ended  atomic.Bool  // whether all arrays are copied
}

type lateArray struct {
	array  *state.Array
	name   string        // name of the column
	lo, hi int           // range of the array's pieces in stage.work
	next   atomic.Int64  // number of pieces whose copy has begun
	left   atomic.Int64  // number of pieces that are not copied yet
	asked  atomic.Int64  // number of the first request for the array, from 1 on; 0 without a request
	torn   atomic.Bool   // whether the copy is spoilt
	done   chan struct{} // closed when the copy is complete and the array is no longer guarded
}

// If the late copy of a column is spoilt, the next eagerFor checkpoints copy the column in the pause.
const eagerFor = 64

// minLate is the least size, in bytes, of an array that is copied after the pause.
var minLate = 256 << 10

// postpone makes an array late if that is possible, and reports whether the array is late. s.work[first:] are
// the pieces of the array. Only the goroutine that owns the world calls postpone.
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

// help copies pieces of an array until the copy of each piece has begun. When help returns, other goroutines
// may still be copying pieces. After each piece, help yields the processor.
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

// copy copies a piece. If the program has closed the world or given the memory back, the copy is spoilt.
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

// finish copies all arrays that are not copied yet, on all processors. It returns an error if a copy is
// spoilt.
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
		if n := a.asked.Load(); n > 0 { // without a request, the column keeps its last number
			s.urgent[a.name] = n
		}
	}
	l.ended.Store(true)
	if torn == nil {
		return nil
	}
	slices.Sort(torn)
	return fmt.Errorf("column %s was written, or gave memory back, during its copy: name the column in the "+
		"Writes of each system that writes it, and make changes between ticks only in inputs; the next %d "+
		"checkpoints copy the column while the world stands still", strings.Join(slices.Compact(torn), ", "),
		eagerFor)
}

func (l *late) help() {
	for _, a := range l.arrays {
		a.help(l.stage)
	}
}

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

// waits sums the times for which goroutines have waited. It also counts waits that have not ended: a waiting
// goroutine may run again, and note the end of its wait, long after the copy is complete.
type waits struct {
	mu     sync.Mutex
	over   time.Duration // sum of the waits that have ended
	now    int           // number of goroutines that wait
	begins time.Duration // sum of the times at which these goroutines began to wait
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

// sum returns the sum of all waits up to the time at.
func (w *waits) sum(at time.Duration) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.over + time.Duration(w.now)*at - w.begins
}
