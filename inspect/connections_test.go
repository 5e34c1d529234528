package inspect

import (
	"net"
	"net/http"
	"testing"
)

func TestConnectionsDropTheLongestWaiting(t *testing.T) {
	c := newConnections(3)
	conns := make([]net.Conn, 6)
	for i := range conns {
		conns[i], _ = net.Pipe()
	}
	enter := func(i int, state http.ConnState, dropped int) {
		t.Helper()
		drop := c.enter(conns[i], state)
		switch {
		case dropped < 0 && drop != nil:
			t.Fatalf("connection %d enters %v: a connection is dropped, want none", i, state)
		case dropped >= 0 && drop != conns[dropped]:
			t.Fatalf("connection %d enters %v: want connection %d dropped", i, state, dropped)
		}
	}
	const none = -1
	enter(0, http.StateNew, none)
	enter(1, http.StateNew, none)
	enter(2, http.StateNew, none)
	enter(0, http.StateActive, none)
	enter(3, http.StateNew, 1) // connection 0 has a request
	enter(1, http.StateClosed, none)
	enter(2, http.StateActive, none)
	enter(2, http.StateIdle, none) // connection 2 begins to wait after connection 3
	enter(4, http.StateNew, 3)
	enter(3, http.StateActive, none) // connection 3 was dropped: the state has no effect
	enter(2, http.StateActive, none)
	enter(4, http.StateActive, none)
	enter(5, http.StateNew, 5) // only connection 5 is waiting
	enter(0, http.StateClosed, none)
	enter(1, http.StateNew, none)
	if len(c.open) != 3 || c.waiting.Len() != 1 {
		t.Errorf("%d open, %d waiting; want 3 and 1", len(c.open), c.waiting.Len())
	}
}

func TestDroppedConnectionIsClosed(t *testing.T) {
	c := newConnections(0)
	server, client := net.Pipe()
	c.note(server, http.StateNew)
	if _, err := client.Write([]byte{1}); err == nil {
		t.Error("the dropped connection is open")
	}
}
