package plan

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Result says how a cluster runs. Rate, P50 and P99 leave out the ticks of the warm-up; see
// simulation.warmUp.
type Result struct {
	Regions, Processes int
	// Rate is how many ticks the slowest region runs in a second.
	Rate float64
	// P50 and P99 are percentiles of the times of the ticks of all regions. A tick's time begins when the
	// messages that it needs are there, and ends when its own message is encoded.
	P50, P99 time.Duration
	// Cores is the highest utilisation of the cores of a process, Server that of the cores of a server, Disk
	// that of the disk of a server, and Network that of the network of a machine. All are from 0 to 1.
	Cores, Server, Disk, Network float64
	// Region is the share of the time in which the busiest region computes.
	Region float64
	// Bottleneck says what limits the rate. Mostly names the kind of work that takes the most time of the
	// cores of all machines.
	Bottleneck, Mostly string
}

// errStands is the error of a simulation that has run out of events before its last tick. It shows a defect
// of the simulation.
var errStands = errors.New("the simulated regions stand still")

// Run simulates a cluster.
func Run(c *Costs, setup Setup) (Result, error) {
	if err := errors.Join(c.check(), setup.Check()); err != nil {
		return Result{}, err
	}
	s := newSimulation(c, setup)
	for _, r := range s.regions {
		r.next()
	}
	for s.finished < s.Regions {
		if !s.events.next() {
			return Result{}, errStands
		}
	}
	return s.result(), nil
}

func (s *simulation) result() Result {
	t := Result{Regions: s.Regions, Processes: len(s.processes)}
	for _, r := range s.regions {
		rate := float64(s.Ticks-s.warmUp()) / (r.measureEnd - r.measureBegin).Seconds()
		if t.Rate == 0 || rate < t.Rate {
			t.Rate = rate
		}
		t.Region = max(t.Region, float64(r.worked)/float64(s.now))
	}
	slices.Sort(s.times)
	t.P50, t.P99 = s.times[len(s.times)/2], s.times[len(s.times)*99/100]
	for _, p := range s.processes {
		t.Cores = max(t.Cores, p.cores.utilisation())
		t.Network = max(t.Network, p.line.utilisation())
	}
	for _, m := range s.servers {
		t.Server = max(t.Server, m.cores.utilisation())
		t.Disk = max(t.Disk, m.disk.utilisation())
		t.Network = max(t.Network, m.line.utilisation())
	}
	t.Bottleneck, t.Mostly = s.bottleneck(&t), s.mostly()
	return t
}

// saturated is the utilisation above which something counts as a bottleneck. It is less than 1, because
// regions wait for each other.
const saturated = 0.8

func (s *simulation) bottleneck(t *Result) string {
	if s.Hz > 0 && t.Rate > 0.99*s.Hz {
		return fmt.Sprintf("none at %g Hz", s.Hz)
	}
	name, most := "the latency of messages", saturated
	consider := func(what string, utilisation float64) {
		if utilisation > most {
			name, most = what, utilisation
		}
	}
	region := "the ticks of a region"
	if s.Hot > 1 && s.Regions > 1 {
		region = "the ticks of the hottest region"
	}
	consider(region, t.Region)
	cores := "the cores of the process with the server"
	for i, p := range s.processes {
		if len(s.processes) == 1 || i >= len(s.servers) || !s.embedded() {
			cores = "the cores of a process"
		}
		consider(cores, p.cores.utilisation())
		consider("the journals' disk", p.disk.utilisation())
		consider("the network of a process", p.line.utilisation())
	}
	for _, m := range s.servers {
		if !s.embedded() {
			consider("the cores of a server", m.cores.utilisation())
		}
		consider("the disk of a server", m.disk.utilisation())
		consider("the network of a server", m.line.utilisation())
	}
	elapsed := float64(s.now)
	for _, r := range s.regions {
		consider("the outbox of a region", float64(r.stream.busy)/elapsed)
	}
	consider("the stream of the checkpoints", float64(s.objects.busy)/elapsed)
	// While a region pauses for a checkpoint, all regions wait for it. The regions pause at different ticks,
	// so their pauses add up.
	if most == saturated && s.paused > s.now/2 {
		return "the pauses for checkpoints"
	}
	return name
}
