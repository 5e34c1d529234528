package vast

import (
	"cmp"
	"fmt"
	"iter"
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/vastgo/vast/internal/bitset"
	"github.com/vastgo/vast/internal/sharing"
)

// Query selects entities by their components. A matching entity has all components that the query asks for,
// no component that the query leaves out, and at least one component of each group of [Query.Any].
// [Query.Without] and similar methods return a query with one more condition. The order of the conditions
// makes no difference.
//
// A query skips entities that a [Disabled] switches off. Components that a Disabled switches off count as
// absent.
//
// Make a Query once and run it many times: running a Query allocates nothing (except as [Query.Where] says)
// and sees the current state of the world. Several goroutines may run one query at the same time while
// nothing changes the structure.
type Query struct {
	q *query
}

// query is a compiled Query.
type query struct {
	terms
	newer atomic.Pointer[query] // the query compiled for a later World.epoch, or nil: see renew
}

// terms holds the conditions of a query, and the fields that compile computes from the conditions. See
// source.go for the source of the runs, and cuts.go for the conditions that cut runs into parts.
type terms struct {
	world   *World
	epoch   uint64     // World.epoch when the query was compiled
	named   []named    // the columns that the query names, with their roles
	groups  int        // number of calls of Any
	targets []targetOf // the conditions of To, in the order of the relations' columns
	written []writtenSince

	list   []Entity // if not nil, only these entities match; sorted by slot
	pinned []Run    // if not nil, these runs match, and no condition applies
	lo, hi uint     // only the slots [lo, hi) match
	exact  bool     // whether entities with a component that the query does not name are left out
	lifted bool     // whether the query ignores what each Disabled switches off

	where []sharing.Matcher // the conditions of shared.Column.Where
	joins []*join           // the conditions of Query.Where and Query.Up

	kept      *kept // if not nil, the bits of a group.Group decide the first conditions: see query.keeps
	keptNames int   // number of elements of named that the group.Group was made with

	filter   bitset.Filter
	source   source
	plain    bool      // whether a cursor over the filter yields exactly the runs of the query
	flushes  bool      // whether a walk begins with flushDirty
	optional []*column // a run has each of these columns in all of its slots or in none
	ids      []uint64  // for an exact query, the numbers of the columns that it names, as bits
}

// role is the part that a column has in a query.
type role uint8

const (
	asked    role = iota // World.Query: every match has the component
	implied              // To, Changed, Where or Up: every match has the component
	oneOf                // Any: every match has at least one component of the group
	optional             // Optional: all entities of a run have the component, or no entity has it
	leftOut              // Without: no match has the component
)

// named is a column in a role.
type named struct {
	*column
	role  role
	group int // for oneOf: the number of the call of Any
}

// targetOf is a target that the entities of a query must have.
type targetOf struct {
	relation *relation
	target   Entity
}

// writtenSince is a condition of Changed: the component was written or gained.
type writtenSince struct {
	tracker *Tracker
	column  *column
	marks   *bitset.Set // the slots that the tracker has noted as written or gained
}

// conflict returns a format for the reason why a column cannot have both roles in a query, or "" if it can.
func conflict(a, b role) string {
	a, b = min(a, b), max(a, b)
	switch {
	case a == leftOut:
		return "the query leaves %s out already"
	case b == leftOut && a == asked, b == leftOut && a == implied:
		return "the query asks for %s and leaves it out, so nothing matches"
	case b == leftOut:
		return "the query leaves %s out and names it in Any or Optional: leave it out or name it, not both"
	case a == optional:
		return "%s is optional in the query already"
	case a == asked && b == oneOf:
		return "the query asks for %s, so every match has it: leave it out of Any"
	case a == asked && b == optional:
		return "the query asks for %s, so every match has it: leave it out of Optional"
	}
	return ""
}

// clone returns a copy of the conditions, to which the given method adds a condition.
func (q Query) clone(method string) *query {
	if q.q == nil {
		panic(zeroQuery)
	}
	q.q.world.mustBeOpen(method)
	return &query{terms: q.q.renew().terms}
}

// name gives columns the role r. It panics if a column has a role that conflicts with r.
func (q *query) name(method string, r role, cols ...AnyColumn) {
	var few [8]*column
	columns := q.world.appendColumns(few[:0], method, cols)
	for _, c := range columns {
		for _, other := range q.named {
			if other.column != c {
				continue
			}
			if why := conflict(other.role, r); why != "" {
				panic(fmt.Sprintf("vast: %s: "+why, method, c.name))
			}
		}
	}
	q.named = append(make([]named, 0, len(q.named)+len(columns)), q.named...)
	for _, c := range columns {
		q.named = append(q.named, named{c, r, q.groups})
	}
}

