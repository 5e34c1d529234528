package inspect

import (
	"container/list"
	"net"
	"net/http"
	"sync"
)

// connections bounds the number of open connections. If a new connection exceeds the bound, the server closes
// the connection that has waited longest for the header of a request. A client that opens many connections,
// or sends its headers a byte at a time, therefore does not lock out other clients.
type connections struct {
	limit int

	mu      sync.Mutex
	open    map[net.Conn]*list.Element // the connection's element in c.waiting; nil during a request
	waiting list.List                  // net.Conns that wait for a header, the longest wait first
}

func newConnections(limit int) *connections {
	return &connections{limit: limit, open: make(map[net.Conn]*list.Element)}
}

// note records a change of a connection's state. It is the value of http.Server.ConnState.
func (c *connections) note(conn net.Conn, state http.ConnState) {
	if drop := c.enter(conn, state); drop != nil {
		_ = drop.Close() // the read error ends the connection's goroutine
	}
}

// enter records a connection's state. It returns a connection to close, or nil.
func (c *connections) enter(conn net.Conn, state http.ConnState) (drop net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	place, known := c.open[conn]
	if !known && state != http.StateNew {
		return nil // already dropped
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
	if len(c.open) <= c.limit {
		return nil
	}
	// The list c.waiting is not empty: it holds at least the new connection.
	drop = c.waiting.Remove(c.waiting.Front()).(net.Conn)
	delete(c.open, drop)
	return drop
}
