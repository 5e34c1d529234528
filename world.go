package vast

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"sync/atomic"
	"unsafe"

	"github.com/vastgo/vast/internal/bitset"
	"github.com/vastgo/vast/internal/generation"
	"github.com/vastgo/vast/internal/rooms"
	"github.com/vastgo/vast/vm"
)

// Options say how a world is made. The zero value works.
type Options struct {
	// Name is the world's name in statistics, and the purpose under which vm counts its memory. Default:
	// "world".
	Name string
	// MaxEntities is the largest number of slots, rounded up to a multiple of 64. It costs addresses only:
	// for each slot, the size of an element of every column and a few bytes. Default: 16,777,216; on Windows,
	// where reserved addresses cost memory, 1,048,576; on the heap stand-in, which takes memory for all
	// slots, 65,536.
	MaxEntities int
	// Limit is a budget of committed memory, shared with other worlds and containers. Default:
	// [vm.DefaultLimit].
	Limit *vm.Limit
	// Pages is the page policy. Default: small pages, and huge pages where the entities of an archetype are
	// dense.
	Pages vm.Pages
	// Mark is the mark that the world's entities carry, 1 to 255. An entity of a world with another mark is
	// stale in this world. Set Mark if entities of one process can reach a world of another process. For
	// example, region r of a cluster can have the mark 1 + r%255. Two worlds may have the same mark. If Mark
	// is set, store.Load refuses a file with another mark. Default: the next mark in this process, and after
	// store.Load the mark in the file.
	Mark uint8
}

// World holds entities and the columns of their components. Make a World with [NewWorld].
//
// A world is not safe for use by several goroutines at once, with one exception: while nothing changes its
// structure, any number of goroutines may look up entities, run queries, and write to different elements.
type World struct {
	options Options
	calling callback        // the user's function that an operation is calling now
	mark    generation.Mark // the mark that this world's generations carry
	marked  bool            // whether the program has chosen the mark
	// alignment is the size of a huge page on the machine on which the world was made: see align.
	alignment int
	closed    bool
	memory    memory
	quoted    string // the name in quotes, for labels

	// The control arrays have one element for each slot or each 64-slot word. prepare carves them.
	size      uint32         // number of slots for which the control arrays are committed, a multiple of 64
	gens      unsafe.Pointer // generation of each slot, uint32
	owners    unsafe.Pointer // owner of word 0; the owners of other words lie below it
	control   vm.Seam        // owners below, generations above
	live      *bitset.Set    // slots that hold an entity
	liveWords unsafe.Pointer // live.Words()
	huge      bool           // whether the generations were advised to use huge pages
	all       *query         // World.Query() without columns
	vacant    *bitset.Set    // words below the frontier that no archetype owns; on the Go heap
	frontier  uint32         // the word after the last word that an archetype owns
	floored   uint32         // words from this number on have no floor

	columns    []*column
	distinct   atomic.Int32         // the columns below this number are known to differ in type or name
	watched    []*column            // the columns with hooks, stores or trackers, in the order of columns
	relations  []linked             // relations and edges
	deletion   *deletion            // a buffer for deletions; nil while a deletion calls hooks
	resources  map[reflect.Type]any // pointers to values, by their type
	names      *Names               // nil before the first call of World.Names
	archetypes []*Archetype
	commands   commandsList
	onMove     []func(old, new Entity)
	bySet      map[string]*Archetype // archetypes by the set of their columns; nil while there are few
	extents    []*extent             // by number; nil for extents that were given back
	unusedIDs  []uint32              // numbers of given-back extents

	unusedMarks []*marks          // marks of closed trackers
	sizes       []columnCommitted // sizes of columns whose growth may be undone: see committed

	worn    int    // number of slots at their last generation; if 0, deletions skip the check for such slots
	changes uint64 // number of structural changes so far
	checked uint64 // value of changes at the last check, in builds that check invariants
	last    operation

	restored [][2]uint32 // lowest and highest generation of each word, during a restoration; nil otherwise

	visits visits
	// settle blocks until the world may be written to: see OnSettle. It is nil unless package store has
	// registered a function.
	settle func()
}

// NewWorld returns an empty world. It reserves no addresses. The first column or entity does. It panics if
// MaxEntities is negative or beyond the range of slot numbers.
func NewWorld(o Options) *World {
	if o.Name == "" {
		o.Name = "world"
	}
	if o.MaxEntities == 0 {
		o.MaxEntities = defaultEntities(o.Pages)
	}
	const most = min(1<<32-64, math.MaxInt/64&^63) // the bytes of the control arrays must fit in an int
	if o.MaxEntities < 0 || o.MaxEntities > most {
		panic(fmt.Sprintf("vast: NewWorld: MaxEntities is %d: use 1 to %d, or 0 for the default",
			o.MaxEntities, most))
	}
	o.MaxEntities = (o.MaxEntities + 63) &^ 63
	w := &World{options: o, marked: o.Mark != 0, alignment: vm.HugePageSize()}
	if w.marked {
		w.setMark(generation.MarkOf(o.Mark))
	} else {
		w.setMark(generation.NewMark())
	}
	return w
}

