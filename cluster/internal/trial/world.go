package trial

import (
	"errors"
	"time"

	"github.com/vastgo/vast/cluster/internal/globe"
	"github.com/vastgo/vast/internal/measure"

	simulation "github.com/vastgo/vast/cmd/vast/earth"
)

// world is an Earth whose regions run without a cluster, one after the other.
type world struct {
	planet   *simulation.Globe
	machines []*globe.Machine
	// sent has sections (see simulation.Region.Tick) by tick, sender and receiver.
	sent [simulation.Lookahead][][][]byte

	// Times are in microseconds, and sizes are in bytes.

	processor measure.Samples // processor time of each measured tick of all regions
	times     measure.Samples // real time of each measured tick of all regions
	sections  [][]int         // size of the sections in all measured ticks, by sender and receiver
	state     int             // size of the states of all regions
	save      float64         // processor time of making the states
	status    float64         // processor time of making the statuses of all regions
	told      int             // size of the statuses
}

// ticksWorld is the number of ticks of a run. The ticks up to ticksFirst are not measured: in the first of
// them no traveller arrives from another region, and the memory grows. Every 512th tick makes a hash, so
// exactly one of the 512 measured ticks makes a hash.
const (
	ticksWorld = 600
	ticksFirst = ticksWorld - 512
)

// planet makes an Earth. workers is the number of workers of each region.
func planet(travellers, regions, workers int) (*simulation.Globe, error) {
	return simulation.NewGlobe(simulation.Config{Travellers: travellers, Seed: 1, Workers: workers}, regions)
}

// Workers returns the number of workers of each region in a process with the given number of regions.
func Workers(regions int) int { return max(1, globe.Cores()/regions) }

func newWorld(travellers, regions, workers int) (*world, error) {
	p, err := planet(travellers, regions, workers)
	if err != nil {
		return nil, err
	}
	w := &world{planet: p}
	for i := range regions {
		w.machines = append(w.machines, globe.New(p, i, 0))
		w.sections = append(w.sections, make([]int, regions))
	}
	return w, nil
}

func (w *world) close() error {
	var errs []error
	for _, m := range w.machines {
		errs = append(errs, m.Close())
	}
	return errors.Join(append(errs, w.planet.Close())...)
}

// tick runs a tick of all regions. It measures the ticks after ticksFirst.
func (w *world) tick(tick uint64) error {
	before, err := processorTime()
	if err != nil {
		return err
	}
	began := time.Now()
	now := &w.sent[tick%simulation.Lookahead]
	sent := *now // the sections of the tick simulation.Lookahead ticks earlier
	*now = make([][][]byte, len(w.machines))
	for to, m := range w.machines {
		var received [][]byte
		for from := range sent {
			received = append(received, sent[from][to])
		}
		if (*now)[to], _, err = m.Tick(tick, received, nil); err != nil {
			return err
		}
	}
	took := time.Since(began)
	after, err := processorTime()
	if tick > ticksFirst {
		w.times = append(w.times, micros(took))
		w.processor = append(w.processor, micros(after-before))
		w.count(*now)
	}
	return err
}

func (w *world) tell() error {
	before, err := processorTime()
	if err != nil {
		return err
	}
	for _, m := range w.machines {
		w.told += len(m.Status())
	}
	after, err := processorTime()
	w.status = micros(after - before)
	return err
}

func (w *world) count(sent [][][]byte) {
	for from, sections := range sent {
		for to, section := range sections {
			w.sections[from][to] += len(section)
		}
	}
}

// saveAll saves all regions twice, and measures the second time, when the regions reuse their memory.
func (w *world) saveAll() error {
	for range 2 {
		before, err := processorTime()
		if err != nil {
			return err
		}
		w.state = 0
		for _, m := range w.machines {
			state, err := m.Save()
			if err != nil {
				return err
			}
			w.state += len(state)
		}
		after, err := processorTime()
		if err != nil {
			return err
		}
		w.save = micros(after - before)
	}
	return nil
}

// departed returns the mean number of travellers who depart for another group of regions in a tick. group is
// the number of neighbouring regions in a group.
func (w *world) departed(group int) float64 {
	bytes := 0
	for from, sections := range w.sections {
		for to, n := range sections {
			if from/group != to/group {
				bytes += n
			}
		}
	}
	return float64(bytes) / simulation.BytesTraveller / (ticksWorld - ticksFirst)
}
