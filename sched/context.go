package sched

import (
	"fmt"
	"math/bits"
	"time"

	"github.com/vastgo/vast"
)

// Context is what a system is given to run with. It is valid until the function that got it returns, and for the goroutine
// that runs this function only.
type Context struct {
	schedule *Schedule
	system   *node
	worker   *worker // that runs it
	sequence int     // where in the system's course it is; commands go by it
	part     bool    // whether it was made for one batch
	job      *job    // kept for the next Each
	results  []any   // kept for the next Reduce
}

// sequenceBits of a position tell where in its system's course a command was recorded, those above which system it was.
const sequenceBits = 20 + bits.UintSize/64*20

// of returns the schedule. It panics for a Context that no schedule has made.
func (c *Context) of() *Schedule {
	if c == nil || c.schedule == nil {
		panic("sched: the zero Context belongs to no schedule: use the one that a system is given")
	}
	return c.schedule
}

// World returns the world.
func (c *Context) World() *vast.World { return c.of().world }

// System returns the name of the system that runs.
func (c *Context) System() string {
	c.of()
	return c.system.Name
}

// Tick returns the number of the tick; the first one is 1.
func (c *Context) Tick() uint64 { return c.of().number }

// Delta returns the simulated time that passes in a tick: always the same, however long ticks take.
func (c *Context) Delta() time.Duration { return c.of().step }

// Seconds returns [Context.Delta] in seconds.
func (c *Context) Seconds() float64 { return c.of().step.Seconds() }

// Seed returns the schedule's seed.
func (c *Context) Seed() uint64 { return c.of().options.Seed }

// Commands returns what structural changes are recorded in. They are applied when all systems of the phase are done, and
// before an exclusive system: first those of the system that comes first in the order that one worker runs them in, and
// those of one system in the order of its own course, batch after batch. So it does not matter which worker recorded what.
//
// The Commands are for this Context: do not keep them, and do not call their At. Entities that they return are
// placeholders until they are applied, of use to the same Context only.
func (c *Context) Commands() *vast.Commands {
	s := c.of()
	if c.job.underWay() {
		panic(fmt.Sprintf("sched: system %q uses its own Context in a part of Each, Split or Reduce: use the one that the part is "+
			"given", c.system.Name))
	}
	commands := c.worker.ownCommands(s)
	c.settle()
	return commands
}

// ownCommands returns the worker's Commands, which are made when they are first needed.
func (w *worker) ownCommands(s *Schedule) *vast.Commands {
	if w.commands == nil {
		w.commands = s.world.NewCommandsWith(s.options.Commands)
	}
	return w.commands
}

// settle makes what the worker records from now on belong to where the Context is. Not more often than need be: what is
// recorded between two calls of At takes some room of its own.
func (c *Context) settle() {
	w := c.worker
	if position := c.system.place<<sequenceBits | c.sequence; !w.recorded || w.position != position {
		w.commands.At(position)
		w.recorded, w.position = true, position
	}
}

// advance takes n places of the system's course.
func (c *Context) advance(n int) {
	if c.sequence += n; c.sequence >= 1<<sequenceBits {
		panic(fmt.Sprintf("sched: system %q made more than %d batches in a tick: make them larger", c.system.Name, 1<<sequenceBits))
	}
}
