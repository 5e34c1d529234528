package store

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"iter"
	"slices"
	"unsafe"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/probing"
	"github.com/vastgo/vast/probe"
)

// Pack appends a parcel with the roots and their subtrees to dst. It does not change the world. To move the
// entities, call [Packer.Take] instead, or delete them after Pack. A deletion of the roots also deletes their
// subtrees in hierarchies with [vast.Cascade]. Pack ignores links and references from other entities to
// entities of the parcel. A deletion makes these references stale. The [vast.OnDelete] of a relation or of
// edges decides what a deletion does with the links or edges.
//
// Two parcels are equal if their entities have the same components, links, edges and names, and their roots
// come in the same order. The slots of entities and the padding of components do not matter.
//
// Pack returns an error if a link, an edge or a [vast.Entity] inside of a component leads to a living entity
// that the parcel lacks. This error names the entity and the column. Pack also returns an error if a root is
// not alive or is given twice, if recorded Commands have not been applied, or if a codec returns an error.
// After an error Pack returns dst unchanged.
//
// Complexity: one step for each entity and column, for each run of entities in adjoining slots, and for each
// link. Components without references and without padding are copied by runs.
func (p *Packer) Pack(dst []byte, roots []vast.Entity) ([]byte, error) {
	dst, _, err := p.pack(dst, roots, false)
	return dst, err
}

// Take packs like [Packer.Pack], and then deletes the entities of the parcel: the roots and their subtrees.
// Take also returns an error if an entity outside of the parcel has a link or an edge with [vast.Refuse] to
// an entity of the parcel. If Take returns an error, it deletes nothing.
func (p *Packer) Take(dst []byte, roots []vast.Entity) ([]byte, error) {
	dst, entities, err := p.pack(dst, roots, true)
	for _, e := range slices.Backward(entities) { // deletes most sources before their targets
		p.w.Delete(e) // returns false if Cascade has already deleted e
	}
	// An entity is still alive if a link with Refuse led to it from an entity that the loop deleted later.
	if slices.ContainsFunc(entities, p.w.Alive) {
		p.w.DeleteAll(probe.All(p.w.Query()).Among(entities))
	}
	return dst, err
}

// Roots returns the entities that do not lie below another given entity in a hierarchy, in the given order.
// All other given entities are in the subtrees of the returned entities. Complexity: one step for each
// ancestor of each entity in each hierarchy.
func (p *Packer) Roots(entities []vast.Entity) []vast.Entity {
	given := make(map[vast.Entity]bool, len(entities))
	for _, e := range entities {
		given[e] = true
	}
	hierarchies := p.hierarchies()
	var roots, up []vast.Entity
	for _, e := range entities {
		seen := map[vast.Entity]bool{e: true} // links of two hierarchies may form a circle
		up = append(up[:0], e)
		for i := 0; i < len(up) && given[e]; i++ {
			for _, r := range hierarchies {
				target, ok := r.Target(up[i])
				if !ok || seen[target] {
					continue
				}
				seen[target] = true
				up = append(up, target)
				if given[target] {
					given[e] = false // entities below e also lie below target
				}
			}
		}
		if given[e] {
			roots = append(roots, e)
		}
	}
	return roots
}

func (p *Packer) hierarchies() (all []*vast.Relation) {
	for _, c := range p.columns {
		if c.relation != nil && !c.col.Cyclic {
			all = append(all, c.relation)
		}
	}
	return all
}

// pack does the work of Pack, or of Take except for the deletions. It also returns the entities of the
// parcel.
func (p *Packer) pack(dst []byte, roots []vast.Entity, take bool) ([]byte, []vast.Entity, error) {
	function := "store.Packer.Pack"
	if take {
		function = "store.Packer.Take"
	}
	err := p.ready(function, true)
	if err == nil {
		k := &packing{Packer: p, b: dst, begin: len(dst)}
		p.packing = k
		defer k.end()
		if err = k.pack(roots); err == nil && take {
			err = k.checkRefuse()
		}
		if err == nil {
			return k.b, k.entities, nil
		}
	}
	return dst, nil, fmt.Errorf("store: packing entities of world %q: %w", p.w.Options().Name, err)
}

// packing is one call of Pack or Take.
type packing struct {
	*Packer
	b        []byte
	begin    int           // index in b at which the parcel begins
	entities []vast.Entity // the entities of the parcel; the method group changes their order
	groups   []*packedGroup
}

// packedGroup is a group of entities with the same columns.
type packedGroup struct {
	columns  []*packedColumn
	entities []vast.Entity
}

func (k *packing) end() {
	for _, e := range k.entities {
		k.rows[e.Slot()] = 0
	}
	k.Packer.packing = nil
}

