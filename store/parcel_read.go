package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"reflect"
	"unsafe"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/probing"
	"github.com/vastgo/vast/probe"
)

// Unpack makes new entities from a parcel, and returns the roots in the order in which Pack got them. src
// must be exactly one parcel.
//
// If two worlds in the same state unpack the same parcel, they are in the same state again. Entities are born
// with their components and with the required components: see [vast.World.Require]. The OnAdd callbacks see
// all components of the parcel. Unpack then adds the names, and then the links. Sources and targets keep
// their order. Trackers record the additions.
//
// Unpack returns an error if src is damaged, if the Packer has not accepted the schema of src, if a value
// does not fit its new type, or if the world already has one of the names. Unpack returns a [*vm.Error] if
// the world has no room. After an error the world is unchanged. If a callback panics, Unpack deletes the
// entities that it has made.
//
// A forged src cannot exhaust the memory: a parcel of n bytes has at most n entities, and Unpack needs memory
// in proportion to n. But a forged src may hold values that no program writes, such as a bool that is neither
// true nor false.
//
// Complexity: that of [Packer.Pack] and of the births.
func (p *Packer) Unpack(src []byte) ([]vast.Entity, error) {
	err := p.ready("store.Packer.Unpack", false)
	if err == nil {
		k := &unpacking{Packer: p}
		p.unpacking = k
		defer func() { p.unpacking = nil }()
		if err = k.read(src); err == nil {
			if err = k.make(); err == nil {
				return k.rootEntities(), nil
			}
		}
	}
	return nil, fmt.Errorf("store: unpacking a parcel into world %q: %w", p.w.Options().Name, err)
}

var errDamaged = errors.New("the parcel is damaged")

// unpacking is one call of Unpack.
type unpacking struct {
	*Packer
	decoder
	layout   *layout
	unborn   unborn
	n        int // number of entities
	groups   []*unpackedGroup
	roots    [][2]int // runs of roots: the number of the first root, and the length of the run
	names    []unpackedName
	links    []*unpackedLinks
	entities []vast.Entity // the new entities, by their numbers in the parcel
}

// unpackedGroup is a group of entities that are born with the same columns.
type unpackedGroup struct {
	columns  []unpackedColumn
	first, n int // number of the first entity in the parcel, and number of entities in the group
	made     int // number of entities of the group that already exist
}

// unpackedColumn holds the components of a group's entities in a column of the program.
type unpackedColumn struct {
	*layoutColumn
	memory []byte        // components as in memory, with stand-ins for references; nil for a HeapColumn
	values reflect.Value // components of a HeapColumn, as a slice
}

type unpackedName struct {
	entity int // number of the entity in the parcel
	name   string
}

func (k *unpacking) read(src []byte) error {
	const bytesMark, bytesSum = 4, 4
	le := binary.LittleEndian
	if len(src) < bytesMark+bytesSum {
		return errShort
	}
	end := len(src) - bytesSum
	if crc32.Checksum(src[:end], castagnoli) != le.Uint32(src[end:]) {
		return errDamaged
	}
	mark := le.Uint32(src)
	if k.layout = k.layouts[mark]; k.layout == nil {
		return fmt.Errorf("the parcel has a schema with the mark %08x: give this schema to Packer.Accept",
			mark)
	}
	k.decoder = decoder{codecs: k.Packer.codecs, changes: k.layout.changes, b: src[bytesMark:end],
		unborn: &k.unborn}
	var err error
	k.n, err = k.count(1)
	for first := 0; first < k.n && err == nil; {
		first, err = k.readGroup(first)
	}
	if err == nil {
		err = k.readRoots()
	}
	for i := 0; i < len(k.layout.columns) && err == nil; i++ {
		switch c := &k.layout.columns[i]; c.Form {
		case parcelNames:
			err = k.readNames(c)
		case parcelRelation:
			err = k.readLinks(c)
		case parcelEdges:
			err = k.readEdges(c)
		}
	}
	if err == nil && len(k.b) > 0 {
		err = errDamaged
	}
	return err
}

func (k *unpacking) uint() (int, error) {
	n, size := binary.Uvarint(k.b)
	if size <= 0 || n > math.MaxInt {
		return 0, errShort
	}
	k.b = k.b[size:]
	return int(n), nil
}

// count reads the number of items that follow. Each item has at least minBytes bytes.
func (k *unpacking) count(minBytes int) (int, error) {
	n, err := k.uint()
	if err == nil && n > len(k.b)/minBytes {
		err = errShort
	}
	return n, err
}

// entityNumber reads the number of an entity. The parcel has the difference between this number and base.
func (k *unpacking) entityNumber(base int) (int, error) {
	d, size := binary.Varint(k.b)
	if size <= 0 {
		return 0, errShort
	}
	k.b = k.b[size:]
	if d < -int64(base) || d >= int64(k.n-base) {
		return 0, errReference
	}
	return base + int(d), nil
}

