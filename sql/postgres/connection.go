package postgres

import (
	"context"
	"net"
	"sync"
	"time"
)

// maxClosingTime limits how long a closing server waits for a client to accept the last message.
const maxClosingTime = time.Second

// A connection is a network connection of a client. Writes have a deadline. After readAhead, a goroutine
// reads what the client sends, so that the end of the connection cancels the client's statement.
type connection struct {
	net.Conn
	chunks chan []byte // nil before readAhead
	rest   []byte      // of the last chunk
	err    error       // set before chunks is closed

	mutex   sync.Mutex
	closing bool // after interrupt
}

// The channel of chunks holds up to readAheadChunks chunks of up to chunkBytes.
const (
	readAheadChunks = 8
	chunkBytes      = 8 << 10
)

// readAhead starts the goroutine that reads. After an error of Read, for example the end of the connection,
// the goroutine calls gone and ends. It also ends if ctx ends while the channel of chunks is full.
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

// Write sends b. The client must accept b within maxWriteTime, or sooner after interrupt.
func (c *connection) Write(b []byte) (int, error) {
	c.mutex.Lock()
	if !c.closing {
		c.Conn.SetWriteDeadline(time.Now().Add(maxWriteTime))
	}
	c.mutex.Unlock()
	return c.Conn.Write(b)
}

// interrupt ends reads with an error, and leaves writes only maxClosingTime.
func (c *connection) interrupt() {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.closing = true
	c.Conn.SetWriteDeadline(time.Now().Add(maxClosingTime))
	c.Conn.SetReadDeadline(time.Unix(1, 0))
}
