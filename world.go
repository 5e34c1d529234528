package vast

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"unsafe"

	"github.com/vastgo/vast/internal/bitset"
	"github.com/vastgo/vast/internal/generation"
	"github.com/vastgo/vast/vm"
)

// Options say how a world is made. The zero value works.
type Options struct {
	// Name is the world's name in statistics, and the purpose under which vm counts its memory. Default: "world".
	Name string
	// MaxEntities is the largest number of slots, rounded up to whole words of 64. It costs addresses only: for each slot the size of every column's
	// element and a few bytes. Default: 16,777,216; where address space is dear 1,048,576, and on the heap stand-in, which
	// takes memory for it at once, 65,536.
	MaxEntities int
	// Limit is a budget of committed memory, shared with other worlds and containers. Default: none.
	Limit *vm.Limit
	// Pages is the page policy. Default: small pages, and huge pages where an archetype is dense.
	Pages vm.Pages
}

// World holds entities and the columns of their components. Make one with [NewWorld].
//
// A world is not safe for use from several goroutines at once, with one exception: while nothing changes its structure,
// any number of goroutines may look entities up and run queries, and write to different elements.
type World struct {
	options Options
	calling callback       // the user's function that an operation has called and not come back from
	mark    generation.Mark // the mark that this world's generations carry
	closed  bool
	memory  memory

	// The control arrays, one element for each slot or each 64-slot word. They are carved on first use.
	size      uint32         // slots for which the control arrays are committed, a multiple of 64
	gens      unsafe.Pointer // generation of each slot, uint32
	owners    unsafe.Pointer // owner of word 0; those of the others lie below it
	control   vm.Seam        // owners below, generations above
	live      *bitset.Set    // slots that hold an entity
	liveWords unsafe.Pointer // live.Words()
	huge      bool           // whether huge pages were asked for behind the generations
	vacant    *bitset.Set    // words below the frontier that no archetype owns; on the Go heap: a bit for each is little
	frontier  uint32         // the first word that was never owned

	columns    []*column
	watched    []*column            // those with hooks, stores or trackers, in the same order
	relations  []linked             // relations and edges
	deletion   *deletion            // kept for the next deletion; nil while one runs
	resources  map[reflect.Type]any // pointers to values, by their type
	names      *Names               // nil where there are none
	archetypes []*Archetype
	commands   commandsList
	bySet      map[string]*Archetype // archetypes by the set of their columns
	extents    []*extent             // by number; nil where it was given back
	unusedIDs  []uint32              // numbers of given-back extents

	unusedMarks []*marks // of closed trackers

	worn    int    // slots at their last generation: with none, removal need not look for them
	changes uint64 // structural changes so far
	checked uint64 // changes at the last check, in builds that check invariants
	last    operation

	visits visits
}

// NewWorld returns an empty world. It reserves nothing before the first column or entity is made. It panics when
// MaxEntities is negative or beyond the range of slot numbers.
func NewWorld(o Options) *World {
	if o.Name == "" {
		o.Name = "world"
	}
	if o.MaxEntities == 0 {
		o.MaxEntities = defaultEntities(o.Pages)
	}
	const most = min(1<<32-64, math.MaxInt/64&^63) // sums of a few bytes for each slot stay far from overflow
	if o.MaxEntities < 0 || o.MaxEntities > most {
		panic(fmt.Sprintf("vast: NewWorld: MaxEntities is %d: use 1 to %d, or 0 for the default", o.MaxEntities, most))
	}
	o.MaxEntities = (o.MaxEntities + 63) &^ 63
	return &World{options: o, mark: generation.NewMark()}
}

// Options returns what the world was made with, with the defaults filled in.
func (w *World) Options() Options { return w.options }

// Len returns the number of living entities. Complexity: the number of extents.
func (w *World) Len() int {
	n := 0
	for _, a := range w.archetypes {
		n += a.Len()
	}
	return n
}

// Alive reports whether e is a living entity of this world.
func (w *World) Alive(e Entity) bool {
	return e.slot < w.size && *w.generation(e.slot) == e.generation && *w.liveWord(e.slot / 64)>>(e.slot%64)&1 != 0
}

// Close gives the world's memory back. Every entity becomes stale; pointers and slices into columns must not be used any
// more, and making entities, columns or queries panics. Closing twice does nothing, except that memory whose giving back
// failed is tried again.
func (w *World) Close() error {
	if w.closed {
		return w.release()
	}
	w.mustNotBeInCallback(opClose)
	if len(w.watched) > 0 {
		w.tellClosing()
	}
	w.closed, w.resources = true, nil
	if w.names != nil {
		w.names.byName = nil
	}
	w.visits.close()
	w.changed(opClose, 1)
	for _, c := range w.columns {
		c.slots = 0
	}
	w.size = 0
	for _, a := range w.archetypes {
		a.extents, a.words, a.at, a.vacancy = nil, 0, nil, &noVacancy
	}
	return w.release()
}

