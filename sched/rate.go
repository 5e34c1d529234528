package sched

import "fmt"

// rate says in which ticks a system runs. The pattern repeats after a period. The zero rate stands for all
// ticks.
type rate struct {
	runs   uint64 // number of runs in a period, spread evenly
	ticks  uint64 // number of ticks in a period
	offset uint64 // number of ticks by which the runs are moved; less than ticks
}

// rateOf returns the rate of a system. It panics if the system's Every, Offset or Rate is invalid. The
// argument what is the name of the method that adds the system.
func (s *Schedule) rateOf(what string, sys *System) rate {
	r := rate{runs: 1, ticks: uint64(max(sys.Every, 1)), offset: uint64(max(sys.Offset, 0))}
	if sys.Rate > 0 {
		r.runs, r.ticks = uint64(sys.Rate), uint64(s.options.Rate)
	}
	switch {
	case sys.Every < 0 || sys.Offset < 0 || sys.Rate < 0:
		panic(fmt.Sprintf("sched: %s: system %q: Every is %d, Offset %d, Rate %d: none can be negative",
			what, sys.Name, sys.Every, sys.Offset, sys.Rate))
	case sys.Every > 0 && sys.Rate > 0:
		panic(fmt.Sprintf("sched: %s: system %q has Every and Rate: leave one of them out", what, sys.Name))
	case r.runs > r.ticks:
		panic(fmt.Sprintf("sched: %s: system %q has Rate %d, but a second has %d ticks: use a smaller Rate, "+
			"or raise Options.Rate", what, sys.Name, sys.Rate, r.ticks))
	case r.offset > 0 && r.offset >= r.ticks:
		panic(fmt.Sprintf("sched: %s: system %q has Offset %d: use an Offset less than %d, the number of "+
			"ticks after which the runs repeat", what, sys.Name, sys.Offset, r.ticks))
	}
	if r.runs == r.ticks {
		return rate{}
	}
	return r
}

// due reports whether the system runs in a tick.
func (r *rate) due(tick uint64) bool { return r.ticks == 0 || r.turn(tick)%r.ticks < r.runs }

// turn returns a number that grows by r.runs in each tick, and starts again at r.runs × r.ticks after each
// period. The system runs in the ticks in which the number reaches or passes a multiple of r.ticks. The
// number is less than 2 × r.runs × r.ticks. The number does not overflow: r.runs is 1, or r.ticks is
// Options.Rate, which is at most 10⁹.
func (r *rate) turn(tick uint64) uint64 {
	return (r.ticks + (tick%r.ticks+r.ticks-r.offset)%r.ticks) * r.runs
}

// steps returns the number of ticks since the system was last due, in a tick in which it is due.
func (r *rate) steps(tick uint64) uint64 {
	turn := r.turn(tick)
	last := (turn/r.ticks - 1) * r.ticks // the multiple that the last run reached or passed
	return turn/r.runs - (last+r.runs-1)/r.runs
}