func (k *packing) pack(roots []vast.Entity) error {
	k.rows = resize(k.rows, max(k.w.Slots(), len(k.rows)))
	if err := k.find(roots); err != nil {
		return err
	}
	k.group()
	le := binary.LittleEndian
	k.b = le.AppendUint32(k.b, markOf(k.schema))
	k.uint(len(k.entities))
	for _, g := range k.groups {
		if err := k.writeGroup(g); err != nil {
			return err
		}
	}
	k.writeRoots(roots)
	for _, c := range k.columns {
		var err error
		switch c.Form {
		case parcelNames:
			k.writeNames()
		case parcelRelation:
			err = k.writeLinks(c)
		case parcelEdges:
			err = k.writeEdges(c)
		}
		if err != nil {
			return err
		}
	}
	k.b = le.AppendUint32(k.b, crc32.Checksum(k.b[k.begin:], castagnoli))
	return nil
}

// checkRefuse returns an error if links or edges with Refuse forbid the deletion of the entities.
func (k *packing) checkRefuse() error {
	for _, c := range k.columns {
		if c.col.OnDelete != uint8(vast.Refuse) || c.relation == nil && c.edges == nil {
			continue
		}
		for _, e := range k.entities {
			for source := range c.sources(e) {
				if k.row(source) == 0 {
					return fmt.Errorf("entity %v cannot be taken: entity %v, which the parcel lacks, links "+
						"to it in %s, which has vast.Refuse: remove the link, or take both", e, source,
						c.Name)
				}
			}
		}
	}
	return nil
}

// sources yields the entities that link to an entity in a column of a relation or of edges.
func (c *packedColumn) sources(e vast.Entity) iter.Seq[vast.Entity] {
	if c.relation != nil {
		return c.relation.Sources(e)
	}
	return func(yield func(vast.Entity) bool) {
		for source := range c.edges.Sources(e) {
			if !yield(source) {
				return
			}
		}
	}
}

// uint appends n, which is at least 0. int appends any n.
func (k *packing) uint(n int) { k.b = binary.AppendUvarint(k.b, uint64(n)) }
func (k *packing) int(n int)  { k.b = binary.AppendVarint(k.b, int64(n)) }

// find finds the entities of the parcel: the roots, and level by level their descendants in hierarchies. The
// sources of a target keep their order.
func (k *packing) find(roots []vast.Entity) error {
	for _, e := range roots {
		if !k.w.Alive(e) {
			return fmt.Errorf("the root %v is not a living entity of the world", e)
		}
		if k.rows[e.Slot()] > 0 {
			return fmt.Errorf("entity %v comes twice among the roots", e)
		}
		k.add(e)
	}
	hierarchies := k.hierarchies()
	for i := 0; i < len(k.entities); i++ { // the loop appends sources
		for _, r := range hierarchies {
			if r.CountSources(k.entities[i]) == 0 {
				continue
			}
			for source := range r.Sources(k.entities[i]) {
				if k.rows[source.Slot()] == 0 {
					k.add(source)
				}
			}
		}
	}
	return nil
}

func (k *packing) add(e vast.Entity) {
	k.entities = append(k.entities, e)
	k.rows[e.Slot()] = uint32(len(k.entities))
}

// group makes groups in the order of their first entities, and sorts the entities by group.
func (k *packing) group() {
	known := make(map[string]*packedGroup)
	masks := make([]uint64, len(k.components)) // for each column, the presence bits of the word's slots
	key, last := make([]byte, len(k.components)), ""
	word := -1
	var g *packedGroup
	for _, e := range k.entities {
		if at := int(e.Slot() / 64); at != word {
			word = at
			for i, c := range k.components {
				masks[i] = probe.Presence(k.w, c.handle, word)
			}
		}
		for i, mask := range masks {
			key[i] = byte(mask >> (e.Slot() % 64) & 1)
		}
		if g == nil || string(key) != last {
			last = string(key)
			if g = known[last]; g == nil {
				g = k.newGroup(key)
				known[last] = g
			}
		}
		g.entities = append(g.entities, e)
	}
	k.entities = k.entities[:0]
	for _, g := range k.groups {
		for _, e := range g.entities {
			k.add(e)
		}
	}
}

// newGroup makes a group with the columns whose byte in key is 1.
func (k *packing) newGroup(key []byte) *packedGroup {
	g := new(packedGroup)
	for i, c := range k.components {
		if key[i] != 0 {
			g.columns = append(g.columns, c)
		}
	}
	k.groups = append(k.groups, g)
	return g
}

