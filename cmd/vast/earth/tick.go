package earth

import (
	"github.com/vastgo/vast"
	"github.com/vastgo/vast/sched"
)

// Tick advances the world by one minute. It runs the systems, which change values and record structural
// changes, and then applies the structural changes, system by system and cohort by cohort.
//
// If there is too little memory, Tick returns a [*vm.Error] and changes nothing. The caller may call Tick
// again when there is more memory. If a folder keeps the world, Tick also returns the errors of the store.
// Tick allocates on the Go heap only for the world's growth and for checkpoints.
//
// Tick does not admit the visitors that wait in World.Visit of the [Earth.World]: call World.Admit between
// ticks.
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

// prepare makes room for everything that the next tick adds. If there is too little memory, the tick fails
// here, before any change.
func (e *Earth) prepare() error {
	e.now = uint32(e.ticks + 1)
	r := &e.cohort[e.turn()]
	r.births = e.births(e.turn(), e.now)
	return e.prepareBirths(r)
}

// advance runs a tick. The caller must have called prepare.
func (e *Earth) advance() error {
	before := e.world.Changes()
	if err := e.schedule.Tick(); err != nil {
		return err
	}
	e.changes += e.world.Changes() - before
	e.ticks++
	return nil
}

// turn returns the index of the cohort whose turn it is in the current tick. The systems examine, mourn and
// bear handle only this cohort.
func (e *Earth) turn() int { return int(e.now % cohorts) }

// cohortWork is the work of a system in one cohort. It does not change the values of entities outside the
// cohort, and it records structural changes as commands.
type cohortWork func(r *cohort, now uint32, commands *vast.Commands)

// newSchedule returns the systems of a tick. All systems may run in parallel, and systems that handle several
// cohorts are divided by cohort. Structural changes are applied in the order in which the systems are added:
// deaths come after all changes that refer to living travellers, and births reuse the slots of the dead.
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
		run   cohortWork
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

// inCohorts returns the work of a system on n cohorts. indexOf returns the index of the i-th cohort.
func (e *Earth) inCohorts(n int, indexOf func(i int) int, work cohortWork) func(*sched.Context) {
	part := func(c *sched.Context, i int) { work(&e.cohort[indexOf(i)], e.now, c.Commands()) }
	return func(c *sched.Context) { c.Split(n, part) }
}
