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

// mostAnswer bounds an answer, in bytes.
const mostAnswer = 16 << 20

// How long to wait before attaching again: at first, and at most.
const (
	firstWait = time.Second / 2
	mostWait  = 5 * time.Second
)

// feed brings what a program tells of itself.
type feed struct {
	program *attach.Program
	updates chan update
	wait    func(d time.Duration) <-chan time.Time // time.After, but for tests
}

// update is what has become known: a sample, costs, that the stream is there again, or why it is not.
type update struct {
	sample   *inspect.Sample
	costs    *inspect.Costs
	attached *overview
	lost     error
}

// overview is the answer of the inspector's overview.
type overview struct {
	Now     inspect.Sample   `json:"now"`
	History []inspect.Sample `json:"history"`
}

// world is what is of use in the answer that describes the world.
type world struct {
	Name string `json:"name"`
}

func newFeed(p *attach.Program) *feed {
	return &feed{program: p, updates: make(chan update), wait: time.After}
}

// begin asks for all there is, once. That it fails is what the user is to see first.
func (f *feed) begin(ctx context.Context, s *state) error {
	o, err := f.overview(ctx)
	if err != nil {
		return err
	}
	var costs inspect.Costs
	if err := f.program.Get(ctx, "costs", nil, mostAnswer, &costs); err != nil {
		return err
	}
	// A program that hangs cannot say what its world is called, and is of interest all the same.
	var w world
	if err := f.program.Get(ctx, "world", nil, mostAnswer, &w); err == nil {
		s.world = tty.Clean(w.Name)
	}
	s.apply(update{attached: o})
	s.apply(update{costs: &costs})
	return nil
}

func (f *feed) overview(ctx context.Context) (*overview, error) {
	o := new(overview)
	return o, f.program.Get(ctx, "overview", nil, mostAnswer, o)
}

// follow sends updates until the context ends. A stream that is lost is opened again, with the history that was missed.
func (f *feed) follow(ctx context.Context) {
	wait := firstWait
	for {
		err := f.program.Stream(ctx, []string{"overview", "costs"}, func(topic string, data []byte) error {
			wait = firstWait
			return f.tell(ctx, topic, data)
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
			wait = min(2*wait, mostWait)
			var o *overview
			if o, err = f.overview(ctx); err == nil && !f.send(ctx, update{attached: o}) {
				return
			}
		}
	}
}

// tell sends an event of the stream.
func (f *feed) tell(ctx context.Context, topic string, data []byte) error {
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
		return fmt.Errorf("an event that cannot be understood: %w", err)
	}
	f.send(ctx, u)
	return ctx.Err()
}

// send hands an update over and reports whether somebody took it.
func (f *feed) send(ctx context.Context, u update) bool {
	select {
	case f.updates <- u:
		return true
	case <-ctx.Done():
		return false
	}
}

// hopeless reports whether attaching again cannot help: the program is there, and refuses.
func hopeless(err error) bool {
	refused, ok := errors.AsType[*attach.Error](err)
	return ok && (refused.Status == http.StatusUnauthorized || refused.Status == http.StatusForbidden ||
		refused.Status == http.StatusGone)
}
