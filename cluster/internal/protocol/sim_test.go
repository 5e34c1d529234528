package protocol

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
)

// sim simulates a cluster in one goroutine: processes that run owners of regions, and their common storage.
// The owners are coroutines. An owner yields to the simulation in most calls of the storage. A random
// generator chooses the next owner and the faults. Therefore two simulations with the same seed take the same
// steps.
type sim struct {
	r         *rand.Rand
	seed      uint64
	regions   int
	lookahead uint64
	until     uint64 // last tick of all regions
	upgrade   uint64 // first tick of the second version of the program; 0 if there is one version
	faults    faults
	mistake   mistake

	outboxes, inputs []*simLog
	pointers         []simPointer
	checkpoints      []map[string][]byte // by region and name; nil for a checkpoint that is stored in part
	journals         [][]*simJournal     // by process and region
	owners           []*simOwner
	late             []lateAppend
	storing          []*simStored
	step             int
	number           uint64 // number of the newest owner
	violation        error
	over             []bool // by region: the owner has ended after the last tick
	count            simCounts
}

// faults has the probability of each fault, in thousandths per step or per call of the storage.
type faults struct {
	crash      int // an owner dies
	process    int // all owners of a process die
	sleep      int // an owner sleeps for some time
	rival      int // a region gets a second owner
	lostAppend int // the storage does not get a message or a pointer
	lostAnswer int // the owner does not get the answer of the storage
	twice      int // a duplicate of a message arrives later
	intruder   int // an outbox gets a message that no owner has sent
	lostTail   int // an outbox loses its last messages
	lostStore  int // a checkpoint is stored in part or not at all
}

type simCounts map[string]int // number of events, by name of the event

func (c simCounts) add(d simCounts) {
	for what, n := range d {
		c[what] += n
	}
}

// mistake is an error that a simulation makes on purpose.
type mistake int

const (
	noMistake       mistake = iota
	appendAlways            // a log ignores the condition of Append
	numberAlone             // a log compares only the number of its last message, not the ID
	acknowledgeSoon         // a log acknowledges a message before it appends the message
	cutOutside              // messages do not contain the cut
	pointerAlways           // SetPointer ignores the revision
	purgeMore               // Purge also removes messages that a region needs for a restart
	noGuard                 // owners do not guard the outbox after their last tick
	removeMore              // RemoveCheckpoint removes all checkpoints except the newest one
	versionSoon             // the second version of the program begins some ticks too early
)

func newSim(seed uint64, regions int, f faults, m mistake) *sim {
	s := &sim{r: rand.New(rand.NewPCG(seed, 7)), seed: seed, regions: regions, faults: f, mistake: m,
		count: simCounts{}}
	s.lookahead, s.until = 1+s.r.Uint64N(4), 25+s.r.Uint64N(25)
	for range regions {
		s.outboxes = append(s.outboxes, &simLog{s: s, outbox: true, region: len(s.outboxes), first: 1,
			history: map[uint64]Hash{}, epochs: map[uint64]uint64{},
			kept: map[uint64]*message{}})
		s.inputs = append(s.inputs, &simLog{s: s, first: 1})
		s.checkpoints = append(s.checkpoints, map[string][]byte{})
	}
	s.pointers, s.over = make([]simPointer, regions), make([]bool, regions)
	for range 3 {
		var journals []*simJournal
		for range regions {
			journals = append(journals, &simJournal{ticks: map[uint64][]byte{}})
		}
		s.journals = append(s.journals, journals)
	}
	return s
}

// upgradeLater adds a second version of the program, which begins at a random tick.
func (s *sim) upgradeLater() { s.upgrade = 2 + s.r.Uint64N(s.until-2) }

// chance returns true with the probability n/1000.
func (s *sim) chance(n int) bool { return s.r.IntN(1000) < n }

func (s *sim) violated(format string, args ...any) {
	if s.violation == nil {
		s.violation = fmt.Errorf(format, args...)
	}
}

// simOwner is an owner or a follower of a region.
type simOwner struct {
	s       *sim
	process int
	region  int
	number  uint64
	yield   func(struct{}) bool
	next    func() (struct{}, bool)
	stop    func()
	ready   func() bool // the owner waits until ready returns true; nil if it does not wait
	sleeps  int         // step until which the owner sleeps
	version int         // index of the owner's version in sim.versions()
	machine *isles
	err     error
	done    bool
	follows bool // the simOwner is a follower
	guards  bool // the owner has run its last tick
}

// died is the value of the panic that ends the coroutine of a killed owner.
type died struct{}

// start starts an owner. A process runs at most one owner of a region, so start first kills the process's
// older owner of the region.
func (s *sim) start(process, region int) {
	for _, o := range s.owners {
		if o.process == process && o.region == region {
			s.kill(o)
		}
	}
	s.bury()
	s.count["takeovers"]++
	s.begin(process, region, Run)
}

