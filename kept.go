package vast

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/vastgo/vast/internal/bitset"
)

// kept is the engine of package group: it holds the matches of the group's query as a set of bits. Until the
// group is closed, each change of the query's columns notes the 64-slot word that it touches. Before a loop,
// refresh tests the conditions of the query in these words only.
type kept struct {
	query   *query        // the query whose matches are kept
	columns []*column     // the columns of the query's conditions
	values  []*column     // those of the columns whose values the query compares
	set     *bitset.Set   // the slots that match
	filter  bitset.Filter // the conditions on presence bits: see compile
	epoch   uint64        // World.epoch when the filter was compiled

	stale  []uint64   // a set bit is a 64-slot word that refresh must test; atomic operations set bits
	mu     sync.Mutex // held while refresh tests words
	closed bool
	// World.changes and World.epoch at the end of the last refresh.
	changes, tested atomic.Uint64
}

// Keep begins to keep the matches of a query as bits. It returns a query that has the same conditions and
// reads the bits, and a function that stops keeping the bits. A call of Keep is a structural change, and so
// is a call of the function.
func (states) Keep(method string, q Query) (Query, func()) {
	if q.q == nil {
		panic(zeroQuery)
	}
	w := q.q.world
	w.mustBeOpen(method)
	w.mustNotBeInCallback(opKeep)
	k := &kept{query: q.q.renew()}
	k.mustBeKeepable(method)
	k.columns, k.values = k.query.columns(asked, implied, oneOf, leftOut), k.query.columns(implied)
	var err error
	if k.set, err = w.newKeptSet(); err == nil {
		err = k.follow()
	}
	if err != nil {
		w.giveBackKeptSet(k.set)
		panic(err)
	}
	k.compile()
	w.kept = append(w.kept, k)
	w.changed(opKeep, 1)
	made := q.clone(method)
	made.kept, made.keptNames, made.where = k, len(made.named), nil
	return made.compile(), k.close
}

// mustBeKeepable panics if the query belongs to a group already, asks for no column, or has a condition that
// a group does not keep.
func (k *kept) mustBeKeepable(method string) {
	q := k.query
	condition := ""
	switch {
	case q.kept != nil:
		panic(fmt.Sprintf("vast: %s: the query belongs to a group already: use it as it is", method))
	case len(q.columns(asked, implied)) == 0:
		panic(fmt.Sprintf("vast: %s: the query asks for no column: name a column that all matches have",
			method))
	case len(q.targets) > 0:
		condition = "Query.To"
	case len(q.written) > 0:
		condition = "Query.Changed"
	case len(q.joins) > 0:
		condition = "Query.Where or Query.Up"
	case q.list != nil:
		condition = "Query.Among"
	case q.ranged():
		condition = "Query.Between"
	case q.exact:
		condition = "Query.Exactly"
	case slices.ContainsFunc(q.named, func(n named) bool { return n.switches }):
		condition = "a Disabled"
	}
	if condition != "" {
		panic(fmt.Sprintf("vast: %s: the query has a condition of %s, which a group does not keep: add the "+
			"condition to Group.Query", method, condition))
	}
}

// newKeptSet returns an empty set. It reuses the set of a closed group if there is one.
func (w *World) newKeptSet() (*bitset.Set, error) {
	if k := len(w.unusedKept); k > 0 {
		s := w.unusedKept[k-1]
		w.unusedKept = w.unusedKept[:k-1]
		return s, nil
	}
	r, err := w.memory.room(w.options, bitset.Size(w.options.MaxEntities))
	if err != nil {
		return nil, err
	}
	return bitset.New(r, w.options.MaxEntities)
}

// giveBackKeptSet decommits the memory of a set and keeps its addresses for a later group.
func (w *World) giveBackKeptSet(s *bitset.Set) {
	if s != nil {
		s.Reset()
		s.Shrink(0)
		w.unusedKept = append(w.unusedKept, s)
	}
}

// follow makes the columns report their changes to k. On failure nothing has changed.
func (k *kept) follow() error {
	for i, c := range k.columns {
		err := k.grow(c.slots)
		if err == nil && slices.Contains(k.values, c) {
			err = c.noteWrites()
		}
		if err != nil {
			k.unfollow(k.columns[:i+1])
			return err
		}
		c.groups, c.followed = append(c.groups, k), true
	}
	for _, c := range k.columns {
		k.query.world.observe(c)
	}
	return nil
}

