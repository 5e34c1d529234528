package postgres

import (
	"context"
	"net"
	"sync"
	"time"
)

// closingMax is the time that a client has to accept the last message when the server closes.
const closingMax = time.Second

// A connection is a network connection of a client. Writes have a deadline. After readAhead, a goroutine
// reads what the client sends, so that the end of the connection cancels the client's statement.
type connection struct {
	net.Conn
	chunks chan []byte // nil before readAhead
	rest   []byte
	err    error // set before chunks is closed

	mutex   sync.Mutex
	closing bool
}

// readAheadChunks is the number of chunks that a client may send ahead.
const (
	readAheadChunks = 8
	chunkBytes      = 8 << 10
)

// readAhead starts to read. It calls gone after the last byte. The goroutine ends when the connection closes
// or when ctx ends.
func (c *connection) readAhead(ctx context.Context, running *sync.WaitGroup, gone func(error)) {
	c.chunks = make(chan []byte, readAheadChunks)
	running.Go(func() {
		defer close(c.chunks)
		for {
			chunk := make([]byte, chunkBytes)
			n, err := c.Conn.Read(chunk)
			if n > 0 {
				select {
				case c.chunks <- chunk[:n]:
				case <-ctx.Done():
					c.err = context.Cause(ctx)
					return
				}
			}
			if err != nil {
				c.err = err
				gone(err)
				return
			}
		}
	})
}

// Read returns what the client sent.
func (c *connection) Read(b []byte) (int, error) {
	if c.chunks == nil {
		return c.Conn.Read(b)
	}
	if len(c.rest) == 0 {
		chunk, ok := <-c.chunks
		if !ok {
			return 0, c.err
		}
		c.rest = chunk
	}
	n := copy(b, c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

// Write sends b. A client that does not read has writeMax.
func (c *connection) Write(b []byte) (int, error) {
	c.mutex.Lock()
	if !c.closing {
		c.Conn.SetWriteDeadline(time.Now().Add(writeMax))
	}
	c.mutex.Unlock()
	return c.Conn.Write(b)
}

// interrupt wakes reads and leaves writes little time.
func (c *connection) interrupt() {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.closing = true
	c.Conn.SetWriteDeadline(time.Now().Add(closingMax))
	c.Conn.SetReadDeadline(time.Unix(1, 0))
}
