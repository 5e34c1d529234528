package vast

import (
	"cmp"
	"errors"
	"math/bits"
	"reflect"
	"slices"

	"github.com/vastgo/vast/internal/probing"
)

// copying makes copies of entities, the originals, in the same world or in another world. World.Clone and
// World.CloneN use a copying for an entity with links. Package clone uses a copying for subtrees and for
// whole worlds, and package prefab uses it for templates and their instances.
type copying struct {
	from, to *World
	columns  []*column // for each column of from: the column of `to` that gets its components, or nil
	links    []linkPair

	originals []Entity     // group by group
	groups    []*copyGroup // in the order of their first originals
	n         int          // number of copies of each original
	copies    []Entity     // copies[i*len(originals)+row] is copy number i of originals[row]
	whole     bool         // whether the originals are all entities of from, with their names

	// rows has, for each slot of from, 1 + the row of its entity, or 0 for an entity that is no original. In
	// the copying of World.Clone and CloneN, which has one original, rows is nil.
	rows []uint32

	known map[string]*copyGroup      // all groups, by the columns of their originals
	queue []uint32                   // slots that Find has found
	owned map[ownedKey]reflect.Value // copies of memory on the Go heap: see own
	last  lastGroup

	origins *relation // for package prefab: relation from each copy to its original, or nil

	archetypes []*Archetype // see births
	counts     []int        // see births

	gained []uint32   // slots of copies that became sources in the relation or edges at hand
	gains  []wordMask // the same slots by words: see sorted
	inside []uint32   // see countInside
}

// copyGroup is a set of originals whose copies are born in one archetype.
type copyGroup struct {
	archetype *Archetype
	pairs     []columnPair
	spans     []copySpan // the originals
	first     int        // row of the first original
	count     int        // number of originals
	runs      []Run      // the copies in the order of birth: copy 0 of each original, then copy 1 of each
	made      int        // number of entities in runs
	end       uint32     // the copies get slots below end
}

// columnPair is a column of the originals and the column of the copies.
type columnPair struct {
	from, to   *column
	references *references // where components of the copies hold references, or nil
}

// copySpan is a run of originals in consecutive slots.
type copySpan struct{ slot, n uint32 }

// lastGroup holds what groupOf needs to find the same group again quickly.
type lastGroup struct {
	group   *copyGroup
	set     []*column // columns of the group's originals
	spare   []*column // buffer
	word    uint32
	same    uint64    // slots of the word whose entities belong to the group
	owner   owner     // owner of the word
	columns []*column // columns that entities in words of this owner may have
	key     []byte    // buffer
}

// Find makes e and its descendants in the given hierarchies the originals, and reports whether e is alive.
func (k *copying) Find(e Entity, along []Relation) bool {
	k.forget()
	if !k.from.Alive(e) {
		return false
	}
	k.add(e.slot)
	for i := 0; i < len(k.queue); i++ { // the loop appends to the queue
		for _, r := range along {
			if !r.r.targets.hasAt(k.queue[i]) {
				continue
			}
			for s := r.r.family(k.queue[i]).first; s != none; s = r.r.link(s).next {
				k.add(s)
			}
		}
	}
	for _, slot := range k.queue {
		g := k.groupOf(slot/64, ^uint64(0)<<(slot%64))
		k.take(g, slot)
	}
	k.number()
	return true
}

// add adds the entity in a slot to the queue, if the queue lacks it.
func (k *copying) add(slot uint32) {
	if k.rows[slot] == 0 {
		k.rows[slot] = 1
		k.queue = append(k.queue, slot)
	}
}

// findAll makes all entities of the world the originals.
func (k *copying) findAll() {
	k.forget()
	for word := range k.from.frontier {
		for mask := k.from.live.Word(uint(word)); mask != 0; mask &^= k.last.same {
			g := k.groupOf(word, mask)
			for same := mask & k.last.same; same != 0; same &= same - 1 {
				k.take(g, word*64+trailingZeros(same))
			}
		}
	}
	k.number()
}