// follower is the process number of all followers.
const follower = -1

// begin starts an owner if run is Run, and a follower if run is Follow.
func (s *sim) begin(process, region int, run func(context.Context, Options) error) {
	s.number++
	o := &simOwner{s: s, process: process, region: region, number: s.number, follows: process == follower}
	if s.upgrade > 0 {
		o.version = s.r.IntN(2)
	}
	o.machine = newIsles(s, region, o.version)
	var journal Journal
	if !o.follows {
		journal = s.journals[process][region]
	}
	o.next, o.stop = iter.Pull(func(yield func(struct{}) bool) {
		defer func() {
			if v := recover(); v != nil && v != (died{}) {
				panic(v)
			}
		}()
		o.yield = yield
		o.pass()
		o.err = run(context.Background(), Options{Region: region, Regions: s.regions, Lookahead: s.lookahead,
			Storage: simStorage{o}, Journal: journal, Machine: o.machine, Every: 5, Versions: s.versions,
			From: s.versions()[o.version].From, Due: o.due, Until: s.until, Number: o.number,
			Ended: func() bool {
				o.guards = true
				return s.mistake != noGuard
			},
			Process: strconv.Itoa(process),
			Report: func(err error) {
				switch {
				case errors.Is(err, errUnstored):
				case s.faults.intruder > 0 || s.count["intruders"] > 0:
					s.count["reported"]++
				default:
					s.violated("%v", err)
				}
			}})
	})
	s.owners = append(s.owners, o)
}

// versionOf returns the index of the version that must run a tick.
func (s *sim) versionOf(tick uint64) int {
	if s.upgrade > 0 && tick >= s.upgrade {
		return 1
	}
	return 0
}

func codeOf(version int) Hash { return Hash{byte(version + 1)} }

func (s *sim) versions() []Version {
	if s.upgrade == 0 {
		return []Version{{1, codeOf(0)}}
	}
	from := s.upgrade
	if s.mistake == versionSoon {
		from = max(2, from-3)
	}
	return []Version{{1, codeOf(0)}, {from, codeOf(1)}}
}

func (o *simOwner) due(_ context.Context, tick uint64) error {
	if o.s.versionOf(tick) > o.version {
		return ErrEnd
	}
	return nil
}

func (o *simOwner) pass() {
	if !o.yield(struct{}{}) {
		panic(died{})
	}
}

// wait yields to the simulation until ready returns true.
func (o *simOwner) wait(ready func() bool) {
	o.ready = ready
	o.pass()
	o.ready = nil
}

// kill ends an owner. Messages that the owner has sent may still arrive.
func (s *sim) kill(o *simOwner) {
	o.stop()
	o.done = true
	s.count["crashes"]++
}

// run simulates stepsWithFaults steps with faults, and then steps without faults until all regions have run
// their last tick.
func (s *sim) run() error {
	defer func() {
		for _, o := range s.owners {
			o.stop()
		}
	}()
	const stepsWithFaults, maxSteps = 3000, 400_000
	for s.step = 0; s.violation == nil; s.step++ {
		if s.step == stepsWithFaults {
			s.faults = faults{}
			for _, o := range s.owners {
				o.sleeps = 0
			}
		}
		if s.step > stepsWithFaults && s.finished() {
			break
		}
		if s.step > maxSteps {
			return fmt.Errorf("seed %d: after %d steps the last ticks of the regions are %v, want %d", s.seed,
				maxSteps, s.ticks(), s.until)
		}
		s.misfortune()
		s.employ()
		if s.step < stepsWithFaults && s.chance(15) {
			s.input()
		}
		if len(s.late) > 0 && s.chance(600) {
			s.deliver()
			continue
		}
		if len(s.storing) > 0 && s.chance(100) {
			s.store()
			continue
		}
		if o := s.choose(); o != nil {
			if _, ok := o.next(); !ok {
				s.ended(o)
			}
		}
	}
	if s.violation != nil {
		return fmt.Errorf("seed %d, step %d: %w", s.seed, s.step, s.violation)
	}
	if err := s.compare(); err != nil {
		return fmt.Errorf("seed %d: %w", s.seed, err)
	}
	if err := s.tidied(); err != nil {
		return fmt.Errorf("seed %d: %w", s.seed, err)
	}
	return nil
}

// tidied runs each region once more, and then checks that only the newest checkpoint of the region is stored.
func (s *sim) tidied() error {
	for _, o := range s.owners {
		s.kill(o)
	}
	for len(s.storing) > 0 {
		s.store()
	}
	for region, stored := range s.checkpoints {
		s.count["left"] += len(stored) - 1
		p, _ := s.pointers[region].value()
		s.begin(p.holder(), region, Run)
		o := s.owners[len(s.owners)-1]
		o.version = len(s.versions()) - 1
		o.machine.version = o.version
		s.runAlone(o, func() bool { return false })
		if !o.guards {
			return fmt.Errorf("region %d does not reach its last tick when it runs once more: %w", region,
				o.err)
		}
		p, _ = s.pointers[region].value()
		newest := p.Checkpoint
		if len(stored) != 1 || stored[newest] == nil {
			return fmt.Errorf("region %d has the checkpoints %v at the end, want only the newest, %s",
				region, slices.Sorted(maps.Keys(stored)), newest)
		}
	}
	return s.violation
}

