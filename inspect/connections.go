package inspect

import (
	"container/list"
	"net"
	"net/http"
	"sync"
)

// connections bounds how many are open. A newcomer that is one too many takes the place of the one that has waited longest
// without a whole request: so those who open many, or send theirs a byte at a time, keep nobody else out.
type connections struct {
	most int

	mu      sync.Mutex
	open    map[net.Conn]*list.Element // its place in waiting; nil while it is being answered
	waiting list.List                  // of net.Conn, the longest first
}

func newConnections(most int) *connections {
	return &connections{most: most, open: make(map[net.Conn]*list.Element)}
}

// note is told of each state that a connection enters, as http.Server.ConnState.
func (c *connections) note(conn net.Conn, state http.ConnState) {
	if drop := c.enter(conn, state); drop != nil {
		_ = drop.Close() // its goroutine ends with the error that it then reads
	}
}

// enter returns a connection that is to be closed, or nil.
func (c *connections) enter(conn net.Conn, state http.ConnState) (drop net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	place, known := c.open[conn]
	if !known && state != http.StateNew {
		return nil // dropped already
	}
	if place != nil {
		c.waiting.Remove(place)
	}
	switch state {
	case http.StateNew, http.StateIdle:
		c.open[conn] = c.waiting.PushBack(conn)
	case http.StateActive:
		c.open[conn] = nil
	default:
		delete(c.open, conn)
	}
	if len(c.open) <= c.most {
		return nil
	}
	// There is one: the newcomer waits too.
	drop = c.waiting.Remove(c.waiting.Front()).(net.Conn)
	delete(c.open, drop)
	return drop
}
