package earth

import (
	"github.com/vastgo/vast"
	"github.com/vastgo/vast/sched"
)

// Tick lets a minute pass: it runs the systems, which look at the world, change values and record what else is to happen,
// and then the changes of structure that they recorded, system by system, region by region.
//
// It returns a [*vm.Error] when there is no memory for those to be born. Then nothing has changed, and Tick may be called
// again when there is room. It allocates nothing on the Go heap, but for what the world needs when it grows.
//
// It lets no visitors of the [Earth.World] in: call vast.World.Admit between ticks for that.
func (e *Earth) Tick() error {
	e.mustBeOpen("Tick")
	e.now = uint32(e.ticks + 1)
	r := &e.region[e.turn()]
	r.births = e.births(e.turn(), e.now)
	if err := e.prepareBirths(r); err != nil {
		return err
	}
	before := e.world.Changes()
	if err := e.schedule.Tick(); err != nil {
		return err
	}
	e.changes += e.world.Changes() - before
	e.ticks++
	return nil
}

// turn is the region whose health, deaths and births are looked at in the tick under way.
func (e *Earth) turn() int { return int(e.now % regions) }

// look is what a system does in one region: it writes values of nobody's but of the region's travellers, and records what
// else is to happen.
type look func(r *region, now uint32, commands *vast.Commands)

// newSchedule returns the systems of a tick. All of them may run at once, and those that look at many regions are divided
// by them. The order in which they are added is that in which the changes are made: deaths come after all that refers to
// the living, and births after deaths, whose slots they use again.
func (e *Earth) newSchedule(workers int) *sched.Schedule {
	s := sched.New(e.world, sched.Options{Workers: workers, Visits: -1})
	s.Add(sched.System{
		Name:   "leave",
		Reads:  sched.Columns(e.site, e.life, e.home, e.at),
		Writes: sched.Columns(e.stay),
		Run: e.inRegions(regions/leaveEvery, func(i int) int { return i*leaveEvery + int(e.now%leaveEvery) },
			e.leave),
	})
	s.Add(sched.System{
		Name:   "move",
		Reads:  sched.Columns(e.site, e.life, e.home),
		Writes: sched.Columns(e.body, e.trip),
		Run:    e.inRegions(regions, func(i int) int { return i }, e.move),
	})
	for _, sys := range [...]struct {
		name  string
		reads []vast.AnyColumn
		run   look
	}{
		{"examine", sched.Columns(e.presence, e.life, e.at, e.infectious, e.recovered), e.examine},
		{"mourn", sched.Columns(e.life), e.mourn},
		{"bear", sched.Columns(e.site), e.bear},
	} {
		s.Add(sched.System{Name: sys.name, Reads: sys.reads, Run: func(c *sched.Context) {
			sys.run(&e.region[e.turn()], e.now, c.Commands())
		}})
	}
	return s
}

// once divides n parts of work among the workers.
func (e *Earth) once(n int, part func(c *sched.Context, i int)) error {
	s := sched.New(e.world, sched.Options{Workers: e.workers, Visits: -1})
	defer s.Close()
	s.Add(sched.System{Name: "once", Run: func(c *sched.Context) { c.Split(n, part) }})
	return s.Tick()
}

// inRegions returns the work of a system that looks at several regions: the i-th of n is the one that which says.
func (e *Earth) inRegions(n int, which func(i int) int, look look) func(*sched.Context) {
	part := func(c *sched.Context, i int) { look(&e.region[which(i)], e.now, c.Commands()) }
	return func(c *sched.Context) { c.Split(n, part) }
}
