package inspect

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/probe"
)

// maxLooking bounds the number of requests that visit the world or wait for a visit.
const maxLooking = 32

// errImpatient cancels a visit that was not admitted in time.
var errImpatient = errors.New("inspect: the visit was not admitted in time")

// look visits the world (see [vast.World.Visit]): it calls f between ticks until f returns true. A call of f
// must take at most a quarter of a millisecond. f copies the data that the request needs, and the caller does
// the expensive work after look has returned.
func (in *Inspector) look(ctx context.Context, f func() (done bool)) error {
	select {
	case in.looking <- struct{}{}:
		defer func() { <-in.looking }()
	default:
		return tooBusy("%d requests already read the world: try again", maxLooking)
	}
	in.looks.Add(1)
	defer in.looks.Done()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	patience := time.AfterFunc(in.options.Patience, func() { cancel(errImpatient) })
	defer patience.Stop()
	err := in.world.Visit(ctx, func() bool {
		patience.Reset(in.options.Patience)
		return in.model.read(in.world) && f()
	})
	switch {
	case err == nil || errors.Is(err, vast.ErrClosed):
		return err
	case context.Cause(ctx) == errImpatient:
		return &problem{Status: http.StatusServiceUnavailable, Code: "notAdmitted", Retry: 1,
			Message: "the program has not admitted the inspector for " + in.options.Patience.String() +
				": it must run a sched.Schedule or call World.Admit once a tick"}
	case errors.Is(err, context.DeadlineExceeded):
		return &problem{Status: http.StatusServiceUnavailable, Code: "time",
			Message: "the request took too long: request less data"}
	}
	return err
}

// entity returns the living entity with an ID such as 17.3. Call entity only in a visit.
func (in *Inspector) entity(id string) (vast.Entity, bool) { return entityWith(in.world, id) }

// entityWith returns the living entity with an ID. Call entityWith on the goroutine that owns the world.
func entityWith(w *vast.World, id string) (vast.Entity, bool) {
	slot, generation, ok := parseID(id)
	if !ok {
		return vast.Entity{}, false
	}
	e, ok := probe.EntityAt(w, slot)
	return e, ok && e.Generation() == generation
}

// parseID parses the format of vast.Entity.String.
func parseID(id string) (slot int, generation uint32, ok bool) {
	a, b, found := strings.Cut(id, ".")
	s, err := strconv.ParseUint(a, 10, 31)
	g, err2 := strconv.ParseUint(b, 10, 32)
	return int(s), uint32(g), found && err == nil && err2 == nil
}