// columns returns the columns that have one of the given roles.
func (q *query) columns(roles ...role) (columns []*column) {
	for _, n := range q.named {
		if slices.Contains(roles, n.role) && !slices.Contains(columns, n.column) {
			columns = append(columns, n.column)
		}
	}
	return columns
}

// columnsOf checks the columns that a caller names, and returns them.
func (w *World) columnsOf(method string, cols []AnyColumn) []*column {
	return w.appendColumns(make([]*column, 0, len(cols)), method, cols)
}

// appendColumns is columnsOf with memory of the caller: columns is an empty slice.
func (w *World) appendColumns(columns []*column, method string, cols []AnyColumn) []*column {
	w.mustBeDistinct()
	for i, col := range cols {
		var c *column
		if col != nil {
			c = col.column()
		}
		switch {
		case c == nil:
			panic(fmt.Sprintf("vast: %s: column %d was not made with NewColumn", method, i+1))
		case c.world != w:
			panic(fmt.Sprintf("vast: %s: column %s belongs to %s", method, c.name, c.world.besides(w)))
		case slices.Contains(columns, c):
			panic(fmt.Sprintf("vast: %s: column %s is named twice", method, c.name))
		}
		columns = append(columns, c)
	}
	return columns
}

const zeroQuery = "vast: the zero Query belongs to no world: make queries with World.Query"

// Query returns the query that matches the entities with all the given components. Without columns it matches
// all entities. The query skips what a [Disabled] switches off. World.Query panics if a column belongs to
// another world or is named twice.
func (w *World) Query(cols ...AnyColumn) Query {
	w.mustBeOpen("Query")
	if err := w.prepare(); err != nil {
		panic(err)
	}
	if len(cols) == 0 {
		w.mustBeDistinct()
		return Query{w.all}
	}
	q := w.allTerms()
	q.name("Query", asked, cols...)
	return q.compile()
}

// Without returns the query that leaves out the entities that have any of the given components. It panics if
// a column is of another world, is named twice, or has a role in the query already.
func (q Query) Without(cols ...AnyColumn) Query {
	made := q.clone("Query.Without")
	made.name("Query.Without", leftOut, cols...)
	return made.compile()
}

// Any returns the query that also asks for at least one of the given components. Each call adds a group. Any
// panics if no column is given, and if a column is of another world, is named twice in the call, is left out,
// or was named in [World.Query].
//
// Two entities of one run may have different components of a group. Use [Column.Get] for the columns of a
// group, or name these columns in [Query.Optional] too.
func (q Query) Any(cols ...AnyColumn) Query {
	made := q.clone("Query.Any")
	if len(cols) == 0 {
		panic("vast: Query.Any: no column is given: name at least one")
	}
	made.name("Query.Any", oneOf, cols...)
	made.groups++
	return made.compile()
}

// Optional returns the query with shorter runs: for each given component, all entities of a run have the
// component, or no entity of the run has it. [Column.TrySlice] and [Tag.In] report whether a run has a
// component. Optional does not change which entities match. Columns of [Query.Any] may be named in Optional
// too, to use them as slices.
//
// Optional panics if a column is of another world, is named twice, is left out, or was named in
// [World.Query]. Complexity: a few steps more for each run and column, and one step for each cut of a run
// inside a 64-slot word.
func (q Query) Optional(cols ...AnyColumn) Query {
	made := q.clone("Query.Optional")
	made.name("Query.Optional", optional, cols...)
	return made.compile()
}

// Exactly returns the query that leaves out each entity with a component that the query does not name.
// A query names the columns of [World.Query], [Query.Any], [Query.Optional], [Query.Changed] and
// shared.Column.Where, and the relations and edges of [Query.To], [Query.Where] and [Query.Up]. The rule also
// holds for columns that are registered later. A query that names no column matches the entities without any
// component. The tag of a [Disabled] is not a component here.
//
// Complexity: for each 64-slot word with entities that meet the other conditions, one step, plus one step for
// each column that these entities were born with or gained. Other columns make little difference.
func (q Query) Exactly() Query {
	made := q.clone("Query.Exactly")
	made.exact = true
	return made.compile()
}

