package probe

import (
	"github.com/vastgo/vast"
	"github.com/vastgo/vast/vm"
)

// Reservation is a large piece of address space that a world has reserved for its arrays. All methods of
// Reservation except Look may be called from any goroutine and at any time, even after the world was closed.
type Reservation struct {
	r *vm.Region
}

// Reservations returns the reservations that w has made so far. A reservation keeps its index until w is
// closed.
func Reservations(w *vast.World) []Reservation {
	regions := engine.Regions(w)
	all := make([]Reservation, len(regions))
	for i, r := range regions {
		all[i] = Reservation{r}
	}
	return all
}

// Address returns the address of the first byte, as a number for display. To read memory, pass offsets to
// [Reservation.Look].
func (r Reservation) Address() uintptr { return uintptr(r.r.Base()) }

// Bytes returns the size of the reservation.
func (r Reservation) Bytes() int { return r.r.Size() }

// Committed returns how many of the bytes are committed.
func (r Reservation) Committed() int { return r.r.Committed() }

// Pages appends the states of the pages in [off, off+n) to the slice dst, as [vm.Region.Pages] does.
func (r Reservation) Pages(off, n int, dst []vm.PageRun) ([]vm.PageRun, error) {
	return r.r.Pages(off, n, dst)
}

// Look calls f with the committed bytes in [off, off+n), as [vm.Region.Look] does. Call Look only where the
// program may read the world, such as in [vast.World.Visit], because a write to a component changes these
// bytes. f must not use the world. If f reads a page that has taken no memory yet, the system maps a page of
// zeros there. [Reservation.Pages] tells which pages are in memory.
func (r Reservation) Look(off, n int, f func(off int, b []byte)) { r.r.Look(off, n, f) }
