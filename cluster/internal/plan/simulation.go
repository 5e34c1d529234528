package plan

import (
	"math"
	"math/rand/v2"
	"time"
)

type simulation struct {
	events
	Setup
	costs     *Costs
	random    *rand.Rand
	processes []*process
	servers   []*machine
	regions   []*region
	objects   *stream         // the checkpoints
	keys      *stream         // the pointers and the statuses
	receive   float64         // microseconds in which one region decodes the messages of all regions
	times     []time.Duration // durations of the measured ticks
	spent     [kinds]float64  // by kind: microseconds of the cores of all machines
	paused    time.Duration   // sum of the pauses of regions for checkpoints
	finished  int             // number of regions that have run their last tick
}

type machine struct{ cores, disk, line station }

// slice is how long a goroutine runs on a core while other goroutines wait for a core.
const slice = 10 * time.Millisecond

func (s *simulation) machine(cores int) *machine {
	return &machine{
		cores: station{events: &s.events, places: cores, slice: slice},
		disk:  station{events: &s.events, places: s.costs.SyncsAtOnce},
		line:  station{events: &s.events, places: 1},
	}
}

// process is a process of the cluster, on a machine of its own.
type process struct {
	*machine
	regions int
	workers int     // number of workers of each region
	arrived []int32 // by tick: the number of messages that have arrived
	ready   int     // all messages up to this tick have arrived
	waiting []*region
}

func newSimulation(c *Costs, setup Setup) *simulation {
	s := &simulation{Setup: setup, costs: c, random: rand.New(rand.NewPCG(setup.Seed, 0))}
	for range s.Processes() {
		s.processes = append(s.processes, &process{machine: s.machine(s.Cores),
			arrived: make([]int32, s.Ticks+1)})
	}
	for range s.Servers {
		s.servers = append(s.servers, s.machine(s.ServerCores))
	}
	if s.embedded() {
		for _, p := range s.processes[:s.Replicas] {
			s.servers = append(s.servers, p.machine)
		}
	}
	s.objects, s.keys = s.stream(0), s.stream(0)
	bytes := 0.0
	for i := range s.Regions {
		r := s.region(i)
		s.regions = append(s.regions, r)
		bytes += r.bytes
	}
	n := float64(s.Regions)
	s.receive = n*c.Decode.Of(0, s.Regions) + c.Decode.Byte*bytes/1000
	for _, p := range s.processes {
		p.workers = max(1, s.Cores/max(1, p.regions))
	}
	return s
}

func (s *simulation) region(i int) *region {
	p := s.processes[i%len(s.processes)]
	p.regions++
	r := &region{s: s, number: i, process: p, stream: s.stream(i), travellers: s.travellers(i)}
	r.departures = r.travellers * s.costs.Departures(s.Regions)
	r.bytes = s.costs.BytesMessage + s.costs.BytesSection*float64(s.Regions) +
		s.costs.BytesTraveller*r.departures
	return r
}

// work returns how long some work takes on a core, and adds the work's processor time to s.spent. The
// processor time is in microseconds.
func (s *simulation) work(k kind, processor float64) time.Duration {
	s.spent[k] += processor
	return microseconds(processor * s.costs.Stretch)
}

// spread returns a random factor with the mean 1. The standard deviation of the logarithm of the factor is
// sigma.
func (s *simulation) spread(sigma float64) float64 {
	if sigma == 0 {
		return 1
	}
	return math.Exp(sigma*s.random.NormFloat64() - sigma*sigma/2)
}

// write does some work on a machine, and then writes bytes to the disk and syncs them. It returns how long
// these steps take if nothing else uses the machine. The goroutine that syncs occupies its core for a while.
func (s *simulation) write(on *machine, work time.Duration, bytes float64, synced func()) time.Duration {
	sync := microseconds((s.costs.Sync + s.costs.SyncByte*bytes/1000) * s.spread(s.costs.SyncSpread))
	on.cores.do(work, func() {
		on.disk.do(sync, synced)
		on.cores.do(s.work(syncing, s.costs.Hold), func() {})
	})
	return work + sync
}

// transfer sends bytes from one machine to another, and then calls arrived.
func (s *simulation) transfer(from, to *machine, bytes float64, arrived func()) {
	if from == to {
		arrived()
		return
	}
	from.line.do(time.Duration(bytes/s.Bandwidth*float64(time.Second)), func() {
		s.after(s.RoundTrip/2, arrived)
	})
}

// deliver sends a message to all processes, and calls delivered for each process.
func (s *simulation) deliver(from *machine, k kind, bytes float64, delivered func(to *process)) {
	half := s.costs.Deliver.Of(bytes) / 2
	from.cores.do(s.work(k, half*float64(len(s.processes))), func() {
		for _, p := range s.processes {
			s.transfer(from, p.machine, bytes, func() {
				p.cores.do(s.work(k, half), func() { delivered(p) })
			})
		}
	})
}

// arrive notes that a process has a message of a tick. If the process now has all messages of this tick and
// of the ticks before, the waiting regions try again to begin their ticks.
func (s *simulation) arrive(p *process, tick int) {
	p.arrived[tick]++
	before := p.ready
	for p.ready < s.Ticks && p.arrived[p.ready+1] == int32(s.Regions) {
		p.ready++
	}
	if p.ready == before {
		return
	}
	waiting := p.waiting
	p.waiting = nil
	for _, r := range waiting {
		r.begin()
	}
}
