package earth

import (
	"github.com/vastgo/vast"
	"github.com/vastgo/vast/sched"
)

// Tick advances the world by one minute. It runs the systems, which read the world, change values and record
// structural changes. Then it applies these changes, system by system and cohort by cohort.
//
// It returns a [*vm.Error] if there is no memory for the newborn. Then nothing has changed, and Tick may be
// called again when there is room. If a folder keeps the world, Tick also returns the error of a store that
// cannot go on. Tick allocates nothing on the Go heap, except for the world's growth and for checkpoints.
//
// It does not admit visitors of the [Earth.World]: call vast.World.Admit between ticks to admit them.
func (e *Earth) Tick() error {
	e.mustBeOpen("Tick")
	if err := e.prepare(); err != nil {
		return err
	}
	if e.store != nil {
		return e.store.Tick(e.advance)
	}
	return e.advance()
}

// prepare makes room for all that a tick adds, so that a failure comes before the tick begins.
func (e *Earth) prepare() error {
	e.now = uint32(e.ticks + 1)
	r := &e.cohort[e.turn()]
	r.births = e.births(e.turn(), e.now)
	return e.prepareBirths(r)
}

// advance runs the tick for which prepare has made room.
func (e *Earth) advance() error {
	before := e.world.Changes()
	if err := e.schedule.Tick(); err != nil {
		return err
	}
	e.changes += e.world.Changes() - before
	e.ticks++
	return nil
}

// turn returns the index of the cohort whose health, deaths and births the current tick handles.
func (e *Earth) turn() int { return int(e.now % cohorts) }

// look is the work of a system in one cohort. It writes only values of the cohort's travellers, and records
// structural changes.
type look func(r *cohort, now uint32, commands *vast.Commands)

// newSchedule returns the systems of a tick. All systems may run in parallel, and systems that handle several
// cohorts are divided by cohort. Changes are applied in the order in which the systems are added: deaths come
// after all changes that refer to the living, and births after deaths, to reuse the slots of the dead.
func (e *Earth) newSchedule(workers int) *sched.Schedule {
	s := sched.New(e.world, sched.Options{Workers: workers, Visits: -1})
	s.Add(sched.System{
		Name:   "leave",
		Reads:  sched.Columns(e.site, e.life, e.home, e.at),
		Writes: sched.Columns(e.stay),
		Run: e.inCohorts(cohorts/leaveEvery, func(i int) int { return i*leaveEvery + int(e.now%leaveEvery) },
			e.leave),
	})
	s.Add(sched.System{
		Name:   "move",
		Reads:  sched.Columns(e.site, e.life, e.home, e.transit),
		Writes: sched.Columns(e.body, e.trip),
		Run:    e.inCohorts(cohorts, func(i int) int { return i }, e.move),
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
			sys.run(&e.cohort[e.turn()], e.now, c.Commands())
		}})
	}
	return s
}

// inCohorts returns the work of a system on n cohorts: the i-th cohort is which(i).
func (e *Earth) inCohorts(n int, which func(i int) int, look look) func(*sched.Context) {
	part := func(c *sched.Context, i int) { look(&e.cohort[which(i)], e.now, c.Commands()) }
	return func(c *sched.Context) { c.Split(n, part) }
}