// To returns the query that also asks for a given target in a relation. A second call adds a target in
// another relation. To panics if the relation is of another world, if the query leaves the relation out, and
// if the query asks for a target in the relation already. A stale target has no sources, so nothing matches.
//
// The query walks over the sources of the target in the order in which they were linked, with one step for
// each source. With several targets, it walks over the sources of the target that has the fewest. Sources
// with consecutive slots that were linked one after the other form one run. [Query.First] returns the first
// source in the order of links.
//
// [Query.Words], [Query.Batches] and [Relation.InDepthOrder] use the order of slots, and visit all entities
// that have a target in the relation. Queries with [Query.Among] or [Query.Between] use the order of slots
// too.
func (q Query) To(rel Relation, target Entity) Query {
	made := q.clone("Query.To")
	made.name("Query.To", implied, rel)
	for _, t := range made.targets {
		if t.relation == rel.r {
			panic(fmt.Sprintf("vast: Query.To: the query asks for a target in %s already, and no entity has "+
				"two", rel.Name()))
		}
	}
	made.targets = append(slices.Clip(made.targets), targetOf{rel.r, target})
	slices.SortFunc(made.targets, func(a, b targetOf) int {
		return int(a.relation.sources.id) - int(b.relation.sources.id)
	})
	return made.compile()
}

// Changed returns the query that also asks for a component that was written or gained since the last
// [Tracker.Next] of a tracker. [Tracker.Changed] and [Tracker.Added] together yield the same entities.
// Running the query is as fast as running any query, except for one step at the start for each 64 slots of
// the column.
//
// Each loop over the query yields the entities whose component was written or gained before the loop starts.
// If this happens to an entity during the loop, in a slot that the loop has not passed, the loop may yield
// the entity or not. A loop may edit the entities that the query yields, also in batches on several
// goroutines: the loop has passed their slots.
//
// Changed panics if the tracker is closed, is of another world or does not track the column, and if the query
// leaves the column out. If the tracker is closed later, running the query panics.
func (q Query) Changed(col AnyColumn, since *Tracker) Query {
	const method = "Query.Changed"
	made := q.clone(method)
	if since == nil {
		panic("vast: Query.Changed: there is no tracker: make one with NewTracker")
	}
	if since.world != made.world {
		panic("vast: Query.Changed: the tracker belongs to another world")
	}
	c, m := since.marksOf(method, col)
	made.name(method, implied, col)
	made.written = append(slices.Clip(made.written), writtenSince{since, c, m.changed})
	return made.compile()
}

// Among returns the query that matches only entities of a list. Use Among to apply a bulk operation to a
// list:
//
//	w.DeleteAll(w.Query().Among(list))
//
// The list may have any order. Stale entities do not match, and an entity that the list names twice counts
// once. Among copies the list. After a second call, entities must be in both lists. An entity that is deleted
// later no longer matches.
//
// Complexity: Among takes a few steps for each entity of the list to sort it, and fewer if the list has the
// order of slots already. Running the query takes one step for each entity of the list, however large the
// world is. Bulk operations handle 64 slots in one step if the list names all entities of a 64-slot word.
// Among makes a new query; for a few dozen entities, a loop over the list is faster.
func (q Query) Among(list []Entity) Query {
	made := q.clone("Query.Among")
	made.list = inOrder(list)
	if q.q.list != nil {
		made.list = slices.DeleteFunc(made.list, func(e Entity) bool {
			_, both := slices.BinarySearchFunc(q.q.list, e, bySlot)
			return !both
		})
	}
	made.source, made.plain = made.chooseSource(), false // the filter stays the same
	return Query{made}
}

// Between returns the query that matches only entities in the slots [lo, hi). It cuts a walk over a large
// world into parts, such as one part for each [World.Visit]. After a second call, slots must be in both
// ranges. Any range is allowed: a range without slots matches nothing. [World.Slots] returns where the
// world's slots end.
//
// The query uses the order of slots, even with [Query.To]. With To, it visits all entities in the range that
// have a target in the relation. Complexity: Between copies the query. Running the new query takes no time
// for slots outside the range, except the steps at the start that [Query.Changed] describes.
func (q Query) Between(lo, hi int) Query {
	made := q.clone("Query.Between")
	made.lo = max(made.lo, uint(max(lo, 0)))
	made.hi = max(min(made.hi, uint(max(hi, 0))), made.lo)
	made.source, made.plain = made.chooseSource(), false // the filter stays the same
	return Query{made}
}

