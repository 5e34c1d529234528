package observe

import (
	"math/bits"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/bulk"
)

// entities is a list of entities off the Go heap. To empty the list, set n to 0: the memory stays committed.
type entities struct {
	array *bulk.Array[vast.Entity]
	n     int // number of entities; later elements of the array are unused
}

func newEntities(name string, w *vast.World) (entities, error) {
	o := w.Options()
	// add may make room for a whole word more than it needs.
	array, err := bulk.NewArray[vast.Entity](bulk.Options{Name: name, Capacity: o.MaxEntities + 64,
		Limit: o.Limit, Pages: o.Pages})
	return entities{array: array}, err
}

// add appends an entity for each bit of mask: bit i stands for slot word*64+i and generation generations[i].
// On failure the list has not changed.
func (l *entities) add(word int, mask uint64, generations *[64]uint32) error {
	if l.array.Len()-l.n < 64 {
		if _, err := l.array.AppendN(64); err != nil {
			return err
		}
	}
	room := l.array.Slice()[l.n:]
	l.n += bits.OnesCount64(mask)
	for i := 0; mask != 0; mask &= mask - 1 {
		at := bits.TrailingZeros64(mask) & 63
		room[i] = vast.EntityOf(uint64(generations[at])<<32 | uint64(word*64+at))
		i++
	}
	return nil
}

// all returns the entities. The slice is valid until the list is emptied or closed.
func (l *entities) all() []vast.Entity { return l.array.Slice()[:l.n] }

func (l *entities) close() error {
	if l.array == nil {
		return nil
	}
	return l.array.Close()
}
