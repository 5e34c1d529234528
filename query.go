package vast

import (
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/vastgo/vast/internal/bitset"
)

// Query chooses the entities that have some components, lack others, and have at least one of further ones. It is a value made once and used again and
// again; running it allocates nothing, and a query needs no registration to be fast. It always sees the world as it is.
//
// Several goroutines may run one query at once while nobody changes the structure.
type Query struct {
	q *query
}

type query struct {
	world  *World
	since  []*Tracker // whose marks the query asks for
	with   []*column
	minus  []*column
	any    [][]*column // groups, of each of which an entity has at least one
	to     []condition // targets that entities are to have: see related.go
	pinned []Run       // what matched at some moment, in place of all conditions
	filter bitset.Filter
	apart  bool // whether walks over it are more than a cursor over the filter: see walk.nextApart

	noted    []*column     // for each of since, the column it is asked about
	changed  []*bitset.Set // and the marks that an entity has
	optional []*column     // runs have each throughout or not at all
	exact    bool          // whether entities with other components are left out
	ids      []uint64      // of an exact query, the numbers of the columns that it names, as bits
	list     []Entity      // when not nil, only these match; in the order of slots
	ranged   bool          // whether only the slots [lo, hi) match
	lo, hi   uint          // all slots where it is not ranged
}

// Query returns the query for the entities that have all the given components; without any, for all entities. It panics
// when a column belongs to another world or is named twice.
func (w *World) Query(cols ...AnyColumn) Query {
	w.mustBeOpen("Query")
	if err := w.prepare(); err != nil {
		panic(err)
	}
	q := &query{world: w, with: w.columnsOf("Query", cols), hi: math.MaxUint}
	q.build()
	return Query{q}
}

// Without returns the query that also leaves out the entities that have any of the given components. It panics when a
// column is of another world, is named twice, or is one that the query asks for, be it as one of several.
func (q Query) Without(cols ...AnyColumn) Query {
	if q.q == nil {
		panic(zeroQuery)
	}
	w := q.q.world
	w.mustBeOpen("Query.Without")
	minus := w.columnsOf("Query.Without", cols)
	for _, c := range minus {
		if slices.Contains(q.q.with, c) {
			panic(fmt.Sprintf("vast: Query.Without: the query asks for %s, so leaving it out leaves nothing", c.name))
		}
		if slices.Contains(q.q.minus, c) {
			panic(fmt.Sprintf("vast: Query.Without: %s is left out already", c.name))
		}
		if slices.Contains(q.q.optional, c) {
			panic(fmt.Sprintf("vast: Query.Without: %s is optional in the query: name it in one of the two", c.name))
		}
		for _, group := range q.q.any {
			if slices.Contains(group, c) {
				panic(fmt.Sprintf("vast: Query.Without: the query has %s among the columns of Any: name it in one of the two", c.name))
			}
		}
	}
	made := *q.q
	made.minus = slices.Concat(q.q.minus, minus)
	made.build()
	return Query{&made}
}

func (q *query) build() {
	and := append(setsOf(q.with), q.changed...)
	var any [][]*bitset.Set
	for _, group := range q.any {
		if len(group) == 1 {
			and = append(and, group[0].set) // one of one is that one
		} else {
			any = append(any, setsOf(group))
		}
	}
	if len(and) == 0 {
		and = append(and, q.world.live)
	}
	q.filter = bitset.NewFilter(and, setsOf(q.minus), any...)
	if q.exact {
		q.ids = q.named()
	}
	q.apart = q.exact || len(q.optional) > 0 || q.list != nil || len(q.to) > 0 || q.ranged
}

func setsOf(columns []*column) (sets []*bitset.Set) {
	for _, c := range columns {
		sets = append(sets, c.set)
	}
	return sets
}

// columnsOf checks the columns that a caller names.
func (w *World) columnsOf(what string, cols []AnyColumn) []*column {
	columns := make([]*column, 0, len(cols))
	for i, col := range cols {
		var c *column
		if col != nil {
			c = col.column()
		}
		switch {
		case c == nil:
			panic(fmt.Sprintf("vast: %s: column %d was not made with NewColumn", what, i+1))
		case c.world != w:
			panic(fmt.Sprintf("vast: %s: column %s belongs to world %q, not to %q", what, c.name, c.world.options.Name,
				w.options.Name))
		case slices.Contains(columns, c):
			panic(fmt.Sprintf("vast: %s: column %s is named twice", what, c.name))
		}
		columns = append(columns, c)
	}
	return columns
}

const zeroQuery = "vast: the zero Query belongs to no world: make queries with World.Query"

// walk is the state of one run of a query.
type walk struct {
	world   *World
	q       *query
	changes uint64
	cursor  bitset.Cursor

	// Of queries that are apart.
	end     uint   // of the run that the cursor is in a part of
	at      int    // the next entity of the list
	bits    uint64 // the list's matches that were not yielded yet, in the word of slot end
	related relatedWalk
}