func (k *unpacking) bytes(n int) ([]byte, error) {
	if n > len(k.b) {
		return nil, errShort
	}
	b := k.b[:n]
	k.b = k.b[n:]
	return b, nil
}

// readGroup reads the entities of a group. It returns the number of the first entity of the next group.
func (k *unpacking) readGroup(first int) (next int, err error) {
	columns, minBytes, err := k.readColumns()
	if err != nil {
		return 0, err
	}
	g := &unpackedGroup{first: first}
	if g.n, err = k.count(max(minBytes, 1)); err != nil {
		return 0, err
	}
	if g.n == 0 || g.n > k.n-first {
		return 0, errDamaged
	}
	if minBytes == 0 { // the group has a byte for each entity: see packing.writeGroup
		if _, err := k.bytes(g.n); err != nil {
			return 0, err
		}
	}
	for _, c := range columns {
		one := unpackedColumn{layoutColumn: c}
		switch c.Form {
		case parcelValue:
			one.memory, err = k.readMemory(c, g.n)
		case parcelEncoded:
			one.values, err = k.readEncoded(c, g.n)
		}
		if err != nil {
			return 0, err
		}
		if c.to != nil {
			g.columns = append(g.columns, one)
		}
	}
	k.groups = append(k.groups, g)
	return first + g.n, nil
}

// readColumns reads the columns of a group. minBytes is the least number of bytes of an entity of the group.
func (k *unpacking) readColumns() (columns []*layoutColumn, minBytes int, err error) {
	n, err := k.count(1)
	next := 0
	for i := 0; i < n && err == nil; i++ {
		var gap int
		if gap, err = k.uint(); err != nil {
			break
		}
		if gap >= len(k.layout.columns)-next || !k.layout.columns[next+gap].isComponent() {
			return nil, 0, errDamaged
		}
		c := &k.layout.columns[next+gap]
		columns, minBytes = append(columns, c), minBytes+c.minBytes()
		next += gap + 1
	}
	return columns, minBytes, err
}

// readMemory reads n components, or n values of edges. It returns them as they lie in memory, with stand-ins
// for references. If the program lacks the column, readMemory returns the bytes of the parcel.
func (k *unpacking) readMemory(c *layoutColumn, n int) ([]byte, error) {
	size := c.Type.Size
	src, err := k.bytes(n * size)
	if err != nil || c.to == nil || c.toMemory == nil {
		return src, err
	}
	if n > math.MaxInt/max(c.toMemory.to, 1) {
		return nil, errShort
	}
	memory := make([]byte, n*c.toMemory.to)
	for i := range n {
		from, to := src[i*size:(i+1)*size], memory[i*c.toMemory.to:(i+1)*c.toMemory.to]
		if err := c.toMemory.element(to, from); err != nil {
			return nil, err
		}
		for _, r := range c.toMemory.refs {
			row := binary.LittleEndian.Uint32(from[r.from:])
			if uint64(row) > uint64(k.n) {
				return nil, errReference
			}
			if row > 0 {
				binary.LittleEndian.PutUint64(to[r.to:], standIn(int(row-1)).ID())
			}
		}
	}
	return memory, nil
}

// readEncoded reads n components of a HeapColumn into a slice. If the program lacks the column, readEncoded
// skips the components.
func (k *unpacking) readEncoded(c *layoutColumn, n int) (values reflect.Value, err error) {
	if c.to != nil {
		values = reflect.MakeSlice(reflect.SliceOf(c.to.typ), n, n)
	}
	for i := 0; i < n && err == nil; i++ {
		var v reflect.Value
		if c.to != nil {
			v = values.Index(i)
		}
		err = k.decode(c.Type, v, c.path)
	}
	return values, err
}

func (k *unpacking) readRoots() error {
	unread, err := k.uint()
	if err != nil {
		return err
	}
	if unread > k.n {
		return errDamaged
	}
	next := 0
	for unread > 0 {
		d, size := binary.Varint(k.b)
		if size <= 0 {
			return errShort
		}
		k.b = k.b[size:]
		n, err := k.uint()
		if err != nil {
			return err
		}
		if d < -int64(next) || d > int64(k.n-next) || n == 0 || n > unread || n > k.n-next-int(d) {
			return errReference
		}
		first := next + int(d)
		k.roots = append(k.roots, [2]int{first, n})
		next, unread = first+n, unread-n
	}
	return nil
}

func (k *unpacking) readNames(c *layoutColumn) error {
	n, err := k.count(2)
	if err != nil {
		return err
	}
	known := make(map[string]bool, n)
	next := 0
	for range n {
		gap, err := k.uint()
		if err != nil {
			return err
		}
		name, err := k.take()
		if err != nil {
			return err
		}
		if gap >= k.n-next || len(name) == 0 || known[string(name)] {
			return errDamaged
		}
		one := unpackedName{next + gap, string(name)}
		next += gap + 1
		known[one.name] = true
		if c.to == nil {
			continue
		}
		names, _ := probe.NamesOf(k.w)
		if e, taken := names.Find(one.name); taken {
			return &vast.NameTaken{Name: one.name, Owner: e}
		}
		k.names = append(k.names, one)
	}
	return nil
}

