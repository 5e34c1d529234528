package main

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// notices are what the cluster reports: refused messages, a server that does not answer, regions that have
// stopped. They are lines on standard error, or on the screen while there is a map.
type notices struct {
	mu   sync.Mutex
	out  io.Writer // nil while there is a map
	last string
	when time.Time
}

// add notes an error, and prints it unless there is a map. It may be called from any goroutine.
func (n *notices) add(err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.last, n.when = err.Error(), time.Now()
	if n.out != nil {
		fmt.Fprintf(n.out, "# %s\n", n.last)
	}
}

// show keeps notices for the screen. It returns a function after which notices are written to out again.
func (n *notices) show() (end func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	out := n.out
	n.out = nil
	return func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.out = out
	}
}

// latest returns the last error of the last ten seconds, or "".
func (n *notices) latest() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if time.Since(n.when) > 10*time.Second {
		return ""
	}
	return n.last
}