// forget forgets the originals.
func (k *copying) forget() {
	for _, e := range k.originals {
		k.rows[e.slot] = 0
	}
	for _, g := range k.groups {
		g.spans, g.count = g.spans[:0], 0
	}
	k.queue, k.originals, k.groups = k.queue[:0], k.originals[:0], k.groups[:0]
	k.last.group, k.last.word, k.last.owner.extent = nil, none, none
	if n := int(k.from.frontier) * 64; n > len(k.rows) {
		k.rows = append(k.rows, make([]uint32, n-len(k.rows))...)
	}
}

// groupOf returns the group of the first entity of mask in a word. Afterwards k.last.same has the slots of
// the word whose entities also belong to the group.
func (k *copying) groupOf(word uint32, mask uint64) *copyGroup {
	l, bit := &k.last, mask&-mask
	if word == l.word && l.same&bit != 0 {
		return l.group
	}
	if o := k.from.owner(word); o.extent != l.owner.extent || o.extra != l.owner.extra {
		l.owner = *o
		l.columns = k.from.columnsOfWord(o, l.columns[:0])
	}
	set := l.spare[:0]
	l.word, l.same = word, ^uint64(0)
	for _, c := range l.columns {
		if now := c.now(word); now&bit != 0 {
			l.same &= now
			set = append(set, c)
		} else {
			l.same &^= now
		}
	}
	if l.group == nil || !slices.Equal(set, l.set) {
		l.key = appendKey(l.key[:0], set)
		g := k.known[string(l.key)]
		if g == nil {
			g = k.newGroup(set)
			k.known[string(l.key)] = g
		}
		l.group = g
	}
	l.set, l.spare = set, l.set
	return l.group
}

// newGroup returns the group for originals with the given columns.
func (k *copying) newGroup(set []*column) *copyGroup {
	g := new(copyGroup)
	for _, c := range set {
		if to := k.columns[c.id]; to != nil {
			g.pairs = append(g.pairs, columnPair{c, to, referencesIn(to.typ)})
		}
	}
	slices.SortFunc(g.pairs, func(a, b columnPair) int { return cmp.Compare(a.to.id, b.to.id) })
	var columns []*column
	for _, p := range g.pairs {
		columns = append(columns, p.to)
	}
	g.archetype = k.to.archetypeWith(columns)
	for _, other := range k.known {
		if other.archetype == g.archetype { // the originals differ in columns without a counterpart only
			return other
		}
	}
	return g
}

// take adds the entity in a slot to a group.
func (k *copying) take(g *copyGroup, slot uint32) {
	if g.count == 0 {
		k.groups = append(k.groups, g)
	}
	g.count++
	if last := len(g.spans) - 1; last >= 0 && g.spans[last].slot+g.spans[last].n == slot {
		g.spans[last].n++
	} else {
		g.spans = append(g.spans, copySpan{slot, 1})
	}
}

// number numbers the originals group by group.
func (k *copying) number() {
	for _, g := range k.groups {
		g.first = len(k.originals)
		for _, s := range g.spans {
			for slot := s.slot; slot < s.slot+s.n; slot++ {
				k.originals = append(k.originals, k.from.entityIn(slot))
				k.rows[slot] = uint32(len(k.originals))
			}
		}
	}
}

// row returns the row of the entity in a slot of from, or -1 if it is no original.
func (k *copying) row(slot uint32) int {
	if k.rows == nil {
		if slot == k.originals[0].slot {
			return 0
		}
		return -1
	}
	if int64(slot) >= int64(len(k.rows)) {
		return -1
	}
	return int(k.rows[slot]) - 1
}