// next moves to the next run, cursor.Lo to cursor.Hi, and reports whether there is one.
func (k *walk) next() bool {
	if k.q.apart {
		return k.nextApart()
	}
	return k.cursor.Next()
}

// nextApart is next for the queries that need more: it takes one run after the other from where they come from, and
// yields the parts of each that the query wants to be apart.
func (k *walk) nextApart() bool {
	for !k.nextPart() {
		if !k.nextWhole() {
			return false
		}
		k.end, k.cursor.Hi = k.cursor.Hi, k.cursor.Lo
	}
	return true
}

// nextWhole moves the cursor to the next run that is to be looked at for parts.
func (k *walk) nextWhole() bool {
	switch {
	case k.q.pinned != nil:
		return k.nextPinned()
	case k.q.list != nil:
		return k.nextListed()
	case len(k.q.to) > 0:
		return k.nextRelated()
	}
	return k.nextBetween()
}

// nextPart moves the cursor to the next part of what is left of a run, from the cursor's Hi to the end.
func (k *walk) nextPart() bool {
	for lo := k.cursor.Hi; lo < k.end; {
		hi := k.q.alike(lo, k.end)
		if k.q.exact {
			from, to := k.q.pure(uint32(lo), uint32(hi))
			if from == to {
				lo = hi
				continue
			}
			lo, hi = uint(from), uint(to)
		}
		k.cursor.Lo, k.cursor.Hi = lo, hi
		return true
	}
	return false
}

func (k *walk) start(q *query) {
	if q == nil {
		panic(zeroQuery)
	}
	k.world, k.q, k.changes = q.world, q, q.world.changes
	if q.world.closed {
		q.world.mustBeOpen("Query")
	}
	if q.since != nil {
		q.settle()
	}
	k.cursor.Start(&q.filter, uint(q.world.frontier))
	if q.apart {
		k.startApart()
	}
}

// startApart is what starting takes for queries that need more.
func (k *walk) startApart() {
	if len(k.q.to) > 0 {
		k.startRelated()
	}
	if k.q.ranged {
		k.startBetween(0, k.cursor.End())
		k.startList(k.q.lo)
	}
}

// nextWord moves to the next word with matches and returns it with their mask, which is zero where there is none.
func (k *walk) nextWord() (word uint, mask uint64) {
	for {
		if k.q.list != nil {
			word, mask = k.nextListedWord()
		} else {
			word, mask = k.cursor.NextWord()
		}
		if mask == 0 || !k.q.apart {
			return word, mask
		}
		if k.q.ranged {
			mask = k.q.inRange(word, mask)
		}
		if len(k.q.to) > 0 && k.q.list == nil {
			mask = k.keepRelated(word, mask)
		}
		if k.q.exact {
			mask &^= k.q.others(uint32(word), mask)
		}
		if mask != 0 {
			return word, mask
		}
	}
}

// run returns the run that the walk is at.
func (k *walk) run() Run {
	return Run{start: uint32(k.cursor.Lo), n: uint32(k.cursor.Hi - k.cursor.Lo), gens: k.world.gens}
}

// check panics when the structure changed since the walk began.
func (k *walk) check() {
	if k.world.changes != k.changes {
		k.world.changedWhile("a query was running")
	}
}

// Runs yields the matching entities as maximal runs of consecutive slots, in ascending order: the fast way through many
// entities, to be used with [Column.Slice]. Values may be changed while it runs; when the structure of the world was
// changed, the next step panics.
func (q Query) Runs() iter.Seq[Run] {
	return func(yield func(Run) bool) {
		var k walk
		k.start(q.q)
		if q.q.apart {
			k.runs(yield)
			return
		}
		for k.cursor.Next() { // not next, which would be a call more for each run
			if !yield(k.run()) {
				return
			}
			k.check()
		}
	}
}

// runs yields the runs that are left.
func (k *walk) runs(yield func(Run) bool) {
	for k.next() {
		if !yield(k.run()) {
			return
		}
		k.check()
	}
}

// All yields the matching entities one by one, in the order of their slots. The rules of [Query.Runs] hold.
func (q Query) All() iter.Seq[Entity] {
	return func(yield func(Entity) bool) {
		var k walk
		k.start(q.q)
		for k.next() {
			for slot := uint32(k.cursor.Lo); slot < uint32(k.cursor.Hi); slot++ {
				if !yield(Entity{slot: slot, generation: *k.world.generation(slot)}) {
					return
				}
				k.check()
			}
		}
	}
}

// Count returns the number of matching entities. Complexity: as running the query, without touching components.
func (q Query) Count() int {
	n := 0
	for run := range q.Runs() {
		n += run.Len()
	}
	return n
}
