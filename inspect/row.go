package inspect

import (
	"reflect"
	"slices"
	"strconv"
	"unsafe"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/inspect/internal/query"
	"github.com/vastgo/vast/inspect/internal/value"
	"github.com/vastgo/vast/probe"
)

const (
	cellBytes = 120 // longest short text of a value
	// keptBytes is the size of the largest component that a cell keeps. The text of a kept component is made
	// after the look (a visit of the world between ticks, see doc.go).
	keptBytes = 1 << 10
)

// row holds the values that were read from an entity.
type row struct {
	entity vast.Entity
	name   string
	off    bool   // whether a vast.Disabled switches the entity off
	cells  []cell // one for each shown column; nil if the entity is dead
}

// cell is an entity's value in a column. At most one of value, text and leaves is set.
type cell struct {
	has    bool
	value  reflect.Value // copy of a small component without Go pointers
	text   string        // short text
	leaves []any         // values of the fields in shownColumn.parts
	target vast.Entity   // target of a relation
}

type rowReader struct {
	in     *Inspector
	shown  []shownColumn
	tags   []column // the tags of vast.Disabled that switch entities off
	leaves bool     // whether cells hold the values of fields, instead of a short text
}

// shownColumn is a column of the world, or a field of a component, that rows show.
type shownColumn struct {
	query.Named
	relation vast.Relation
	kept     bool         // whether cells keep the value, to make the text or the leaves after the look
	typ      reflect.Type // type of the component; nil if no value is read
	parts    []query.Part // fields to read
}

func (in *Inspector) newRowReader(shown []query.Named, leaves bool) *rowReader {
	r := &rowReader{in: in, leaves: leaves}
	for _, c := range in.model.look() {
		if c.info.Disabled && c.info.Disables == nil {
			r.tags = append(r.tags, c)
		}
	}
	for _, n := range shown {
		c := shownColumn{Named: n, typ: n.Column.Type}
		switch {
		case n.Column.Relation:
			c.relation, _ = probe.RelationOf(n.Column.AnyColumn)
			c.typ = nil
		case n.Column.Linked:
			c.typ = nil
		}
		if c.typ != nil {
			c.kept = value.IsPlain(c.typ) && c.typ.Size() <= keptBytes
			c.parts = n.Column.Values
			if n.Part != nil {
				c.parts = []query.Part{*n.Part}
			}
			if leaves && len(c.parts) == 0 {
				c.typ = nil
			}
		}
		r.shown = append(r.shown, c)
	}
	return r
}

// read reads an entity. It takes a few hundred nanoseconds per column. Call read in a look.
func (r *rowReader) read(e vast.Entity) row {
	row := row{entity: e}
	if !r.in.world.Alive(e) {
		return row
	}
	row.name = r.in.nameOf(e)
	row.off = slices.ContainsFunc(r.tags, func(c column) bool { return has(r.in.world, c.col, e) })
	row.cells = make([]cell, len(r.shown))
	for i := range r.shown {
		row.cells[i] = r.cell(&r.shown[i], e)
	}
	return row
}

func (r *rowReader) cell(c *shownColumn, e vast.Entity) (out cell) {
	if c.Column.Relation {
		if out.target, out.has = c.relation.Target(e); out.has {
			out.text = out.target.String()
			if name := r.in.nameOf(out.target); name != "" && !r.leaves {
				out.text += " " + strconv.Quote(name)
			}
		}
		return out
	}
	if out.has = has(r.in.world, c.Column.AnyColumn, e); !out.has || c.typ == nil {
		return out
	}
	if c.kept {
		out.value, _ = probe.Value(c.Column.AnyColumn, e)
		return out
	}
	v, ok := valueNow(r.in.world, c.Column.AnyColumn, c.Column.Storage, c.typ, e)
	switch {
	case !ok && r.leaves:
		out.leaves = make([]any, len(c.parts)) // too large to read
	case !ok:
		out.text = tooManyBytes(int(c.typ.Size()))
	case r.leaves:
		out.leaves = c.leavesOf(v)
	default:
		out.text = c.textOf(v)
	}
	return out
}

// partOf returns a field of v, also an unexported field. v must be addressable.
func partOf(v reflect.Value, p *query.Part) reflect.Value {
	// Sound because a field of type p.Type lies at p.Offset within v.
	return reflect.NewAt(p.Type, unsafe.Add(v.Addr().UnsafePointer(), p.Offset)).Elem()
}

func (c *shownColumn) textOf(v reflect.Value) string {
	if c.Part != nil {
		v = partOf(v, c.Part)
	}
	return value.Text(v, cellBytes)
}

// leavesOf returns the fields c.parts of v as bools, numbers, strings and entities. Fields of other types
// become texts.
func (c *shownColumn) leavesOf(v reflect.Value) []any {
	leaves := make([]any, len(c.parts))
	for i := range c.parts {
		leaves[i] = leafOf(partOf(v, &c.parts[i]), c.parts[i].Kind)
	}
	return leaves
}

// textBytes is the length at which a string is cut.
const textBytes = 4096

func leafOf(v reflect.Value, k query.Kind) any {
	switch k {
	case query.KindBool:
		return v.Bool()
	case query.KindFloat:
		if v.Type().Bits() == 32 {
			return float32(v.Float())
		}
		return v.Float()
	case query.KindInt:
		return v.Int()
	case query.KindUint:
		return v.Uint()
	case query.KindEntity:
		return v.Interface().(vast.Entity)
	case query.KindString:
		return value.Text(v, textBytes)
	}
	return value.Text(v, cellBytes)
}

// text returns the short text of a cell, or "yes" for a component whose value is not read.
func (c *shownColumn) text(one *cell) string {
	switch {
	case one.value.IsValid():
		return c.textOf(one.value)
	case c.typ == nil && !c.Column.Relation:
		return "yes"
	}
	return one.text
}

// all returns the c.width() values of a cell.
func (c *shownColumn) all(one *cell) []any {
	switch {
	case one.value.IsValid():
		return c.leavesOf(one.value)
	case c.Column.Relation:
		return []any{one.target}
	case c.typ == nil:
		return []any{true}
	}
	return one.leaves
}