// Copy makes n copies of each original. On an error nothing has changed. If a callback panics, Copy deletes
// the copies.
func (k *copying) Copy(n int) error {
	w := k.to
	w.mustNotBeInCallback(opCopy)
	k.n = n
	if k.from != k.to && !k.whole {
		if err := k.mustBeClosed(); err != nil {
			return err
		}
	}
	if err := w.prepare(); err != nil {
		return err
	}
	if err := k.room(); err != nil {
		return err
	}
	k.copies = slices.Grow(k.copies[:0], n*len(k.originals))[:n*len(k.originals)]
	clear(k.copies)
	complete := false
	defer func() {
		clear(k.owned)
		if !complete {
			k.undo()
		}
	}()
	for _, g := range k.groups {
		g.runs, g.made = g.runs[:0], 0
	}
	archetypes, counts := k.births()
	bear(archetypes, counts, false, k.born, k.write)
	w.last = opCopy
	if k.whole {
		k.copyNames()
	}
	k.copyLinks(opCopy)
	complete = true
	return nil
}

// undo deletes the copies.
func (k *copying) undo() {
	var slots []uint32
	for _, e := range k.copies {
		if !e.IsZero() {
			slots = append(slots, e.slot)
		}
	}
	k.to.deleteLinked(opCopy, gainsFrom(slots), false)
}

// births returns the archetype of each group and the number of its copies. The slices are valid until the
// next call of births.
func (k *copying) births() (archetypes []*Archetype, counts []int) {
	k.archetypes, k.counts = k.archetypes[:0], k.counts[:0]
	for _, g := range k.groups {
		k.archetypes, k.counts = append(k.archetypes, g.archetype), append(k.counts, g.count*k.n)
	}
	return k.archetypes, k.counts
}

// room makes room for the copies and their links. On failure nothing has changed.
func (k *copying) room() error {
	if k.fits() {
		return nil
	}
	archetypes, counts := k.births()
	return k.to.try(k.to.columns, func() error {
		return growAll(archetypes, counts, func() error {
			for i, g := range k.groups {
				g.end = g.archetype.endOf(counts[i])
			}
			if k.whole && k.to.names != nil {
				if err := k.to.names.texts.c.grow(k.to.size); err != nil {
					return err
				}
			}
			return k.roomForLinks()
		})
	})
}

// fits reports whether room for the copies and their links is at hand. It also reports false where this is
// hard to say.
func (k *copying) fits() bool {
	for _, g := range k.groups {
		a, n := g.archetype, g.count*k.n
		if a.free() < n || a.observed && (len(k.groups) > 1 || !a.hasRoom(n)) || a.shares() {
			return false
		}
		g.end = a.endOf(n)
	}
	for _, p := range k.links {
		n := k.count(p)
		switch l := p.to.(type) {
		case *relation:
			if !l.reaches(n.sourcesEnd, n.level) || n.targetsEnd > l.targets.slots {
				return false
			}
		case anyEdges:
			if !l.hasRoom(n) {
				return false
			}
		}
	}
	return !k.whole && (k.origins == nil || k.originsFit())
}

// shares reports whether a column of the archetype is shared.
func (a *Archetype) shares() bool {
	return slices.ContainsFunc(a.columns, func(c *column) bool {
		return c.elsewhere() && c.store.storage() == probing.StorageShared
	})
}

// endOf returns an upper bound for the slots of the next n births. The archetype must have room for them.
func (a *Archetype) endOf(n int) (end uint32) {
	for _, x := range a.extents {
		if free := int(x.words*64 - x.used); free > 0 && n > 0 {
			n -= free
			end = x.end()
		}
	}
	return end
}

// born notes a run of copies of group i.
func (k *copying) born(i int, run Run) {
	g := k.groups[i]
	g.runs = append(g.runs, run)
	for slot := run.start; slot < run.start+run.n; {
		number, at := g.made/g.count, g.made%g.count
		n := min(uint32(g.count-at), run.start+run.n-slot)
		copies := k.copies[number*len(k.originals)+g.first+at:][:n]
		for j := range copies {
			copies[j] = k.to.entityIn(slot + uint32(j))
		}
		slot += n
		g.made += int(n)
	}
}

