package shell

import (
	"context"
	"fmt"
	"io"
)

// runScript runs all statements of in, up to the first that fails. showLine adds line numbers to messages.
func (s *session) runScript(ctx context.Context, in io.Reader, showLine bool) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var pending splitter
	input := chunks(ctx, in)
	for {
		var c chunk
		select {
		case c = <-input:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if c.err != nil && c.err != io.EOF {
			return fmt.Errorf("the statements cannot be read: %w", c.err)
		}
		pending.add(c.text)
		for {
			st, ok := pending.next()
			if !ok && c.err == io.EOF {
				st, ok = pending.rest()
			}
			if !ok {
				break
			}
			if _, err := s.run(ctx, st, showLine); err != nil {
				return err
			}
		}
		if len(pending.text) > maxStatement {
			return fmt.Errorf("line %d: the statement is longer than %d MiB: end it with a semicolon",
				pending.lines+1, maxStatement>>20)
		}
		if c.err == io.EOF {
			return nil
		}
	}
}

// chunk is a piece of an input. Only the last chunk has an error: io.EOF or another.
type chunk struct {
	text []byte
	err  error
}

// chunks sends the chunks of in until in or ctx ends. A read cannot be cancelled, so the goroutine of chunks
// may still wait for a read after ctx has ended.
func chunks(ctx context.Context, in io.Reader) <-chan chunk {
	input := make(chan chunk)
	go func() {
		for {
			b := make([]byte, 32<<10)
			n, err := in.Read(b)
			select {
			case input <- chunk{b[:n], err}:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return input
}