func (k *unpacking) make() error {
	archetypes, counts := make([]*vast.Archetype, len(k.groups)), make([]int, len(k.groups))
	for i, g := range k.groups {
		columns := make([]vast.AnyColumn, len(g.columns))
		for n, c := range g.columns {
			columns[n] = c.to.handle
		}
		archetypes[i], counts[i] = k.w.Archetype(columns...), g.n
	}
	k.entities = make([]vast.Entity, k.n)
	return wholeOrNot(k.w, k.entities, func() error {
		if err := documents.Births(archetypes, counts, k.room, k.noteBirths, k.write); err != nil {
			return err
		}
		for _, one := range k.names {
			if _, err := k.w.Names().Set(k.entities[one.entity], one.name); err != nil {
				return err
			}
		}
		for _, l := range k.links {
			k.link(l)
		}
		return nil
	})
}

// room makes room for names and links, so that the code that adds them cannot run out of memory. Births calls
// room after it has made room for the entities.
func (k *unpacking) room() error {
	for _, l := range k.links {
		var err error
		if l.Form == parcelRelation {
			err = l.to.relation.GrowLevels(l.levels)
		} else {
			err = documents.GrowEdges(l.to.col.Of, len(l.links))
		}
		if err != nil {
			return err
		}
	}
	if len(k.names) > 0 {
		return documents.GrowNames(k.w)
	}
	return nil
}

// noteBirths notes a run of new entities of group i.
func (k *unpacking) noteBirths(i int, run vast.Run) {
	g := k.groups[i]
	for n, e := range run.All() {
		k.entities[g.first+g.made+n] = e
	}
	g.made += run.Len()
}

func (k *unpacking) write() {
	k.unborn.fill(k.entities)
	for _, g := range k.groups {
		entities := k.entities[g.first : g.first+g.n]
		for i := range g.columns {
			switch c := &g.columns[i]; c.Form {
			case parcelValue:
				k.writeValues(c, entities)
			case parcelEncoded:
				for n, e := range entities {
					engine.Assign(c.to.col.Of, int(e.Slot()), c.values.Index(n))
				}
			}
		}
	}
}

// writeValues writes the components of a Column, a SparseColumn or a shared.Column. In a Column it writes the
// components of entities with consecutive slots in one copy.
func (k *unpacking) writeValues(c *unpackedColumn, entities []vast.Entity) {
	size := int(c.to.typ.Size())
	for lo := 0; lo < len(entities); {
		hi := lo + 1
		if c.to.col.Storage == probing.StorageDense {
			for hi < len(entities) && entities[hi].Slot() == entities[hi-1].Slot()+1 {
				hi++
			}
		}
		if c.to.col.Storage == probing.StorageShared {
			v := reflect.New(c.to.typ)
			dst := unsafe.Slice((*byte)(v.UnsafePointer()), size)
			copy(dst, c.memory[lo*size:])
			k.fillMemory(c.layoutColumn, dst)
			engine.Assign(c.to.col.Of, int(entities[lo].Slot()), v.Elem())
			lo = hi
			continue
		}
		dst := unsafe.Slice((*byte)(parcels.Element(c.to.col.Of, entities[lo].Slot())), (hi-lo)*size)
		copy(dst, c.memory[lo*size:])
		k.fillMemory(c.layoutColumn, dst)
		lo = hi
	}
}

// fillMemory replaces stand-ins by their entities.
func (k *unpacking) fillMemory(c *layoutColumn, dst []byte) {
	if c.toMemory == nil {
		return
	}
	for ; len(c.toMemory.refs) > 0 && len(dst) > 0; dst = dst[c.toMemory.to:] {
		for _, r := range c.toMemory.refs {
			if row := binary.LittleEndian.Uint64(dst[r.to:]); row > 0 {
				binary.LittleEndian.PutUint64(dst[r.to:], k.entities[row-1].ID())
			}
		}
	}
}

// link makes the links of a relation, or edges.
func (k *unpacking) link(l *unpackedLinks) {
	if l.Form == parcelRelation {
		for _, one := range l.links {
			l.to.relation.Set(k.entities[one.from], k.entities[one.to])
		}
		return
	}
	value := reflect.New(l.to.typ).Elem()
	size := int(l.to.typ.Size())
	for i, one := range l.links {
		dst := bytesOf(value)
		copy(dst, l.values[i*size:])
		k.fillMemory(l.layoutColumn, dst)
		documents.AddEdge(l.to.col.Of, k.entities[one.from], k.entities[one.to], value)
	}
}

func (k *unpacking) rootEntities() []vast.Entity {
	var roots []vast.Entity
	for _, r := range k.roots {
		roots = append(roots, k.entities[r[0]:r[0]+r[1]]...)
	}
	return roots
}
