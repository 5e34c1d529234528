package soak

import (
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"sync/atomic"
)

// churn is one kind of work. The first call of round may open lasting containers: the function close closes
// these containers. Each call of round closes all other containers that it opens.
type churn struct {
	name  string
	round func(r *rand.Rand)
	close func() // nil without lasting containers
}

// tally counts the operations of all churns, which run on several goroutines.
type tally struct {
	operations atomic.Int64
	hostile    atomic.Int64 // forged or stale handles and entities
	wraps      atomic.Int64 // slots that used up all their generations
}

func newChurns(t *tally) []churn {
	return []churn{
		passingTowns(t), lastingTown(t), schedules(t), inspectors(t),
		sequences(t), pools(t), indices(t), shared(t), lastingContainers(t),
		arenas(t), heaps(t), rings(t), guards(t), regions(t), identifiers(t),
		hostileEntities(t), hostileHandles(t), wornPools(t), wornWorlds(t),
	}
}

// wrong is a wrong answer or an error of the library.
type wrong string

func (w wrong) Error() string { return string(w) }

func must(ok bool, format string, a ...any) {
	if !ok {
		panic(wrong(fmt.Sprintf(format, a...)))
	}
}

func mustSucceed(err error) {
	if err != nil {
		panic(wrong(err.Error()))
	}
}

func mustReturn[T any](v T, err error) T {
	mustSucceed(err)
	return v
}

// try runs a part of a churn and returns its panic as an error.
func (c churn) try(part func()) (err error) {
	defer func() {
		switch v := recover().(type) {
		case nil:
		case wrong:
			err = fmt.Errorf("%s: %w\n%s", c.name, v, debug.Stack())
		default:
			err = fmt.Errorf("%s: panic: %v\n%s", c.name, v, debug.Stack())
		}
	}()
	part()
	return nil
}
