package guard

import (
	"fmt"
	"iter"
	"runtime"
	"strings"
)

// Stack is a call stack, innermost call first, in the format of [runtime.Callers].
type Stack []uintptr

// calls is the call stack recorded with a block. Unused entries are zero.
type calls [16]uintptr

// record records the call stack from the caller's caller outwards.
func (c *calls) record() {
	n := runtime.Callers(3, c[:])
	clear(c[n:])
}

// stack returns the recorded calls, or nil.
func (c *calls) stack() Stack {
	n := 0
	for n < len(c) && c[n] != 0 {
		n++
	}
	if n == 0 {
		return nil
	}
	return append(Stack(nil), c[:n]...)
}

// here returns the call stack from the caller's caller outwards.
func here() Stack {
	var c [32]uintptr
	return append(Stack(nil), c[:runtime.Callers(3, c[:])]...)
}

// Frames yields the program's calls, innermost first. It skips calls of functions of this package, of
// packages vm and heap, and of Go's runtime.
func (s Stack) Frames() iter.Seq[runtime.Frame] {
	return func(yield func(runtime.Frame) bool) {
		if len(s) == 0 {
			return
		}
		frames := runtime.CallersFrames(s)
		for {
			f, more := frames.Next()
			if f.File != "" && !internal(f.Function) && !yield(f) {
				return
			}
			if !more {
				return
			}
		}
	}
}

func internal(function string) bool {
	for _, prefix := range []string{"runtime.", "github.com/vastgo/vast/guard.", "github.com/vastgo/vast/vm.",
		"github.com/vastgo/vast/heap."} {
		if strings.HasPrefix(function, prefix) {
			return true
		}
	}
	return false
}

// String returns a line for each call that [Stack.Frames] yields.
func (s Stack) String() string {
	var b strings.Builder
	for f := range s.Frames() {
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%s %s:%d", f.Function, f.File, f.Line)
	}
	return b.String()
}
