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

// Options configure a world. The zero value works.
type Options struct {
	// Name is the world's name in statistics, and the purpose under which vm counts the world's memory.
	// Default: "world".
	Name string
	// MaxEntities is the largest number of slots, rounded up to a multiple of 64. Each slot costs addresses,
	// not memory: the size of an element of every column and a few bytes. Default: 16,777,216. On Windows,
	// where reserved addresses cost memory: 1,048,576. On the heap stand-in, which takes memory for all
	// slots: 65,536.
	MaxEntities int
	// Limit is a budget of committed memory, shared with other worlds and containers. Default:
	// [vm.DefaultLimit].
	Limit *vm.Limit
	// Pages is the page policy. Default: small pages, and huge pages where the entities of an archetype are
	// dense.
	Pages vm.Pages
	// Mark is the mark that the world's entities carry, 1 to 255. An entity of a world with another mark is
	// stale in this world. Two worlds may have equal marks. Set Mark if entities of one process can reach a
	// world of another process. For example, region r of a cluster can have the mark 1 + r%255. If Mark is
	// set, store.Load refuses a file with another mark. Default: the next mark in this process. After
	// store.Load: the mark in the file.
	Mark uint8
}

// World holds entities and the columns of their components. Make a World with [NewWorld].
//
// Only one goroutine may use a world at a time, with two exceptions. While nothing changes the world's
// structure, any number of goroutines may look up entities, run queries, and write to different elements.
// Other goroutines may call [World.Visit] at any time.
type World struct {
	options Options
	calling callback        // the user's function that an operation is calling now
	mark    generation.Mark // mark of the world's generations
	marked  bool            // whether the program has chosen the mark
	// alignment is the size of a huge page on the machine that made the world. store.Load restores the saved
	// value. See align.
	alignment int
	closed    bool
	epoch     uint64 // grows when compiled queries become outdated: by Close and NewDisabled
	memory    memory
	quoted    string // the world's name in quotes, for labels

	// The control arrays are gens, owners and live. They have one element for each slot or each 64-slot word.
	// The method prepare carves the control arrays, and sets the fields all and vacant.
	size      uint32         // number of slots for which the control arrays are committed, a multiple of 64
	gens      unsafe.Pointer // array of the slots' generations, uint32
	owners    unsafe.Pointer // address of the owner of word 0; the owners of later words lie below
	control   vm.Seam        // memory of the owners (below) and generations (above)
	live      *bitset.Set    // slots that hold an entity
	liveWords unsafe.Pointer // live.Words()
	huge      bool           // whether reach has requested huge pages for the generations
	all       *query         // the query of World.Query() without columns
	vacant    *bitset.Set    // words below the frontier that no archetype owns; the set is on the Go heap
	frontier  uint32         // the word after the last word that an archetype owns
	floored   uint32         // words from this number on have no floor

	columns    []*column
	distinct   atomic.Int32         // number of columns that are known to differ in type or name
	disabled   []*column            // tags of NewDisabled, in the order of registration
	watched    []*column            // columns with hooks, stores, trackers or groups, sorted by id
	relations  []linked             // relations and edges
	deletion   *deletion            // buffers for the next deletion, or nil
	clones     *copying             // buffers for the next copy of an entity with links, or nil
	joined     joinedPool           // states for walks over queries with joins
	resources  map[reflect.Type]any // pointers to values, by the type of the value
	names      *Names               // nil before the first call of World.Names
	archetypes []*Archetype
	commands   commandsList
	onMove     []func(old, new Entity)
	bySet      map[string]*Archetype // archetypes by the set of their columns; nil if there are few
	extents    []*extent             // extents by number; nil for a number in unusedIDs
	unusedIDs  []uint32              // numbers of former extents, for new extents

	unusedMarks []*marks          // marks of closed trackers
	kept        []*kept           // the open groups
	unusedKept  []*bitset.Set     // sets of closed groups
	sizes       []columnCommitted // stack of the sizes before the growths that are under way: see committed

	worn    int    // number of slots at their last generation
	changes uint64 // number of structural changes
	checked uint64 // value of changes at the last check, in builds that check invariants
	last    operation

	restored [][2]uint32 // lowest and highest generation of each word; nil except during a restoration

	visits visits
	settle func() // blocks until package store allows writing to the world; set by OnSettle, or nil
}

