package vast

import "github.com/vastgo/vast/vm"

// Reservation is one of the large pieces of address space from which a world's columns are carved, for tools that show
// memory. Its methods may be called from any goroutine and at any time, also after the world was closed.
type Reservation struct {
	r *vm.Region
}

// Reservations returns the pieces of address space that the world has reserved so far. They keep their index, and stay
// until the world is closed.
func (w *World) Reservations() []Reservation {
	all := make([]Reservation, len(w.memory.regions))
	for i, r := range w.memory.regions {
		all[i] = Reservation{r}
	}
	return all
}

// Address returns where the reservation begins, as a number to be shown: what lies there is reached by offsets.
func (r Reservation) Address() uintptr { return uintptr(r.r.Base()) }

// Bytes returns the size of the reservation.
func (r Reservation) Bytes() int { return r.r.Size() }

// Committed returns how many of the bytes are committed.
func (r Reservation) Committed() int { return r.r.Committed() }

// Pages appends the states of the pages in [off, off+n) to into, as [vm.Region.Pages] does.
func (r Reservation) Pages(off, n int, into []vm.PageRun) ([]vm.PageRun, error) {
	return r.r.Pages(off, n, into)
}

// Look calls f with the bytes that are committed in [off, off+n), as [vm.Region.Look] does. What lies there changes as
// components do, so that it must not be called beside writing: call it where the world may be read, such as in
// [World.Visit]. Nothing may be asked of the world in f. Reading a page that is not in memory brings the system's page of
// zeros there; see [Reservation.Pages].
func (r Reservation) Look(off, n int, f func(off int, b []byte)) { r.r.Look(off, n, f) }
