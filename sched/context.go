package sched

import (
	"fmt"
	"math/bits"
	"time"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/events"
)

// Context gives a system the tick, its commands, its random numbers and its parallel loops. It is valid until
// the function that received it returns, and only on the goroutine that runs this function.
type Context struct {
	turn     // for package event; the method seat sets it
	schedule *Schedule
	system   *node
	worker   *worker   // the worker that runs the system
	sequence int       // number of the step; a step is a part of a division, or the code outside of divisions
	part     bool      // whether this Context belongs to a part of a division
	division *division // reused by the next Each, Split or Reduce
	results  []any     // reductions, reused by the next Reduce
}

// sequenceBits is the number of low bits of a position (see [vast.Commands.At]) that hold the number of the
// step. The other bits hold the index of the system in the order of its phase.
const sequenceBits = 20 + bits.UintSize/64*20

// of returns the schedule. It panics if no schedule made the Context.
func (c *Context) of() *Schedule {
	if c == nil || c.schedule == nil {
		panic("sched: the zero Context belongs to no schedule: use the Context that the system receives")
	}
	return c.schedule
}

// World returns the world.
func (c *Context) World() *vast.World { return c.of().world }

// System returns the name of the running system.
func (c *Context) System() string {
	c.of()
	return c.system.Name
}

// Tick returns the number of the tick. The first tick is 1. In Start and End it returns the number of the
// last tick, or 0 before the first tick.
func (c *Context) Tick() uint64 { return c.of().number }

// Delta returns the simulated time that this run of the system stands for: the time of one tick or, with
// [System.Every] or [System.Rate], of the ticks since the system was last due. The first run stands for a
// whole interval, like later runs. A run that System.If skips counts as a run. In Start and End, Delta is the
// time of one tick.
func (c *Context) Delta() time.Duration {
	c.of()
	return c.system.delta
}

// Seconds returns [Context.Delta] in seconds.
func (c *Context) Seconds() float64 { return c.Delta().Seconds() }

// Elapsed returns the simulated time since the start: [Context.Tick] divided by Options.Rate. In each tick it
// is the same for all systems, whatever their Every and Rate, and it includes the time of this tick. So it is
// 0 in Start before the first tick. It is rounded down to nanoseconds once, so errors do not add up. Elapsed
// does not depend on real time, so a replay gives the same value. It overflows after 292 years.
func (c *Context) Elapsed() time.Duration {
	s := c.of()
	rate := uint64(s.options.Rate)
	whole, rest := s.number/rate, s.number%rate
	return time.Duration(whole)*time.Second + time.Duration(rest)*time.Second/time.Duration(rate)
}

// Seed returns the schedule's seed.
func (c *Context) Seed() uint64 { return c.of().options.Seed }

// Commands returns the Commands in which the system records structural changes. The schedule applies them
// when all systems of the phase are done, and before and after each exclusive system. It applies the commands
// of the systems in the order in which a single worker would run the systems. The commands of one system are
// applied batch after batch. The order does not depend on which worker recorded a command.
//
// The Commands belong to this Context: do not keep them and do not call their method At. Until the Commands
// are applied, an entity that their method New returned is a placeholder that only this Context can use.
func (c *Context) Commands() *vast.Commands {
	s := c.of()
	c.mustBeOwn()
	commands := c.worker.ownCommands(s)
	c.settle()
	return commands
}

// mustBeOwn panics if a part uses the Context of its system.
func (c *Context) mustBeOwn() {
	if c.division.underWay() {
		panic(fmt.Sprintf("sched: system %q uses its own Context in a part of Each, Split or Reduce: "+
			"use the Context that the part receives", c.system.Name))
	}
}

func (w *worker) ownCommands(s *Schedule) *vast.Commands {
	if w.commands == nil {
		w.commands = vast.NewCommands(s.world, s.options.Commands)
	}
	return w.commands
}

// settle gives the worker's next commands the position of the Context. It calls At only when the position
// changes, because each call of At takes room in the Commands.
func (c *Context) settle() {
	w := c.worker
	if position := c.system.place<<sequenceBits | c.sequence; !w.recorded || w.position != position {
		w.commands.At(position)
		w.recorded, w.position = true, position
	}
}

func (c *Context) advance(n int) {
	if c.sequence += n; c.sequence >= 1<<sequenceBits {
		panic(fmt.Sprintf("sched: system %q made more than %d batches in a tick: make the batches larger",
			c.system.Name, 1<<sequenceBits))
	}
	c.seat(c.worker, c.sequence)
}

// seat sets the worker and the step.
func (c *Context) seat(w *worker, step int) {
	c.worker, c.sequence = w, step
	rank := c.schedule.shift + c.system.rank
	c.turn.Worker, c.turn.Position = w.index, uint64(rank)<<events.StepBits|uint64(step)
}
