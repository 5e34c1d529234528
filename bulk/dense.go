package bulk

import (
	"math"
	"math/bits"
	"unsafe"

	"github.com/vastgo/vast/internal/generation"
	"github.com/vastgo/vast/internal/invariants"
)

// Dense is bulk data without holes: its elements lie side by side, so that [Dense.Slice] returns all of them
// in one slice. When an element is removed, the last element moves into its place ("swap-and-pop"). A
// [Handle] finds its element after the element has moved, and detects the element's removal.
//
// A Dense has the methods of a [Pool], so that it can replace a Pool. There are three differences:
//
//   - A removal moves an element: afterwards a pointer to an element may point to another element, or to
//     none. Insert moves nothing.
//   - Get reads one more memory location: the table entry with the element's index. Runs yields indices, not
//     slots; [Dense.Index] and [Dense.HandleAt] translate between handles and indices.
//   - A loop over all elements is as fast as a loop over a slice, no matter how many elements were removed.
//     Clear takes a step for each element and for each 64 slots; Clear of a Pool without a callback takes a
//     step for each 64 slots only.
//
// Use a Dense if the program often visits all elements, and inserts and removes elements in between.
// Otherwise use a Pool. "Data Structures Part 1: Bulk Data" (Niklas Gray) compares the two containers and
// describes the table between handles and elements.
//
// One goroutine may change a dense at a time, while no other goroutine reads it. While no goroutine changes
// the dense, any number of goroutines may call Get, Valid, Len, Index, HandleAt, Slice, All and Runs. The
// caller must synchronize access to the contents of elements.
type Dense[T any] struct {
	base     unsafe.Pointer // the first element
	locators unsafe.Pointer // a locator for each slot
	owners   unsafe.Pointer // for each element the slot of its handle, a uint32
	tag      generation.Mark
	slots
	elements denseSpan
	tables   [2]denseSpan // the memory of locators and owners
}

// locator is the entry of a slot in the table between handles and elements.
type locator struct {
	generation uint32 // the generation of the slot; 0 if the slot was never taken
	number     uint32 // the element's index + 1; 0 for a slot without an element
}

const (
	bytesLocator = int(unsafe.Sizeof(locator{}))
	bytesOwner   = 4
	maxDense     = min(1<<32-1, math.MaxInt) // elements, so that an index + 1 fits into locator.number
)

// NewDense makes an empty dense. It reserves addresses and takes no memory.
//
// NewDense returns the errors of [vm.Reserve]. It panics when T holds Go pointers or an option is negative.
func NewDense[T any](o Options) (*Dense[T], error) {
	plan, err := newPlan[T]("Dense", o, maxDense)
	if err != nil {
		return nil, err
	}
	sizes := sizesTables(plan.capacity)
	s, err := newSlots(plan, o, sizes[:])
	if err != nil {
		return nil, err
	}
	d := &Dense[T]{slots: s, tag: generation.NewMark()}
	if err := d.carve(); err != nil {
		_ = d.region.Close()
		return nil, err
	}
	return d, nil
}

// sizesTables returns the bytes of the locators and of the owners for a number of slots.
func sizesTables(slots int) [2]int {
	return [2]int{max(1, slots) * bytesLocator, max(1, slots) * bytesOwner}
}

func (d *Dense[T]) carve() (err error) {
	for i, bytes := range sizesTables(d.plan.capacity) {
		if d.tables[i], err = carve(d.region, bytes); err != nil {
			return err
		}
	}
	d.locators, d.owners = d.tables[0].Base(), d.tables[1].Base()
	if d.elements, err = carve(d.region, max(1, d.plan.capacity*d.plan.sizeElement)); err != nil {
		return err
	}
	d.elements.Label(d.plan.label("element"))
	d.base = d.elements.Base()
	return nil
}

// The next three methods are sound for slots and indices below room: the memory is committed and stays at its
// address until Close, and T holds no Go pointers.

func (d *Dense[T]) element(i uint) *T {
	var v T
	return (*T)(unsafe.Add(d.base, i*uint(unsafe.Sizeof(v))))
}

func (d *Dense[T]) locator(slot uint) *locator {
	return (*locator)(unsafe.Add(d.locators, slot*uint(bytesLocator)))
}

func (d *Dense[T]) owner(i uint) *uint32 { return (*uint32)(unsafe.Add(d.owners, i*bytesOwner)) }

// Insert puts v behind the last element and returns the element's handle and address. If there is no room,
// Insert panics with the [*vm.Error] that [Dense.Grow] would return, and the dense is unchanged.
//
// Complexity: constant, except that the search for a free slot takes one step for each 262,144 taken slots.
func (d *Dense[T]) Insert(v T) (Handle[T], *T) {
	h, e := d.take()
	*e = v
	return h, e
}

