package store

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"unsafe"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/probing"
	"github.com/vastgo/vast/internal/state"
	"github.com/vastgo/vast/probe"
)

// Packer moves entities between worlds, for example between the regions of a cluster. The worlds may belong
// to different versions of a program. [Packer.Pack] writes entities as a parcel of bytes, and
// [Packer.Unpack] makes the entities in another world. Make a Packer for each world with [NewPacker].
//
//   - Parcel: the bytes that one call of Pack writes.
//   - Root: an entity that the program gives to Pack. The parcel also has the whole subtree below each root:
//     the root's sources in each hierarchy, the sources of these sources, and so on. A hierarchy is a
//     [vast.Relation] without circles.
//   - Schema: the description of the columns, as text. A parcel contains only the mark of its schema, a
//     checksum. Keep the schema once for each stream of parcels: see [Packer.Schema] and [Packer.Accept].
//
// A parcel has all components of its entities, their names, and the links and edges between them. A reference
// is a [vast.Entity] inside of a component or inside of the value of an edge. A reference to an entity of the
// parcel becomes a reference to the new entity. A stale reference becomes zero. A map entry with a stale key
// is left out. For a reference to another living entity, Pack returns an error. To refer to entities of other
// regions, give numbers to entities, and keep these numbers in components.
//
// If a codec or a method of a type encodes a value, the references inside of the value stay unchanged.
//
// Two goroutines must not use a Packer at the same time. A Packer keeps 4 bytes for each slot of its world.
type Packer struct {
	w            *vast.World
	columns      []*packedColumn // in the order of their names
	components   []*packedColumn // the columns that isComponent accepts
	worldColumns int             // number of the world's columns when the Packer was made
	codecs
	renamed map[string]string
	schema  string
	layouts map[uint32]*layout // keyed by the mark of the schema

	rows      []uint32   // for each slot, its entity's number in the parcel, counted from 1; else 0
	packing   *packing   // the call of Pack that is under way, or nil
	unpacking *unpacking // the call of Unpack that is under way, or nil
}

// packedColumn is a column that the Packer packs: components, names, links or edges.
type packedColumn struct {
	parcelColumn
	col      state.Column
	handle   vast.AnyColumn
	typ      reflect.Type    // type of the components or of the values of edges; else nil
	memory   *schema         // schema of typ in memory; nil if values are encoded
	toParcel *conversion     // conversion from memory to parcels; nil if the bytes are equal
	relation *vast.Relation  // nil if Form is not parcelRelation
	edges    *probe.AnyEdges // nil if Form is not parcelEdges
}

// parcels holds the methods of package vast that parcels need, besides those of engine and documents.
var parcels = state.Vast.(interface {
	Ready(function string, w *vast.World, writes bool) (columns int, err error)
	Element(column any, slot uint32) unsafe.Pointer
})

// NewPacker makes a Packer for a world. Register all columns before NewPacker: Pack and Unpack panic if a
// column is registered later. NewPacker uses Options.Codecs, and [Packer.Accept] uses Options.Renamed.
// NewPacker returns an error if two columns have the same name, or if a column cannot be encoded: the rules
// of [Save] apply. Complexity: the number of fields in the types of all columns.
func NewPacker(w *vast.World, o Options) (*Packer, error) {
	columns, err := documents.Columns("store.NewPacker", w, false)
	if err == nil {
		p := &Packer{w: w, codecs: codecsOf(o), renamed: o.Renamed, worldColumns: len(columns),
			layouts: make(map[uint32]*layout)}
		p.codecs[typeEntity] = Codec{typ: typeEntity, append: p.appendReference, decode: p.decodeReference,
			leavesOut: p.isStale}
		if err = p.plan(columns); err == nil {
			return p, nil
		}
	}
	return nil, fmt.Errorf("store: making a Packer for world %q: %w", w.Options().Name, err)
}

// plan prepares the columns, and the layout of the Packer's own parcels.
func (p *Packer) plan(columns []state.Column) error {
	for i, col := range probe.Columns(p.w) {
		if columns[i].Private {
			continue
		}
		c, err := p.planColumn(columns[i], col)
		if err != nil {
			return err
		}
		p.columns = append(p.columns, c)
	}
	slices.SortFunc(p.columns, func(a, b *packedColumn) int { return cmp.Compare(a.Name, b.Name) })
	s := &parcelSchema{Version: versionParcel}
	for _, c := range p.columns {
		s.Columns = append(s.Columns, c.parcelColumn)
		if c.isComponent() {
			p.components = append(p.components, c)
		}
	}
	var err error
	if p.schema, err = s.text(); err != nil {
		return err
	}
	p.layouts[markOf(p.schema)], err = p.layoutOf(p.schema, s, nil)
	return err
}

func (p *Packer) planColumn(col state.Column, handle vast.AnyColumn) (c *packedColumn, err error) {
	c = &packedColumn{col: col, handle: handle, typ: col.Type}
	c.Name = col.Name
	switch {
	case col.Names:
		c.Form, c.typ = parcelNames, nil
	case col.Linked != "":
		if r, ok := probe.RelationOf(handle); ok {
			c.Form, c.relation, c.typ = parcelRelation, &r, nil
		} else if e, ok := probe.EdgesOf(handle); ok {
			c.Form, c.edges, c.typ = parcelEdges, &e, e.Type()
		}
	case col.Storage == probing.StorageTag:
		c.Form = parcelTag
	case col.Storage == probing.StorageHeap:
		c.Form = parcelEncoded
		if c.Type, err = p.schemaOf(c.typ, c.Name); err == nil {
			c.Type = c.Type.portable(true)
		}
		return c, err
	default:
		c.Form = parcelValue
	}
	if c.typ != nil {
		c.memory = schemaInMemory(c.typ, true)
		c.Type = c.memory.portable(false)
		c.toParcel, err = (&changes{report: new(Report)}).conversionOf(c.memory, c.Type, c.Name)
	}
	return c, err
}