// release gives all memory back. What could not be given back is tried again when it is called again.
func (w *World) release() error {
	var errs []error
	for _, c := range w.watched {
		if c.store != nil {
			errs = append(errs, c.store.close())
		}
	}
	errs = append(errs, w.commands.close()...)
	return errors.Join(append(errs, w.memory.close())...)
}

func (w *World) mustBeOpen(what string) {
	if w.closed {
		panic(closedMessage(what, w))
	}
}

func closedMessage(what string, w *World) string {
	return fmt.Sprintf("vast: %s on the closed world %q: do not use a world after Close", what, w.options.Name)
}

// generation is sound for slots below w.size: the array is committed that far, never moves and holds no Go pointers.
func (w *World) generation(slot uint32) *uint32 {
	return (*uint32)(unsafe.Add(w.gens, uintptr(slot)*4))
}

// liveWord is sound for words below w.size/64, as generation is.
func (w *World) liveWord(word uint32) *uint64 {
	return (*uint64)(unsafe.Add(w.liveWords, uintptr(word)*8))
}

// owner is what the world knows of a 64-slot word.
type owner struct {
	extra  uint64 // columns, by number modulo 64, that were added here to entities not born with them; may hold too many
	extent uint32 // number of the extent that the word belongs to
	floor  uint32 // no generation that Trim took from the word was above it
}

const (
	bytesOwner       = int(unsafe.Sizeof(owner{}))
	bytesGenerations = 64 * 4 // of a word
	// controlLead is how far the generations begin into their page: the first owners share it, of as many words.
	controlLead = 256
)

// owner is sound for words below w.size/64, as generation is.
func (w *World) owner(word uint32) *owner {
	return (*owner)(unsafe.Add(w.owners, -int(word)*bytesOwner))
}

// prepare carves the control arrays.
func (w *World) prepare() error {
	if w.live != nil {
		return nil
	}
	n := w.options.MaxEntities
	page := vm.PageSize()
	align := page
	gens := (controlLead + 4*n + page - 1) &^ (page - 1)
	if huge := vm.HugePageSize(); gens >= huge {
		align = max(align, huge)
	}
	owners := (gens/bytesGenerations*bytesOwner + align - 1) &^ (align - 1)
	need := owners + gens + bitset.Size(n)
	r, err := w.memory.room(w.options, need)
	if err != nil {
		return err
	}
	span, err := r.Carve(owners+gens, align)
	if err != nil {
		return err
	}
	live, err := bitset.New(r, n)
	if err != nil {
		return err
	}
	r.Label(span.Offset(), span.Size(), vm.Label{What: "the entities of world " + strconv.Quote(w.options.Name),
		Advice: "make Entity values by births and queries only, and use none of them after Close"})
	w.control = span.Seam(owners+controlLead, bytesOwner, bytesGenerations)
	w.gens = w.control.Base()
	w.owners = unsafe.Add(w.gens, -bytesOwner)
	w.live, w.vacant = live, bitset.NewOnHeap()
	w.liveWords = w.live.Words()
	return nil
}

// reach commits the control arrays for the slots below end.
func (w *World) reach(end uint32) error {
	if end <= w.size {
		return nil
	}
	n := int(end)
	if err := w.control.CommitTo(4 * n); err != nil {
		return err
	}
	if err := w.vacant.Grow(n / 64); err != nil {
		return err
	}
	if err := w.live.Grow(n); err != nil {
		return err
	}
	if huge := vm.HugePageSize(); huge > 0 && !w.huge && w.control.Above() >= huge {
		// Generations are read for every look-up, in any order: huge pages spare address translations. Without them the
		// world works as well.
		w.huge = true
		_ = w.control.Region().Huge(w.control.Offset()-controlLead, 4*w.options.MaxEntities)
	}
	w.measure()
	return nil
}

// measure counts the slots for which the control arrays are committed.
func (w *World) measure() {
	slots := min(w.control.Above()/4, w.control.Below()/bytesOwner*64, w.live.Len(), w.vacant.Len()*64, w.options.MaxEntities)
	w.size = uint32(slots) &^ 63
}

// Slots returns the end of the slots: the slot of every living entity is below it. Complexity: constant.
func (w *World) Slots() int {
	if w.closed {
		return 0
	}
	return int(w.frontier) * 64
}
