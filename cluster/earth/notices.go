package main

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// notices are the errors that the cluster reports, such as refused messages, a server that does not answer,
// or regions that have stopped. While the terminal shows the map of the Earth, the map shows the latest
// error. Otherwise each error is a line on standard error.
type notices struct {
	mu   sync.Mutex
	out  io.Writer // nil while the terminal shows the map
	last string    // the latest error
	when time.Time // time of the latest error
}

// add notes an error, and prints the error if out is not nil. Any goroutine may call add.
func (n *notices) add(err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.last, n.when = err.Error(), time.Now()
	if n.out != nil {
		fmt.Fprintf(n.out, "# %s\n", n.last)
	}
}

// show stops the printing of notices, because the map shows them. end starts the printing again.
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

// latest returns the latest error, or "" if it is older than ten seconds.
func (n *notices) latest() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if time.Since(n.when) > 10*time.Second {
		return ""
	}
	return n.last
}