func (w *World) setMark(m generation.Mark) { w.mark, w.options.Mark = m, m.Number() }

// markPool gives the mark that the program has chosen for the world, if any, to a new pool of the world. Then
// worlds with the same chosen mark and the same history are saved as the same bytes.
func (w *World) markPool(p rooms.Pool) {
	if w.marked {
		p.SetMark(w.mark)
	}
}

// Options returns the world's options, with the defaults filled in.
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
	return e.slot < w.size && *w.generation(e.slot) == e.generation &&
		*w.liveWord(e.slot / 64)>>(e.slot%64)&1 != 0
}

// Close releases the world's memory. The process keeps up to 1 MiB of pages of small worlds for later worlds.
// No limit counts these pages: see vm.Options.Recycle. Every entity becomes stale. Pointers and slices into
// columns must not be used any more. Making entities, columns or queries panics. A second Close only tries
// again to release memory that the first Close could not release.
func (w *World) Close() error {
	if w.closed {
		return w.release()
	}
	w.mustNotBeInCallback(opClose)
	w.settled()
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

// release releases all memory. After a failure, another call tries to release the remaining memory.
func (w *World) release() error {
	errs := w.commands.close()
	for _, c := range w.watched {
		if c.store != nil {
			errs = append(errs, c.store.close())
		}
	}
	if err := w.memory.close(); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func (w *World) mustBeOpen(what string) {
	if w.closed {
		panic(closedMessage(what, w))
	}
}

func closedMessage(what string, w *World) string {
	return fmt.Sprintf("vast: %s on the closed world %q: do not use a world after Close", what,
		w.options.Name)
}

// generation returns the address of a slot's generation. It is sound for slots below w.size: the array is
// committed up to w.size, never moves and holds no Go pointers.
func (w *World) generation(slot uint32) *uint32 {
	return (*uint32)(unsafe.Add(w.gens, uintptr(slot)*4))
}

// entityIn returns the entity in a slot. The slot must be below w.size and must hold an entity.
func (w *World) entityIn(slot uint32) Entity { return Entity{slot, *w.generation(slot)} }

// liveWord returns the address of a word of live bits. It is sound for words below w.size/64, for the same
// reasons as generation.
func (w *World) liveWord(word uint32) *uint64 {
	return (*uint64)(unsafe.Add(w.liveWords, uintptr(word)*8))
}

// owner describes the owner of a 64-slot word.
type owner struct {
	// extra has a bit, the column's number modulo 64, for each column that an entity of the word gained after
	// its birth. extra may have more bits set than needed.
	extra  uint64
	extent uint32 // number of the extent that the word belongs to
	floor  uint32 // at least as high as every generation that Trim discarded from the word
}

const (
	bytesOwner       = int(unsafe.Sizeof(owner{}))
	bytesGenerations = 64 * 4 // bytes of the generations of one word
	// controlLead is the offset of the generations in their first page. The owners of the first words lie
	// before the generations in the same page.
	controlLead = 256
)

// owner returns the address of a word's owner. It is sound for words below w.size/64, for the same reasons as
// generation.
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
	w.quoted = strconv.Quote(w.options.Name)
	r.Label(span.Offset(), span.Size(), vm.Label{
		What:   "the entities of world " + w.quoted,
		Advice: "take Entity values from births and queries only, and do not use them after Close",
	})
	w.control = span.Seam(owners+controlLead, bytesOwner, bytesGenerations)
	w.gens = w.control.Base()
	w.owners = unsafe.Add(w.gens, -bytesOwner)
	w.live, w.vacant = live, bitset.NewOnHeap()
	w.liveWords = w.live.Words()
	w.all = (&query{world: w, hi: math.MaxUint}).compile().q
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
		// Look-ups read generations in any order, and huge pages save them address translations. If the
		// advice fails, the world works with small pages.
		w.huge = true
		_ = w.control.Region().Huge(w.control.Offset()-controlLead, 4*w.options.MaxEntities)
	}
	w.measure()
	return nil
}

// measure counts the slots for which the control arrays are committed.
func (w *World) measure() {
	slots := min(w.control.Above()/4, w.control.Below()/bytesOwner*64, w.live.Len(), w.vacant.Len()*64,
		w.options.MaxEntities)
	w.size = uint32(slots) &^ 63
}

// Slots returns the end of the slots in use: the slot of every living entity is lower than the result.
// Complexity: constant.
func (w *World) Slots() int {
	if w.closed {
		return 0
	}
	return int(w.frontier) * 64
}
