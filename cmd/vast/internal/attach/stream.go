package attach

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/url"
	"time"
)

// silence is the time without data after which a stream counts as lost. For example, the program's machine
// may have lost its power.
const silence = 30 * time.Second

// maxEvent is the largest number of bytes of an event's data, and of a line of the stream.
const maxEvent = 4 << 20

var errSilent = fmt.Errorf("the program has sent nothing for %v", silence)

// Stream calls handle for each event of the given topics, but not for events without data. It returns when
// the stream ends, when the stream is lost (see silence), when an event is too long (see maxEvent), when
// handle returns an error, or when ctx is done. Its error is never nil. handle must not keep data after the
// call.
func (p *Program) Stream(ctx context.Context, topics []string,
	handle func(topic string, data []byte) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	body, err := p.Open(ctx, "stream", url.Values{"topic": topics})
	if err != nil {
		return err
	}
	defer body.Close()
	watch := time.AfterFunc(silence, func() { cancel(errSilent) })
	defer watch.Stop()
	err = readEvents(body, func() { watch.Reset(silence) }, handle)
	if context.Cause(ctx) == errSilent {
		err = errSilent
	}
	return err
}

// readEvents reads server-sent events. A line has the name of a field, a colon and the value of the field. A
// blank line ends an event. readEvents calls heard for each line, and handle for each event with data.
// Source: the section "Server-sent events" of the HTML standard.
func readEvents(from io.Reader, heard func(), handle func(topic string, data []byte) error) error {
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, maxEvent)
	topic := ""
	var data []byte
	for lines.Scan() {
		heard()
		name, value, _ := bytes.Cut(lines.Bytes(), []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch {
		case len(lines.Bytes()) == 0:
			if len(data) > 0 {
				if err := handle(topic, data); err != nil {
					return err
				}
			}
			topic, data = "", data[:0]
		case string(name) == "event":
			topic = string(value)
		case string(name) == "data":
			if len(data) > 0 {
				data = append(data, '\n')
			}
			if data = append(data, value...); len(data) > maxEvent {
				return fmt.Errorf("an event has more than %d bytes", maxEvent)
			}
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	return io.ErrUnexpectedEOF
}