// writeGroup appends a group: its columns, the number of its entities, and the components of each column.
func (k *packing) writeGroup(g *packedGroup) error {
	k.uint(len(g.columns))
	next, minBytes := 0, 0
	for i, c := range k.columns {
		if slices.Contains(g.columns, c) {
			k.uint(i - next)
			next = i + 1
			minBytes += c.minBytes()
		}
	}
	k.uint(len(g.entities))
	if minBytes == 0 { // write a byte for each entity, so that a parcel has no more entities than bytes
		k.b = append(k.b, make([]byte, len(g.entities))...)
	}
	for _, c := range g.columns {
		var err error
		switch c.Form {
		case parcelValue:
			err = k.writeValues(c, g.entities)
		case parcelEncoded:
			err = k.writeEncoded(c, g.entities)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// writeValues appends components of a Column, a SparseColumn or a shared.Column. In a Column it appends the
// components of entities with consecutive slots in one step.
func (k *packing) writeValues(c *packedColumn, entities []vast.Entity) error {
	for lo := 0; lo < len(entities); {
		hi := lo + 1
		if c.col.Storage == probing.StorageDense {
			for hi < len(entities) && entities[hi].Slot() == entities[hi-1].Slot()+1 {
				hi++
			}
		}
		size := int(c.typ.Size())
		src := unsafe.Slice((*byte)(parcels.Element(c.col.Of, entities[lo].Slot())), (hi-lo)*size)
		if bad, err := k.writeMemory(c, src); err != nil {
			return fmt.Errorf("entity %v: %w", entities[lo+bad], err)
		}
		lo = hi
	}
	return nil
}

// writeMemory appends components, or the values of edges, that lie side by side in memory. bad is the index
// of the value that caused the error.
func (k *packing) writeMemory(c *packedColumn, src []byte) (bad int, err error) {
	if c.toParcel == nil {
		k.b = append(k.b, src...)
		return 0, nil
	}
	from, to := c.toParcel.from, c.toParcel.to
	for i := range len(src) / from {
		at := len(k.b)
		k.b = append(k.b, make([]byte, to)...)
		if err := c.toParcel.element(k.b[at:], src[i*from:(i+1)*from]); err != nil {
			return i, err
		}
		for _, r := range c.toParcel.refs {
			row, err := k.reference(vast.EntityOf(binary.LittleEndian.Uint64(src[i*from+r.from:])))
			if err != nil {
				return i, fmt.Errorf("%s %w", r.path, err)
			}
			binary.LittleEndian.PutUint32(k.b[at+r.to:], row)
		}
	}
	return 0, nil
}

func (k *packing) writeEncoded(c *packedColumn, entities []vast.Entity) (err error) {
	for _, e := range entities {
		if k.b, err = k.encode(k.b, engine.Value(c.col.Of, int(e.Slot()))); err != nil {
			return fmt.Errorf("entity %v: %s %w", e, c.Name, err)
		}
	}
	return nil
}

// row returns the number of an entity in the parcel, counted from 1, or 0 if the parcel lacks the entity.
func (k *packing) row(e vast.Entity) uint32 {
	if int(e.Slot()) >= len(k.rows) {
		return 0
	}
	row := k.rows[e.Slot()]
	if row > 0 && k.entities[row-1] != e {
		return 0
	}
	return row
}

// reference returns the row of an entity that a value refers to, or 0 if the reference is stale.
func (k *packing) reference(e vast.Entity) (uint32, error) {
	row := k.row(e)
	if row == 0 && k.w.Alive(e) {
		return 0, fmt.Errorf("refers to entity %v, which lives outside of the parcel: pack it, too, or "+
			"store an ID of your own in the component instead of the Entity", e)
	}
	return row, nil
}

// writeRoots appends the numbers of the roots, as runs of consecutive numbers.
func (k *packing) writeRoots(roots []vast.Entity) {
	k.uint(len(roots))
	next := 0
	for lo := 0; lo < len(roots); {
		first, n := int(k.rows[roots[lo].Slot()])-1, 1
		for lo+n < len(roots) && int(k.rows[roots[lo+n].Slot()])-1 == first+n {
			n++
		}
		k.int(first - next)
		k.uint(n)
		next, lo = first+n, lo+n
	}
}

func (k *packing) writeNames() {
	names, _ := probe.NamesOf(k.w)
	n := 0
	at := len(k.b)
	next := 0
	for i, e := range k.entities {
		if name, ok := names.Of(e); ok {
			n++
			k.uint(i - next)
			next = i + 1
			k.uint(len(name))
			k.b = append(k.b, name...)
		}
	}
	k.b = slices.Insert(k.b, at, binary.AppendUvarint(nil, uint64(n))...)
}
