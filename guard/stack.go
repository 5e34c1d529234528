package guard

import (
	"fmt"
	"iter"
	"runtime"
	"strings"
)

// Stack is where something happened: the calls that led there, innermost first, as [runtime.Callers] gives them.
type Stack []uintptr

// calls is what is kept of a stack for each block.
type calls [16]uintptr

// record takes the stack of the caller's caller.
func (c *calls) record() {
	n := runtime.Callers(3, c[:])
	clear(c[n:])
}

// stack returns the recorded calls, nil where there are none.
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

// here returns the stack of the caller's caller.
func here() Stack {
	var c [32]uintptr
	return append(Stack(nil), c[:runtime.Callers(3, c[:])]...)
}

// Frames yields the calls of the program, innermost first, without those of this package, of packages vm and heap, and of Go's runtime.
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

// internal reports whether a function is of this package (but not of its external tests), of those that call it for a
// report or for a block, or of Go's runtime.
func internal(function string) bool {
	for _, prefix := range []string{"runtime.", "github.com/vastgo/vast/guard.", "github.com/vastgo/vast/vm.",
		"github.com/vastgo/vast/heap."} {
		if strings.HasPrefix(function, prefix) {
			return true
		}
	}
	return false
}

// String returns a line for each call of the program.
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