// write writes the components of all copies.
func (k *copying) write() {
	for _, g := range k.groups {
		for _, p := range g.pairs {
			if !p.from.copiesTo(p.to) {
				k.assign(g, p)
			} else if p.to.bytes > 0 {
				g.copyRuns(p)
			}
			if p.references != nil {
				k.translateIn(g, p.to, p.references)
			}
		}
	}
}

// assign writes the components of a column one by one.
func (k *copying) assign(g *copyGroup, p columnPair) {
	for lo := g.first; lo < len(k.copies); lo += len(k.originals) {
		for j, e := range k.copies[lo : lo+g.count] {
			p.to.assign(e.slot, p.from.at(k.originals[g.first+j].slot))
		}
	}
}

// copyRuns writes the components of a column whose elements lie side by side. In each run of copies, it
// copies the components of all originals by spans, and repeats these bytes.
func (g *copyGroup) copyRuns(p columnPair) {
	at := 0 // number of copies before the run
	for _, run := range g.runs {
		dst := p.to.elements(run.start, run.start+run.n)
		pattern := min(g.count*p.to.bytes, len(dst))
		g.gather(dst[:pattern], p.from, at%g.count)
		repeatBytes(dst, pattern)
		at += int(run.n)
	}
}

// gather fills dst with components of originals: from original number `at` of the group to the last one, and
// then from the first one on.
func (g *copyGroup) gather(dst []byte, from *column, at int) {
	i := 0
	for at >= int(g.spans[i].n) {
		at -= int(g.spans[i].n)
		i++
	}
	for len(dst) > 0 {
		s := g.spans[i]
		dst = dst[copy(dst, from.elements(s.slot+uint32(at), s.slot+s.n)):]
		at = 0
		if i++; i == len(g.spans) {
			i = 0
		}
	}
}

// copyNames gives the names of the originals to their copies.
func (k *copying) copyNames() {
	if k.from.names == nil {
		return
	}
	for row, e := range k.originals {
		if name, ok := k.from.names.Of(e); ok {
			if _, err := k.to.names.Set(k.copies[row], name); err != nil {
				panic(err) // Merge has compared the names, and made room for them
			}
		}
	}
}

// Merge moves all entities of from to the other world. On an error nothing has changed.
func (k *copying) Merge() (Moves, error) {
	k.whole = true
	k.findAll()
	if names := k.from.names; names != nil && names.Len() > 0 {
		if k.to.names == nil {
			return Moves{}, errors.New("entities have names, and the other world has no Names: call its " +
				"World.Names before")
		}
		for _, e := range k.originals {
			if name, ok := names.Of(e); ok {
				if owner, taken := k.to.names.Find(name); taken {
					return Moves{}, &NameTaken{Name: name, Owner: owner}
				}
			}
		}
	}
	if err := k.Copy(1); err != nil {
		return Moves{}, err
	}
	m := k.moves()
	emptied := false
	defer func() {
		if !emptied { // a callback has panicked
			k.undo()
		}
	}()
	k.from.Reset()
	emptied = true
	return m, nil
}

// moves returns the originals and their copies.
func (k *copying) moves() Moves {
	m := Moves{words: make([]movedWord, k.from.frontier), pairs: make([]movedEntity, 0, len(k.originals))}
	for word := range m.words {
		mask := k.from.live.Word(uint(word))
		m.words[word] = movedWord{mask, uint32(len(m.pairs))}
		for ; mask != 0; mask &= mask - 1 {
			row := k.rows[word*64+bits.TrailingZeros64(mask)] - 1
			m.pairs = append(m.pairs, movedEntity{k.originals[row], k.copies[row]})
		}
	}
	return m
}

// Originals returns the originals and the copies. copies[i*len(originals)+row] is copy number i of
// originals[row]. The slices are valid until the next call of a method.
func (k *copying) Originals() (originals, copies []Entity) { return k.originals, k.copies }