// unfollow undoes follow for some of the columns.
func (k *kept) unfollow(columns []*column) {
	for _, c := range columns {
		c.groups = slices.DeleteFunc(c.groups, func(other *kept) bool { return other == k })
		c.noteNoMore()
	}
}

// grow makes room for the matches in the slots below end. On failure nothing has changed.
func (k *kept) grow(end uint32) error {
	if err := k.set.Grow(int(end)); err != nil {
		return err
	}
	if n := (int(end) + 4095) / 4096; n > len(k.stale) {
		k.stale = append(k.stale, make([]uint64, n-len(k.stale))...)
	}
	return nil
}

// note notes that the matches in a word may have changed. Several goroutines may call note at the same time.
func (k *kept) note(word uint32) { atomic.OrUint64(&k.stale[word/64], 1<<(word%64)) }

// noteRange is note for the words of the slots [lo, hi).
func (k *kept) noteRange(lo, hi uint32) {
	for word, end := lo/64, (hi+63)/64; word < end; {
		block, mask, next := wordOf(word, end)
		atomic.OrUint64(&k.stale[block], mask)
		word = next
	}
}

// noteAll notes that the matches in all words may have changed.
func (k *kept) noteAll() {
	for i := range k.stale {
		atomic.StoreUint64(&k.stale[i], ^uint64(0))
	}
}

// compile makes the filter of the conditions on presence bits. The filter tests only presence bits, and
// ignores the tags of each Disabled. It does not test a column that is left out and that a Disabled may
// switch off: see query.keeps.
func (k *kept) compile() {
	q := &query{terms: k.query.terms}
	q.named = slices.DeleteFunc(slices.Clone(q.named), func(n named) bool {
		return n.role == leftOut && len(n.off) > 0
	})
	k.filter, k.epoch = q.makeFilter(), q.world.epoch
	k.noteAll()
}

// refresh brings the set up to date. Several goroutines may call it at the same time, while nothing changes
// the structure of the world and nothing writes the values that the query compares. It panics if the group is
// closed.
func (k *kept) refresh() {
	w := k.query.world
	if k.closed {
		panic("vast: Query: the group of the query is closed: do not use Group.Query after Group.Close")
	}
	for _, c := range k.values {
		c.flushDirty()
	}
	if len(k.values) == 0 && k.changes.Load() == w.changes && k.tested.Load() == w.epoch {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.epoch != w.epoch {
		k.compile()
	}
	for i := range k.stale {
		if atomic.LoadUint64(&k.stale[i]) == 0 {
			continue
		}
		for words := atomic.SwapUint64(&k.stale[i], 0); words != 0; words &= words - 1 {
			k.test(uint32(i)*64 + trailingZeros(words))
		}
	}
	k.changes.Store(w.changes)
	k.tested.Store(w.epoch)
}

// test puts the matches of a word into the set.
func (k *kept) test(word uint32) {
	mask := k.filter.All(uint(word))
	if mask != 0 && len(k.query.where) > 0 {
		mask &^= k.query.unmet(word, mask)
	}
	if int(word) < k.set.Len()/64 {
		k.set.Store(uint(word), mask)
	}
}

func (k *kept) close() {
	w := k.query.world
	if k.closed || w.closed {
		return
	}
	w.mustNotBeInCallback(opUnkeep)
	k.closed = true
	k.unfollow(k.columns)
	for _, c := range k.columns {
		w.unobserve(c)
	}
	w.giveBackKeptSet(k.set)
	k.set, k.stale = nil, nil
	w.kept = slices.DeleteFunc(w.kept, func(other *kept) bool { return other == k })
	w.changed(opUnkeep, 1)
}

// keeps reports whether the bits of the query's group decide the condition number i of q.named.
func (q *query) keeps(i int) bool {
	return i < q.keptNames && (q.named[i].role != leftOut || len(q.named[i].off) == 0)
}

// unkept returns a query that has the same matches and reads no bits of a group. Bulk operations use such a
// query, because they change the matches while they walk.
func (q *query) unkept() *query {
	if q == nil || q.kept == nil {
		return q
	}
	made := &query{terms: q.terms}
	made.where = append(slices.Clone(q.kept.query.where), q.where...)
	made.kept, made.keptNames = nil, 0
	made.compile()
	return made
}