// Schema returns a description of the columns of the Packer's world, as JSON. A Packer of another program
// needs the schema to accept parcels of this Packer. The schema depends only on the names and the storage of
// the columns, and on the names, the order and the kinds of the fields of their values. In a schema, Column,
// SparseColumn and shared.Column are one storage, and the length of an array belongs to its kind. Two
// programs with the same schema read each other's parcels. docs/store-format.md describes the schema.
func (p *Packer) Schema() string { return p.schema }

// Accept makes the Packer also unpack parcels with another schema, for example parcels of an older version of
// the program. Unpack finds columns and fields by their names, and converts values as [Load] does.
// Options.Renamed gives new names. The report lists what Unpack drops, adds or converts in each parcel. If
// Accept returns an error, the Packer is unchanged.
func (p *Packer) Accept(schema string) (*Report, error) {
	report := new(Report)
	mark := markOf(schema)
	known := p.layouts[mark]
	if schema == p.schema {
		return report, nil
	}
	s, err := parseParcelSchema(schema)
	var l *layout
	if err == nil && known != nil && known.schema != schema {
		err = errors.New("another schema has the same mark: give a column another name")
	}
	if err == nil {
		l, err = p.layoutOf(schema, s, &changes{renamed: p.renamed, report: report})
	}
	if err != nil {
		return nil, fmt.Errorf("store: accepting a schema for world %q: %w", p.w.Options().Name, err)
	}
	p.layouts[mark] = l
	return report, nil
}

// layout describes how parcels of a schema become entities of the Packer's world.
type layout struct {
	schema  string
	columns []layoutColumn
	changes *changes // for decoding values on the Go heap
}

type layoutColumn struct {
	parcelColumn
	path     string        // the column's name in the program
	to       *packedColumn // nil if the program lacks the column
	toMemory *conversion   // conversion from parcels to memory; nil if the bytes are equal
}

// layoutOf returns the layout for parcels of a schema. c is nil for the Packer's own schema.
func (p *Packer) layoutOf(text string, s *parcelSchema, c *changes) (*layout, error) {
	if c == nil {
		c = &changes{report: new(Report)}
	}
	l := &layout{schema: text, changes: &changes{renamed: c.renamed, report: new(Report)}}
	found := make(map[*packedColumn]bool)
	for _, from := range s.Columns {
		one := layoutColumn{parcelColumn: from, path: from.Name}
		if now, ok := c.renamed[from.Name]; ok {
			one.path = now
		}
		i := slices.IndexFunc(p.columns, func(to *packedColumn) bool { return to.Name == one.path })
		if i < 0 {
			c.report.Dropped = append(c.report.Dropped, from.Name)
			l.columns = append(l.columns, one)
			continue
		}
		one.to = p.columns[i]
		if found[one.to] {
			return nil, fmt.Errorf("two columns of the schema are %q in the program: correct Options.Renamed",
				one.path)
		}
		found[one.to] = true
		if err := one.match(p, c); err != nil {
			return nil, err
		}
		l.columns = append(l.columns, one)
	}
	for _, to := range p.columns {
		if !found[to] {
			c.report.Added = append(c.report.Added, to.Name)
		}
	}
	return l, nil
}

// match prepares the conversion of components from the schema's column to the program's column.
func (c *layoutColumn) match(p *Packer, changes *changes) (err error) {
	if c.Form != c.to.Form {
		return fmt.Errorf("column %s has the form %q in the schema and %q in the program: keep the storage, "+
			"or give the new column another name", c.path, c.Form, c.to.Form)
	}
	switch {
	case c.Form == parcelEncoded:
		to, err := p.schemaOf(c.to.typ, c.path)
		if err != nil {
			return err
		}
		return changes.check(c.Type, to, c.path)
	case c.to.memory != nil:
		c.toMemory, err = changes.conversionOf(c.Type, c.to.memory, c.path)
	}
	return err
}

// ready returns an error if the world cannot be used now. It panics if the world has more columns than at the
// call of NewPacker.
func (p *Packer) ready(function string, writes bool) error {
	n, err := parcels.Ready(function, p.w, writes)
	if err == nil && n != p.worldColumns {
		panic(fmt.Sprintf("%s: world %q has %d columns, and had %d when the Packer was made: make the "+
			"Packer after the last column", function, p.w.Options().Name, n, p.worldColumns))
	}
	return err
}

// appendReference encodes a reference inside of a value on the Go heap.
func (p *Packer) appendReference(b []byte, v reflect.Value) ([]byte, error) {
	row, err := p.packing.reference(*v.Addr().Interface().(*vast.Entity))
	return binary.AppendUvarint(b, uint64(row)), err
}

// isStale reports whether a reference is stale. A zero reference is not stale.
func (p *Packer) isStale(v reflect.Value) bool {
	e := *v.Addr().Interface().(*vast.Entity)
	return !e.IsZero() && !p.w.Alive(e)
}

func (p *Packer) decodeReference(b []byte, v reflect.Value) error {
	row, size := binary.Uvarint(b)
	if size <= 0 || size != len(b) || row > uint64(p.unpacking.n) {
		return errReference
	}
	if row > 0 {
		p.unpacking.unborn.refer(v.Addr().Interface().(*vast.Entity), int(row-1))
	}
	return nil
}

var errReference = errors.New("a reference leads out of the parcel")
