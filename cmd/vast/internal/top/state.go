package top

import (
	"slices"
	"time"

	"github.com/vastgo/vast/cmd/vast/internal/tty"
	"github.com/vastgo/vast/inspect"
)

// maxSamples is the largest number of samples in the history: ten minutes at one sample per second.
const maxSamples = 600

// state holds the data that the command has received from the program.
type state struct {
	address string
	world   string
	history []inspect.Sample // oldest first
	costs   inspect.Costs
	lost    error     // why the connection is lost; nil while connected
	heard   time.Time // when the program last sent data
}

func newState(address string) *state { return &state{address: tty.Clean(address)} }

func (s *state) now() inspect.Sample {
	if len(s.history) == 0 {
		return inspect.Sample{}
	}
	return s.history[len(s.history)-1]
}

// apply adds an update to the state. It makes the names in the update safe to print.
func (s *state) apply(u update) {
	if u.lost != nil {
		s.lost = u.lost
		return
	}
	s.lost, s.heard = nil, time.Now()
	switch {
	case u.attached != nil:
		s.history = u.attached.History
		if n := len(s.history); n == 0 || s.history[n-1].At < u.attached.Now.At {
			s.history = append(s.history, u.attached.Now)
		}
	case u.sample != nil:
		// An earlier time means that the program's clock was set back.
		if len(s.history) > 0 && u.sample.At < s.now().At {
			s.history = nil
		}
		if len(s.history) == 0 || u.sample.At > s.now().At {
			s.history = append(s.history, *u.sample)
		}
	case u.costs != nil:
		s.costs = *u.costs
		for i := range s.costs.Systems {
			c := &s.costs.Systems[i]
			c.Name, c.Phase = tty.Clean(c.Name), tty.Clean(c.Phase)
		}
		for i := range s.costs.Columns {
			c := &s.costs.Columns[i]
			c.Name, c.Type = tty.Clean(c.Name), tty.Clean(c.Type)
		}
	}
	if extra := len(s.history) - maxSamples; extra > 0 {
		s.history = slices.Delete(s.history, 0, extra)
	}
}
