package main

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/vastgo/vast/cluster"
	"github.com/vastgo/vast/cluster/internal/globe"
	simulation "github.com/vastgo/vast/cmd/vast/earth"
	"github.com/vastgo/vast/cmd/vast/earth/places"
)

// viewer shows the cluster until its last tick, as a map, lines or one JSON object.
type viewer struct {
	o       options
	planet  *simulation.Globe
	node    *cluster.Node
	notices *notices
	stdout  io.Writer

	inspector *inspector // or nil

	last    time.Time // when the last sample was taken
	crossed uint64    // border crossings up to the last sample
	ticks   uint64    // tick of the slowest region in the last sample
}

// sample has the last known statuses of the regions.
type sample struct {
	when     time.Time
	regions  []cluster.Status
	figures  []globe.Figures // by region; zero if the region has no status
	total    globe.Figures   // sums; Travellers and Moving include InTransit; Tick is the slowest region's
	crossing float64         // border crossings a second since the previous sample
	rate     float64         // ticks a second since the previous sample
}

// sample takes a sample, and passes it to the inspector, if there is one.
func (v *viewer) sample() sample {
	s := sample{when: time.Now(), regions: v.node.Regions()}
	s.figures = make([]globe.Figures, len(s.regions))
	t := &s.total
	for i, r := range s.regions {
		f := &s.figures[i]
		if r.Machine != nil && json.Unmarshal(r.Machine, f) != nil {
			*f = globe.Figures{}
		}
		if i == 0 || r.Tick < t.Tick {
			t.Tick = r.Tick
		}
		t.Places += f.Places
		t.Entities += f.Entities
		t.Travellers += f.Travellers + f.InTransit
		t.Moving += f.Moving + f.InTransit
		t.InTransit += f.InTransit
		t.Infectious += f.Infectious
		t.Recovered += f.Recovered
		t.Changes += f.Changes
		t.Crossed += f.Crossed
	}
	if seconds := s.when.Sub(v.last).Seconds(); !v.last.IsZero() && seconds > 0 {
		s.crossing = float64(int64(t.Crossed-v.crossed)) / seconds
		s.rate = float64(int64(t.Tick-v.ticks)) / seconds
	}
	v.last, v.crossed, v.ticks = s.when, t.Crossed, t.Tick
	if v.inspector != nil {
		v.inspector.show(&s)
	}
	return s
}

// processes returns how many processes own regions, or were the last owners of regions.
func (s *sample) processes() int {
	seen := make(map[string]bool)
	for _, r := range s.regions {
		if r.Process != "" {
			seen[r.Process] = true
		}
	}
	return len(seen)
}

// watch shows the cluster until its last tick or the end of the context.
func (v *viewer) watch(ctx context.Context) error {
	ended := make(chan error, 1)
	go func() { ended <- v.wait(ctx) }()
	var err error
	switch file, ok := v.stdout.(*os.File); {
	case v.o.json && v.inspector == nil:
		err = <-ended
	case v.o.json:
		err = v.eachSecond(ended, func(sample) error { return nil })
	case ok && !v.o.plain && isTerminal(file):
		err = v.screen(ended)
	default:
		err = v.lines(ended)
	}
	if ctx.Err() != nil {
		return nil // a signal has ended ctx
	}
	if err != nil || !v.o.json {
		return err
	}
	return v.report()
}

// wait waits for the last tick. If the program was upgraded and other processes may use the server of this
// process, wait waits until the context ends.
func (v *viewer) wait(ctx context.Context) error {
	err := v.node.Wait(ctx)
	if !errors.Is(err, cluster.ErrUpgraded) || v.node.URL() == "" {
		return err
	}
	v.notices.add(errors.New("another build runs the regions now; this process has the NATS server and " +
		"keeps running"))
	<-ctx.Done()
	return nil
}

func (v *viewer) lines(ended <-chan error) error {
	if v.o.places == "" {
		fmt.Fprintf(v.stdout, "# %s\n", places.Attribution)
	}
	if url := v.node.URL(); url != "" {
		fmt.Fprintf(v.stdout, "# server: %s\n", url)
	}
	if v.inspector != nil {
		fmt.Fprintf(v.stdout, "# inspector: %s\n", v.inspector.URL())
	}
	return v.eachSecond(ended, func(s sample) error {
		t := s.total
		_, err := fmt.Fprintf(v.stdout, "tick=%d tps=%.1f travellers=%d moving=%d infectious=%d "+
			"crossing=%.0f/s regions=%d processes=%d\n", t.Tick, s.rate, t.Travellers, t.Moving, t.Infectious,
			s.crossing, len(s.regions), s.processes())
		return err
	})
}

// eachSecond passes a new sample to show every second, until show returns an error or ended has a value.
func (v *viewer) eachSecond(ended <-chan error, show func(sample) error) error {
	second := time.NewTicker(time.Second)
	defer second.Stop()
	for {
		select {
		case <-second.C:
			if err := show(v.sample()); err != nil {
				return err
			}
		case err := <-ended:
			return err
		}
	}
}

func (v *viewer) hash(s *sample) (string, error) {
	var states []simulation.State
	for i, f := range s.figures {
		b, err := hex.DecodeString(f.State)
		if err != nil || len(b) != len(simulation.State{}) {
			return "", fmt.Errorf("the status of region %d lacks the state after tick %d", i, v.o.ticks)
		}
		states = append(states, simulation.State(b))
	}
	return v.planet.HashOf(states)
}