// NewWorld returns an empty world. The world reserves addresses when its first column, entity or query is
// made. NewWorld panics if MaxEntities is negative or beyond the range of slot numbers.
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

// markPool gives a new pool the world's mark, if the program has chosen the mark. Then two worlds with equal
// marks and equal histories are saved as equal bytes.
func (w *World) markPool(p rooms.Pool) {
	if w.marked {
		p.SetMark(w.mark)
	}
}

// Options returns the world's options, with the defaults of Name, MaxEntities and Mark filled in.
func (w *World) Options() Options { return w.options }

// Len returns the number of living entities, also of those that a [Disabled] switches off. Complexity: the
// number of archetypes and extents.
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

// Close makes every entity stale and releases the world's memory. Do not use pointers and slices into columns
// after Close. In a closed world, making entities, columns or queries panics. If Close returns an error,
// another call tries to release the remaining memory. The process keeps up to 1 MiB of pages (more with pages
// of 64 KiB) of small worlds for later worlds. No limit counts these pages: see vm.Options.Recycle.
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
	w.epoch++
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

// release releases all memory. It may be called again, for the memory that is left after a failure.
func (w *World) release() error {
	errs := w.commands.close()
	for _, c := range w.columns {
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

// generation returns the address of a slot's generation. The slot must be below w.size, because the array is
// committed up to this slot. The array never moves and holds no Go pointers.
func (w *World) generation(slot uint32) *uint32 {
	return (*uint32)(unsafe.Add(w.gens, uintptr(slot)*4))
}

// entityIn returns the entity in a slot. The slot must be below w.size and must hold an entity.
func (w *World) entityIn(slot uint32) Entity { return Entity{slot, *w.generation(slot)} }

// liveWord returns the address of a word of live bits. The word must be below w.size/64: see generation.
func (w *World) liveWord(word uint32) *uint64 {
	return (*uint64)(unsafe.Add(w.liveWords, uintptr(word)*8))
}

// owner describes the owner of a 64-slot word.
type owner struct {
	// Bit id%64 of extra is set if an entity of the word gained the column with number id after the entity's
	// birth. Other bits may be set, too.
	extra  uint64
	extent uint32 // number of the extent that has the word
	floor  uint32 // upper bound of the word's generations that Trim has discarded
}

const (
	bytesOwner       = int(unsafe.Sizeof(owner{}))
	bytesGenerations = 64 * 4 // bytes of the generations of one word
	// controlLead is the offset of the generations in their first page. The owners of the first words lie
	// before the generations in the same page.
	controlLead = 256
)

// owner returns the address of a word's owner. The word must be below w.size/64: see generation.
func (w *World) owner(word uint32) *owner {
	return (*owner)(unsafe.Add(w.owners, -int(word)*bytesOwner))
}

// prepare carves the control arrays in its first call.
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
	w.all = w.allTerms().compile().q
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
	if err := w.growDisabled(end); err != nil {
		return err
	}
	if huge := vm.HugePageSize(); huge > 0 && !w.huge && w.control.Above() >= huge {
		// Look-ups read generations in random order, and huge pages save address translations. If the request
		// fails, the world works with small pages.
		w.huge = true
		_ = w.control.Region().Huge(w.control.Offset()-controlLead, 4*w.options.MaxEntities)
	}
	w.measure()
	return nil
}

// measure sets w.size to the number of slots for which all control arrays and the tags of all Disabled are
// committed.
func (w *World) measure() {
	slots := min(w.control.Above()/4, w.control.Below()/bytesOwner*64, w.live.Len(), w.vacant.Len()*64,
		w.options.MaxEntities)
	for _, c := range w.disabled {
		slots = min(slots, c.usable())
	}
	w.size = uint32(slots) &^ 63
	for _, c := range w.disabled {
		c.measure()
	}
}

// Slots returns the end of the slots in use: every living entity has a lower slot. Complexity: constant.
func (w *World) Slots() int {
	if w.closed {
		return 0
	}
	return int(w.frontier) * 64
}
