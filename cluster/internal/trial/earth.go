package trial

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/vastgo/vast/cluster"
	"github.com/vastgo/vast/cluster/internal/globe"
	simulation "github.com/vastgo/vast/cmd/vast/earth"
)

// EarthOptions are the options of [Earth].
type EarthOptions struct {
	Dir    string // folder of the cluster; Earth removes it at the end
	Planet *simulation.Globe
	Ticks  uint64
	Every  uint64 // ticks from one checkpoint to the next
	// Earth measures the ticks after From, up to To. From is at least 1. Default: it measures no ticks.
	From, To uint64
}

// EarthRun is the result of [Earth].
type EarthRun struct {
	Times cluster.Times
	Hash  string // hash of the last state
	// Rate is the number of ticks in a second. Unlike Times.Rate, it counts only the measured ticks.
	Rate float64
	// Processor is the processor time of the process for one measured tick of all regions.
	Processor time.Duration
	// Sections[i][j] is the number of bytes that region i has sent to region j in all ticks.
	Sections [][]int
}

// Earth runs all regions of an Earth in this process, with an embedded server.
func Earth(ctx context.Context, o EarthOptions) (EarthRun, error) {
	if o.To > 0 && o.From == 0 {
		return EarthRun{}, errors.New("trial: EarthOptions.From is 0: measure from the end of tick 1 " +
			"at least")
	}
	regions := o.Planet.Regions()
	m := &meter{ticksBegin: o.From * uint64(regions), ticksEnd: o.To * uint64(regions),
		sections: make([][]int, regions)}
	n, err := cluster.Join(ctx, cluster.Options{Name: "trial", Dir: o.Dir, Regions: regions,
		Lookahead: simulation.Lookahead, Schema: o.Planet.Schema(), Until: o.Ticks, Every: o.Every,
		New: func(region int) (cluster.Machine, error) {
			m.sections[region] = make([]int, regions)
			return &metered{globe.New(o.Planet, region, o.Ticks), m.sections[region], m}, nil
		}})
	if err != nil {
		return EarthRun{}, err
	}
	defer os.RemoveAll(o.Dir)
	defer n.Close()
	if err := n.Wait(ctx); err != nil {
		return EarthRun{}, err
	}
	r := EarthRun{Times: n.Times(), Sections: m.sections}
	if o.To > o.From {
		r.Rate = float64(o.To-o.From) / m.ended.Sub(m.began).Seconds()
		r.Processor = (m.last - m.first) / time.Duration(o.To-o.From)
	}
	r.Hash, err = hashOf(o.Planet, n.Regions())
	return r, errors.Join(err, m.err)
}

// meter measures from the end of tick number ticksBegin to the end of tick number ticksEnd. It counts the
// ticks of all regions together.
type meter struct {
	ticksBegin, ticksEnd uint64
	sections             [][]int

	mu           sync.Mutex
	ticks        uint64
	began, ended time.Time
	first, last  time.Duration // processor times at began and at ended
	err          error
}

func (m *meter) ran() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ticks++
	if m.ticks == m.ticksBegin {
		m.began = time.Now()
		m.first, m.err = processorTime()
	}
	if m.ticks == m.ticksEnd && m.err == nil {
		m.ended = time.Now()
		m.last, m.err = processorTime()
	}
}

// metered is a region that reports its ticks to a meter.
type metered struct {
	*globe.Machine
	sections []int
	meter    *meter
}

// Tick implements [cluster.Machine].
func (m *metered) Tick(tick uint64, received, inputs [][]byte) ([][]byte, cluster.Hash, error) {
	sections, hash, err := m.Machine.Tick(tick, received, inputs)
	for to, section := range sections {
		m.sections[to] += len(section)
	}
	m.meter.ran()
	return sections, hash, err
}

// hashOf computes the hash of an Earth from the statuses of its regions.
func hashOf(planet *simulation.Globe, regions []cluster.Status) (string, error) {
	var states []simulation.State
	for _, s := range regions {
		var f globe.Figures
		if err := json.Unmarshal(s.Machine, &f); err != nil {
			return "", err
		}
		state, err := hex.DecodeString(f.State)
		if err != nil || len(state) != len(simulation.State{}) {
			return "", fmt.Errorf("the status of region %d has the damaged state %q", s.Region, f.State)
		}
		states = append(states, simulation.State(state))
	}
	return planet.HashOf(states)
}
