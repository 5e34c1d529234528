// Package atwork reports whether a goroutine does the work of a world's owner. Such a goroutine must not wait
// for the owner, because it would wait for itself.
package atwork

import (
	"reflect"
	"runtime"
	"sync"
)

var busy struct {
	mu     sync.Mutex
	worlds []any           // the worlds whose owners are at work, once for each Enter
	marked map[string]bool // keys are names of functions
}

// Mark declares that a function, and everything that it calls, does the work of a world's owner. The function
// must not be inlined.
func Mark(f any) {
	busy.mu.Lock()
	defer busy.mu.Unlock()
	if busy.marked == nil {
		busy.marked = make(map[string]bool)
	}
	busy.marked[runtime.FuncForPC(reflect.ValueOf(f).Pointer()).Name()] = true
}

// Enter records that the owner of a world starts to work. The owner may work on any number of goroutines.
func Enter(world any) {
	busy.mu.Lock()
	busy.worlds = append(busy.worlds, world)
	busy.mu.Unlock()
}

// Leave undoes one Enter.
func Leave(world any) {
	busy.mu.Lock()
	defer busy.mu.Unlock()
	for i := len(busy.worlds) - 1; i >= 0; i-- {
		if busy.worlds[i] == world {
			last := len(busy.worlds) - 1
			busy.worlds[i], busy.worlds[last] = busy.worlds[last], nil
			busy.worlds = busy.worlds[:last]
			return
		}
	}
}

// Inside reports whether the calling goroutine certainly does the work of the world's owner. This is certain
// if the owner is at work, no owner of another world is at work, and a marked function is among the callers.
// If the owner of another world is at work, the marked function may do the work of that owner.
func Inside(world any) bool {
	busy.mu.Lock()
	defer busy.mu.Unlock()
	if len(busy.worlds) == 0 {
		return false
	}
	for _, other := range busy.worlds {
		if other != world {
			return false
		}
	}
	callers := make([]uintptr, 64)
	n := runtime.Callers(2, callers)
	for n == len(callers) {
		callers = make([]uintptr, 2*n)
		n = runtime.Callers(2, callers)
	}
	for frames := runtime.CallersFrames(callers[:n]); ; {
		frame, more := frames.Next()
		if busy.marked[frame.Function] {
			return true
		}
		if !more {
			return false
		}
	}
}