// InsertZero is [Dense.Insert] of a zero element. The caller then sets the fields. See [Pool.InsertZero].
func (d *Dense[T]) InsertZero() (h Handle[T], e *T) {
	h, e = d.take()
	// The struct has the layout of its only field. Without the struct, Go would clear an array by a function
	// call.
	*(*struct{ element T })(unsafe.Pointer(e)) = struct{ element T }{}
	return
}

// take takes the place behind the last element. The place has undefined contents, which the caller must
// overwrite as a whole.
func (d *Dense[T]) take() (Handle[T], *T) {
	free := ^*d.word(d.hint) &^ d.skip
	slot := d.hint*wordBits + uint(bits.TrailingZeros64(free))
	if free == 0 || slot >= d.room {
		slot = d.search(d)
	}
	if invariants.Enabled {
		d.mustBeFree(uint(d.len))
	}
	w := d.word(slot / wordBits)
	before := *w
	if after := before | 1<<(slot%wordBits); before != 0 && after != full {
		*w = after
	} else {
		d.live.Store(slot/wordBits, after) // this also updates the summaries
	}
	l := d.locator(slot)
	g := generation.Next(l.generation, d.tag)
	if generation.Exhausted(g) {
		d.retire(slot)
	}
	i := uint(d.len)
	d.len++
	*l = locator{g, uint32(i) + 1}
	*d.owner(i) = uint32(slot)
	if invariants.Enabled {
		d.changed(d)
	}
	return Handle[T]{uint32(slot), g}, d.element(i)
}

// Remove removes the element of h, moves the last element into its place, and reports whether h had an
// element. The next Insert may take the slot of h again. Complexity: constant; one element is copied, and the
// table between handles and elements changes for two slots.
func (d *Dense[T]) Remove(h Handle[T]) bool {
	slot := uint(h.slot)
	i := d.Index(h)
	if i < 0 {
		return false
	}
	// If h has the last element, this copies the element to itself, which costs less than a test.
	last := uint(d.len) - 1
	moved := *d.owner(last)
	*d.element(uint(i)) = *d.element(last)
	*d.owner(uint(i)) = moved
	d.locator(uint(moved)).number = uint32(i) + 1
	d.locator(slot).number = 0
	d.len--
	w := d.word(slot / wordBits)
	before := *w
	if after := before &^ (1 << (slot % wordBits)); after != 0 && before != full && slot/wordBits >= d.hint {
		*w = after
	} else {
		d.free(slot/wordBits, after)
	}
	if invariants.Enabled {
		d.poison(last, 1)
		d.changed(d)
	}
	return true
}

// Valid reports whether the element of h is live. Complexity: constant.
func (d *Dense[T]) Valid(h Handle[T]) bool { return d.Index(h) >= 0 }

// Get returns the address of the element of h, or nil if the element was removed or h is of another
// container. The address is valid until an element is removed. Complexity: constant.
func (d *Dense[T]) Get(h Handle[T]) *T {
	// This repeats Index: the compiler would not inline Get with a call of Index.
	if uint(h.slot) >= d.room {
		d.mustBeOpen()
	} else if l := d.locator(uint(h.slot)); l.generation == h.generation && l.number != 0 {
		return d.element(uint(l.number) - 1)
	}
	return nil
}

// Len returns the number of elements; 0 after Close.
func (d *Dense[T]) Len() int { return d.len }

// Clear removes all elements. If f is not nil, Clear first calls f with each element in ascending order of
// slots; f must not change the dense. If f panics, Clear removes nothing. The memory stays committed for the
// next elements: Trim and Close give it back. Complexity: one step for each element, and one for each 64
// slots.
func (d *Dense[T]) Clear(f func(Handle[T], *T)) {
	d.mustBeOpen()
	if f != nil {
		for h, e := range d.All() {
			f(h, e)
		}
	}
	for i := range uint(d.len) {
		d.locator(uint(*d.owner(i))).number = 0
	}
	if invariants.Enabled {
		d.poison(0, d.len)
	}
	d.slots.clear()
	if invariants.Enabled {
		d.checkInvariants()
	}
}

// Close gives the memory and the addresses back. Afterwards the elements must not be used, and the methods of
// the dense panic, except Len and the methods that count bytes. A second Close does nothing.
func (d *Dense[T]) Close() error {
	if d.ended != nil {
		return nil
	}
	if invariants.Enabled {
		d.checkInvariants()
	}
	return d.slots.close()
}
