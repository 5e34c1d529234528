package inspect

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

const (
	maxStreams    = 32
	maxTopics     = 16               // limit of the topics of one stream
	keepAliveTime = 15 * time.Second // longest time without a message
)

// topic is a value that streams send repeatedly. Requests ask for name or name:argument.
type topic struct {
	name  string
	every time.Duration // time between two values
	// make returns the value to send as JSON, or nil to send nothing.
	make func(ctx context.Context, argument string) (any, error)
}

func (in *Inspector) topics() []topic {
	return slices.Concat(
		in.entityTopics(),
		in.overviewTopics(),
		in.systemsTopics(),
	)
}

func (in *Inspector) streamRoutes() []route {
	return []route{{method: "GET", pattern: "stream", raw: in.serveStream, stream: true}}
}

// subscription is a topic of one stream.
type subscription struct {
	topic
	full, argument string    // full is name:argument, or name if there is no argument
	due            time.Time // time of the next value
}

// serveStream sends the requested topics as server-sent events. The name of an event is the topic with its
// argument. The data of an event is the topic's value as JSON, or {"error": …} if the topic fails. A browser
// that reads slowly gets fewer events. A browser that does not read is disconnected.
func (in *Inspector) serveStream(w http.ResponseWriter, r *http.Request) error {
	subscriptions, err := in.subscriptions(r.URL.Query()["topic"])
	if err != nil {
		return err
	}
	return in.serveTopics(w, r, subscriptions)
}

// serveTopics sends the topics until the client hangs up or does not read.
func (in *Inspector) serveTopics(w http.ResponseWriter, r *http.Request, subscriptions []subscription) error {
	select {
	case in.streams <- struct{}{}:
		defer func() { <-in.streams }()
	default:
		return &problem{Status: http.StatusTooManyRequests, Code: "streams", Retry: 5,
			Message: fmt.Sprintf("%d streams are already open: close some pages", maxStreams)}
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // keeps proxies from buffering events
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodHead {
		return nil
	}
	out := events{w, http.NewResponseController(w)}
	timer := time.NewTimer(0)
	defer timer.Stop()
	lastSent := time.Now()
	for {
		select {
		case <-r.Context().Done():
			return nil
		case <-timer.C:
		}
		next := lastSent.Add(keepAliveTime)
		for i := range subscriptions {
			s := &subscriptions[i]
			if now := time.Now(); !now.Before(s.due) {
				s.due = now.Add(s.every)
				sent, err := out.send(r.Context(), s)
				if err != nil {
					return nil // the browser is gone or does not read, or the value has no JSON
				}
				if sent {
					lastSent = time.Now()
				}
			}
			if s.due.Before(next) {
				next = s.due
			}
		}
		if time.Since(lastSent) >= keepAliveTime {
			if out.write([]byte(": \n\n")) != nil {
				return nil
			}
			lastSent = time.Now()
		}
		timer.Reset(max(time.Until(next), time.Millisecond))
	}
}

func (in *Inspector) subscriptions(names []string) ([]subscription, error) {
	if len(names) == 0 || len(names) > maxTopics {
		return nil, badRequest("a stream has 1 to %d topics: add ?topic=", maxTopics)
	}
	all := in.topics()
	var list []subscription
	for _, full := range names {
		name, argument, _ := strings.Cut(full, ":")
		i := slices.IndexFunc(all, func(t topic) bool { return t.name == name })
		switch {
		case i < 0:
			return nil, badRequest("there is no topic %.40q: use overview, costs, systems or entity:17.3",
				name)
		case strings.ContainsAny(full, "\r\n") || len(full) > 1024:
			return nil, badRequest("the topic %.40q… is longer than 1024 bytes or has a line break", full)
		}
		list = append(list, subscription{topic: all[i], full: full, argument: argument})
	}
	return list, nil
}

// events writes server-sent events.
type events struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

// send sends the value of a topic. sent is false if the topic has no value to send.
func (o events) send(ctx context.Context, s *subscription) (sent bool, err error) {
	v, err := s.make(ctx, s.argument)
	if err != nil {
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		v = struct {
			Error *problem `json:"error"`
		}{problemOf(err)}
	}
	if v == nil {
		return false, nil
	}
	data, err := json.Marshal(v)
	if err != nil {
		return false, err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "event: %s\ndata: %s\n\n", s.full, data)
	return true, o.write(b.Bytes())
}

func (o events) write(b []byte) error {
	extend(o.w)
	if _, err := o.w.Write(b); err != nil {
		return err
	}
	return o.control.Flush()
}
