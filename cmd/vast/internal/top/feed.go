package top

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/vastgo/vast/cmd/vast/internal/attach"
	"github.com/vastgo/vast/cmd/vast/internal/tty"
	"github.com/vastgo/vast/inspect"
)

// maxAnswer is the largest accepted size of an answer, in bytes.
const maxAnswer = 16 << 20

// Each failed attempt to attach again doubles the wait, from firstWait to maxWait.
const (
	firstWait = time.Second / 2
	maxWait   = 5 * time.Second
)

// feed follows a program and sends updates.
type feed struct {
	program *attach.Program
	updates chan update
	wait    func(d time.Duration) <-chan time.Time // time.After, except in tests
}

// update is a message of a feed. Exactly one field is not nil.
type update struct {
	sample   *inspect.Sample
	costs    *inspect.Costs
	attached *overview // the first data of a new connection
	lost     error     // why the connection was lost
}

// overview is the inspector's JSON answer to the request "overview".
type overview struct {
	Now     inspect.Sample   `json:"now"`
	History []inspect.Sample `json:"history"`
}

// world is a part of the inspector's JSON answer to the request "world".
type world struct {
	Name string `json:"name"`
}

func newFeed(p *attach.Program) *feed {
	return &feed{program: p, updates: make(chan update), wait: time.After}
}

// begin requests all data once. It runs before the screen opens, because the screen would hide an error.
func (f *feed) begin(ctx context.Context, s *state) error {
	o, err := f.overview(ctx)
	if err != nil {
		return err
	}
	var costs inspect.Costs
	if err := f.program.Get(ctx, "costs", nil, maxAnswer, &costs); err != nil {
		return err
	}
	// If the program hangs, the request "world" fails, and s.world stays empty.
	var w world
	if err := f.program.Get(ctx, "world", nil, maxAnswer, &w); err == nil {
		s.world = tty.Clean(w.Name)
	}
	s.apply(update{attached: o})
	s.apply(update{costs: &costs})
	return nil
}

func (f *feed) overview(ctx context.Context) (*overview, error) {
	o := new(overview)
	return o, f.program.Get(ctx, "overview", nil, maxAnswer, o)
}

// follow sends updates until ctx ends. If the stream breaks, follow fetches the history and opens the stream
// again.
func (f *feed) follow(ctx context.Context) {
	wait := firstWait
	for {
		err := f.program.Stream(ctx, []string{"overview", "costs"}, func(topic string, data []byte) error {
			wait = firstWait
			return f.forward(ctx, topic, data)
		})
		for err != nil {
			if !f.send(ctx, update{lost: err}) {
				return
			}
			select {
			case <-f.wait(wait):
			case <-ctx.Done():
				return
			}
			wait = min(2*wait, maxWait)
			var o *overview
			if o, err = f.overview(ctx); err == nil && !f.send(ctx, update{attached: o}) {
				return
			}
		}
	}
}

func (f *feed) forward(ctx context.Context, topic string, data []byte) error {
	var trouble struct {
		Error *struct{ Message string } `json:"error"`
	}
	if err := json.Unmarshal(data, &trouble); err == nil && trouble.Error != nil {
		return errors.New(trouble.Error.Message)
	}
	var u update
	var err error
	switch topic {
	case "overview":
		u.sample = new(inspect.Sample)
		err = json.Unmarshal(data, u.sample)
	case "costs":
		u.costs = new(inspect.Costs)
		err = json.Unmarshal(data, u.costs)
	default:
		return nil
	}
	if err != nil {
		return fmt.Errorf("the stream sent a malformed event: %w", err)
	}
	f.send(ctx, u)
	return ctx.Err()
}

// send sends an update. It returns false if ctx ends before the update is received.
func (f *feed) send(ctx context.Context, u update) bool {
	select {
	case f.updates <- u:
		return true
	case <-ctx.Done():
		return false
	}
}

// isRefusal reports whether err means that the program refuses all requests. Another attempt is then useless.
func isRefusal(err error) bool {
	e, ok := errors.AsType[*attach.Error](err)
	return ok && (e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden ||
		e.Status == http.StatusGone)
}