// Runs yields the matching entities as maximal runs of consecutive slots, in ascending order or in the order
// of [Query.To]. Runs together with [Column.Slice] is the fast way to process many entities. The loop may
// change values. If the loop changes the structure of the world, the next step panics.
func (q Query) Runs() iter.Seq[Run] {
	return func(yield func(Run) bool) {
		if q.q == nil || !q.q.plain || q.q.epoch != q.q.world.epoch {
			q.q.runs(yield)
			return
		}
		if q.q.flushes {
			q.q.flushDirty()
		}
		// The code below is walk.start and walk.runs for a plain query, inlined by hand for short loops.
		k := plainWalk{world: q.q.world, q: q.q, changes: q.q.world.changes}
		k.cursor.Start(&q.q.filter, uint(k.world.frontier))
		for k.cursor.Next() {
			if !yield(k.run()) {
				return
			}
			k.check()
		}
	}
}

// All yields each matching entity, in the order of [Query.Runs]. The rules of Runs hold.
func (q Query) All() iter.Seq[Entity] {
	return func(yield func(Entity) bool) {
		for s := range q.Slots() {
			if !yield(s.Entity()) {
				return
			}
		}
	}
}

// Words yields the matching entities 64 slots at a time, in ascending order: the index of a word, and a mask
// with one bit for each slot of the word, the lowest bit for the first slot. Words skips words without
// matches. Use Words to combine matches with bits of your own. The rules of [Query.Runs] hold.
func (q Query) Words() iter.Seq2[int, uint64] {
	return func(yield func(int, uint64) bool) {
		var k walk
		k.start(q.q)
		for {
			word, mask := k.nextWord()
			if mask == 0 || !yield(int(word), mask) {
				k.release()
				return
			}
			k.check()
		}
	}
}

// Count returns the number of matching entities. Complexity: one step for each 4,096 slots, and one for each
// 64-slot word in which some slots match and others do not. With [Query.Among], [Query.To], [Query.Exactly],
// [Query.Where], [Query.Up] or shared.Column.Where, Count takes as many steps as running the query. Count
// reads no components, except the links and the shared values that these conditions compare.
func (q Query) Count() int {
	var k walk
	k.start(q.q)
	n := 0
	switch {
	case k.q.source == fromFilter && !k.q.sifts():
		return k.q.filter.Count(k.q.lo, min(k.q.hi, uint(k.world.frontier)*64))
	case k.source == fromLinks:
		for k.next() {
			n += int(k.cursor.Hi - k.cursor.Lo)
		}
	default:
		for _, mask := k.nextWord(); mask != 0; _, mask = k.nextWord() {
			n += bits.OnesCount64(mask)
		}
	}
	return n
}

// First returns the first matching entity in the order of [Query.Runs], and whether there is one. Complexity:
// the same as the first step of running the query.
func (q Query) First() (Entity, bool) {
	var k walk
	k.start(q.q)
	if !k.next() {
		return Entity{}, false
	}
	k.release()
	return k.run().Entity(0), true
}

// Single returns the one entity that matches, and true. If no entity matches, it returns the zero Entity and
// false. If several match, it returns the first and false. Complexity: as the first two steps of running the
// query.
func (q Query) Single() (e Entity, single bool) {
	var k walk
	k.start(q.q)
	if !k.next() {
		return Entity{}, false
	}
	run := k.run()
	single = run.n == 1 && !k.next()
	k.release()
	return run.Entity(0), single
}

// pin returns a query that always matches the entities that q matches now, in the order of slots.
func (q Query) pin() Query {
	made := q.q.world.allTerms()
	made.pinned = []Run{}
	for run := range q.Runs() {
		made.pinned = append(made.pinned, run)
	}
	slices.SortFunc(made.pinned, func(a, b Run) int { return cmp.Compare(a.start, b.start) })
	return made.compile()
}

// flushDirty brings the marks and the kept bits that the query uses up to date. It panics if a tracker or the
// group.Group is closed.
//
//go:noinline
func (q *query) flushDirty() {
	for _, w := range q.written {
		w.tracker.mustBeOpen("Query")
		w.column.flushDirty()
	}
	if q.kept != nil {
		q.kept.refresh()
	}
}

// marked returns the number of marks in the columns of the conditions of Changed.
func (q *query) marked() (n int) {
	for _, w := range q.written {
		w.column.flushDirty()
		n += w.marks.Count()
	}
	return n
}

// mustBeMarkedAsBefore panics if the hooks of a bulk operation changed the number of marks, because the marks
// decide which entities match the query of the operation. before is the result of marked before the hooks.
func (q *query) mustBeMarkedAsBefore(before int) {
	if len(q.written) > 0 && q.marked() != before {
		panic("vast: a hook wrote entities of a tracked column, while a bulk operation ran over a query " +
			"with Query.Changed of that column: write after the operation, or collect the entities first")
	}
}
