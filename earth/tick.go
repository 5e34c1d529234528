package earth

// Tick lets a minute pass. First all workers look at the world, each at other regions at a time: they move those who are
// on their way, and collect who sets out, arrives, falls ill, recovers and dies. Nobody changes the structure meanwhile.
// Then one goroutine changes it, region by region, and births follow.
//
// It returns a [*vm.Error] when there is no memory for those to be born. Then nothing has changed, and Tick may be called
// again when there is room. It allocates nothing on the Go heap, but for what the world needs when it grows.
func (e *Earth) Tick() error {
	e.mustBeOpen("Tick")
	e.now = uint32(e.ticks + 1)
	turn := e.turn()
	births := e.births(turn, e.now)
	if err := e.prepareBirths(&e.region[turn], births); err != nil {
		return err
	}

	e.workers.run(jobs, e.look)

	for i := range e.region {
		if e.looksForLeavers(i) {
			e.setOut(&e.region[i])
		}
		e.arrive(&e.region[i])
	}
	e.changeHealth()
	// Deaths come after all that refers to the living, and births after deaths, whose slots they use again.
	e.bury()
	e.bear(&e.region[turn], births, e.now)
	e.bornInTicks += births
	e.ticks++
	return nil
}

// turn is the region that is looked at in the tick under way.
func (e *Earth) turn() int { return int(e.now % regions) }

// The jobs of a tick, the long ones first.
const (
	jobExamine = iota
	jobMourn
	firstLeave
	firstMove = firstLeave + regions/leaveEvery
	jobs      = firstMove + regions
)

// looksForLeavers reports whether those whose stay has ended are looked for in a region in the tick under way.
func (e *Earth) looksForLeavers(region int) bool { return region%leaveEvery == int(e.now%leaveEvery) }

// lookAt does one job. It writes values of entities that no other job reads or writes, and buffers of its own.
func (e *Earth) lookAt(job int) {
	switch {
	case job == jobExamine:
		e.examine(&e.region[e.turn()], e.now)
	case job == jobMourn:
		e.mourn(&e.region[e.turn()], e.now)
	case job < firstMove:
		e.leave(&e.region[(job-firstLeave)*leaveEvery+int(e.now%leaveEvery)], e.now)
	default:
		e.move(&e.region[job-firstMove], e.now)
	}
}
