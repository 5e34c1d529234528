package vm

import (
	"fmt"
	"os"
	"runtime"
	"sync/atomic"

	"github.com/vastgo/vast/internal/invariants"
)

// Leak describes a region that was dropped without Close. The region keeps its memory, because pointers into
// the memory may still be in use.
type Leak struct {
	Purpose   string
	Reserved  int    // bytes
	Committed int    // bytes
	Made      string // file:line of the calls that led to Reserve or ReserveMirror, innermost first
}

var onLeak atomic.Pointer[func(Leak)]

// OnLeak sets the callback for leaked regions. A goroutine of the runtime calls f, so f must not block. With
// nil, the default, builds with the tag invariants write leaks to standard error. Leaks are always counted:
// see [PurposeStats].
func OnLeak(f func(Leak)) {
	if f == nil {
		onLeak.Store(nil)
		return
	}
	onLeak.Store(&f)
}

// origin is the call stack of a Reserve, ReserveMirror, Close or Decommit.
type origin [8]uintptr

func (o *origin) record() { o.recordAbove(1) }

// recordAbove records the call stack without recordAbove, its caller, and the next skip callers.
func (o *origin) recordAbove(skip int) { runtime.Callers(3+skip, o[:]) }

func (o *origin) String() string {
	n := 0
	for n < len(o) && o[n] != 0 {
		n++
	}
	s := ""
	frames := runtime.CallersFrames(o[:n])
	for {
		f, more := frames.Next()
		if f.File != "" {
			if s != "" {
				s += " < "
			}
			s += fmt.Sprintf("%s:%d", f.File, f.Line)
		}
		if !more {
			return s
		}
	}
}

// leaked is the cleanup function of a Region. It reports a region that was not closed. It does not free the
// memory, because pointers into the memory may still be in use and do not keep the Region alive.
func leaked(m *mapping) {
	m.mu.Lock()
	closed, committed := m.closed, m.committed.bytes
	m.mu.Unlock()
	if closed {
		return
	}
	m.counted.leaked.Add(int64(m.size))
	l := Leak{Purpose: m.counted.purpose, Reserved: m.size, Committed: committed, Made: m.made.String()}
	if f := onLeak.Load(); f != nil {
		(*f)(l)
		return
	}
	if invariants.Enabled {
		fmt.Fprintf(os.Stderr, "vm: a region of %s (%s) was dropped without Close; made at %s\n",
			Bytes(l.Reserved), l.Purpose, l.Made)
	}
}