// runAlone runs only the owner o, until o has run its last tick, o has ended, or enough returns true.
func (s *sim) runAlone(o *simOwner, enough func() bool) {
	for ok := true; ok && !o.guards && !enough(); {
		switch {
		case len(s.late) > 0:
			s.deliver()
		case len(s.storing) > 0 && s.chance(500):
			s.store()
		case o.ready == nil || o.ready():
			_, ok = o.next()
		}
	}
}

// misfortune causes at most one fault.
func (s *sim) misfortune() {
	if len(s.owners) > 0 {
		o := s.owners[s.r.IntN(len(s.owners))]
		switch {
		case s.chance(s.faults.crash):
			s.kill(o)
		case s.chance(s.faults.process):
			for _, p := range s.owners {
				if p.process == o.process {
					s.kill(p)
				}
			}
		case s.chance(s.faults.sleep):
			o.sleeps = s.step + s.r.IntN(600)
			s.count["sleeps"]++
		case s.chance(s.faults.rival):
			s.start(s.heir(o.region), o.region)
		case s.chance(s.faults.lostTail):
			s.loseTail(o.region)
		case s.chance(s.faults.intruder):
			s.intrude(o.region)
		}
	}
	s.bury()
}

func (s *sim) bury() {
	living := s.owners[:0]
	for _, o := range s.owners {
		if !o.done {
			living = append(living, o)
		}
	}
	clear(s.owners[len(living):])
	s.owners = living
}

// employ sometimes starts an owner for a region without an awake owner, and a follower for a region without a
// follower.
func (s *sim) employ() {
	for region := range s.regions {
		awake, followed := s.over[region] || s.outboxes[region].tick >= s.until, false
		for _, o := range s.owners {
			// An owner of the first version that has run its last tick does not count, because an owner of
			// the second version must take the region over.
			replaced := o.guards && o.version < len(s.versions())-1
			awake = awake || o.region == region && o.sleeps <= s.step && !o.follows && !replaced
			followed = followed || o.region == region && o.follows
		}
		if !followed && s.chance(20) {
			s.begin(follower, region, Follow)
		}
		if !awake && s.chance(50) {
			s.start(s.heir(region), region)
		}
	}
}

// heir returns the process that takes a region over: if the outbox has lost ticks, the process that has these
// ticks in its journal; otherwise a random process.
func (s *sim) heir(region int) int {
	if p, ok := s.pointers[region].value(); ok && s.outboxes[region].lost {
		return p.holder()
	}
	return s.r.IntN(len(s.journals))
}

func (p *pointer) holder() int {
	process, _ := strconv.Atoi(p.Holder)
	return process
}

// choose tries eight random owners. It returns the first of them that can run, or nil.
func (s *sim) choose() *simOwner {
	for range 8 {
		if len(s.owners) == 0 {
			return nil
		}
		o := s.owners[s.r.IntN(len(s.owners))]
		if o.sleeps <= s.step && (o.ready == nil || o.ready()) {
			return o
		}
	}
	return nil
}

// ended removes an owner that has ended. An unexpected error of the owner is a violation.
func (s *sim) ended(o *simOwner) {
	o.done = true
	switch {
	case o.err == nil && o.follows:
		s.count["followed"]++
	case o.err == nil:
		s.over[o.region] = o.guards && s.outboxes[o.region].tick >= s.until
	case o.follows && errors.Is(o.err, ErrGone):
		s.count["late"]++
	case errors.Is(o.err, ErrFenced):
		s.count["fenced"]++
	case errors.Is(o.err, ErrVersion):
		s.count["early"]++
	case errors.Is(o.err, ErrLost) && s.count["tails"] > 0:
	case errors.Is(o.err, errUnstored): // employ starts another owner
	default:
		s.violated("owner %d of region %d: %w", o.number, o.region, o.err)
	}
	s.bury()
}

func (s *sim) ticks() (ticks []uint64) {
	for _, l := range s.outboxes {
		ticks = append(ticks, l.tick)
	}
	return ticks
}

func (s *sim) finished() bool {
	for _, l := range s.outboxes {
		if l.tick < s.until {
			return false
		}
	}
	return len(s.late) == 0
}

func (s *sim) input() {
	region := s.r.IntN(s.regions)
	l := s.inputs[region]
	l.push(isleInput(s.r.Uint64N(1 << 40)))
	l.all = append(l.all, l.messages[len(l.messages)-1])
	s.count["inputs"]++
}
