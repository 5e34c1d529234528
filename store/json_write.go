package store

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math/bits"
	"reflect"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/probing"
	"github.com/vastgo/vast/internal/state"
	"github.com/vastgo/vast/probe"
)

// WriteJSON writes a world to dst as a JSON document that people can read and edit. The document has the
// entities with their components, relations, edges and names, and the resources in Options.Resources.
// [ReadJSON] adds the entities of a document to a world. The document lacks slots, generations and the notes
// of trackers: [Save] keeps these. The beginning of a document:
//
//	{
//	  "entities": [
//	    {"name": "Anna", "components": {
//	      "Position": {"X": 1, "Y": 2.5},
//	      "awake": true,
//	      "childOf": "Berta",
//	      "roads": [{"to": 1, "value": 7}]
//	    }},
//
// A document refers to an entity by its name, or by the number "id" if the entity has no name. An entity has
// an id only if the document refers to the entity. WriteJSON replaces each [vast.Entity] in components,
// edges and resources by such a reference. The reference to a deleted entity is null. A map entry is left
// out if its key refers to a deleted entity. docs/store-format.md describes the document.
//
// WriteJSON writes all fields with their names, also unexported fields. It calls MarshalJSON of a type that
// also has UnmarshalJSON, and MarshalText of a type that also has UnmarshalText. A value whose type has a
// codec in Options.Codecs, or the binary methods that [Save] uses, becomes bytes in base64. Numbers are
// exact, but the bits of a NaN are lost.
//
// The document does not depend on the order in which the columns were registered. Entities with the same
// components (relations and edges do not count) are adjacent, in the order of their slots. A document that is
// read into a new world and written again does not change if its entities have all required components.
//
// WriteJSON returns an error if recorded Commands are not applied, if two columns have the same name, if a
// name is not UTF-8, or if a component or dst cannot be written. After an error dst holds an incomplete
// document. Nothing may change the world while WriteJSON runs.
//
// Complexity: one step for each field of each component, and for each pair of an entity and a column.
func WriteJSON(w *vast.World, dst io.Writer, o Options) error {
	return writeJSON("WriteJSON", w, nil, dst, o)
}

// WriteJSONOf is like [WriteJSON], but writes only the entities that match a query, with all components of
// these entities. A reference to a living entity outside of the query becomes {"outside": "name"}.
// WriteJSONOf returns an error if that entity has no name in UTF-8. Links from entities outside of the query
// are left out.
func WriteJSONOf(q vast.Query, dst io.Writer, o Options) error {
	return writeJSON("WriteJSONOf", documents.WorldOf(q), &q, dst, o)
}

func writeJSON(function string, w *vast.World, q *vast.Query, dst io.Writer, o Options) error {
	columns, err := documents.Columns("store."+function, w, true)
	if err == nil {
		if q == nil {
			all := probe.All(w.Query())
			q = &all
		}
		j := &jsonWriter{w: w, dst: bufio.NewWriterSize(dst, 1<<16)}
		err = j.write(*q, columns, o)
	}
	if err != nil {
		return fmt.Errorf("store: writing world %q as JSON: %w", w.Options().Name, err)
	}
	return nil
}

// documents holds the methods of package vast that JSON needs, in addition to the methods of engine.
var documents = state.Vast.(interface {
	Columns(function string, w *vast.World, writes bool) ([]state.Column, error)
	WorldOf(q vast.Query) *vast.World
	Births(of []*vast.Archetype, counts []int, room func() error, born func(i int, r vast.Run),
		fill func()) error
	GrowNames(w *vast.World) error
	Cyclic(sources any) bool
	GrowEdges(sources any, n int) error
	AddEdge(sources any, from, to vast.Entity, v reflect.Value) bool
})

// jsonColumn is a column that a document can have.
type jsonColumn struct {
	state.Column
	any      vast.AnyColumn
	shape    *shape          // shape of the components or edge values; nil for a tag and for a relation
	relation *vast.Relation  // relation whose sources the column holds, or nil
	edges    *probe.AnyEdges // edges whose sources the column holds, or nil
}

// jsonColumns returns the columns that a document can have, sorted by name.
func jsonColumns(w *vast.World, columns []state.Column, c shapes) ([]*jsonColumn, error) {
	var all []*jsonColumn
	for i, col := range probe.Columns(w) {
		one := &jsonColumn{Column: columns[i], any: col}
		if one.Private || one.Names {
			continue
		}
		typ := one.Type
		if one.Linked != "" {
			if r, ok := probe.RelationOf(col); ok {
				one.relation, typ = &r, nil
			} else if e, ok := probe.EdgesOf(col); ok {
				one.edges, typ = &e, e.Type()
			}
		}
		if typ != nil {
			var err error
			if one.shape, err = c.of(typ, one.Name); err != nil {
				return nil, err
			}
		}
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b *jsonColumn) int { return cmp.Compare(a.Name, b.Name) })
	for i, c := range all {
		if i > 0 && all[i-1].Name == c.Name {
			return nil, fmt.Errorf("two columns have the name %q: give one of them another name with Named",
				c.Name)
		}
		if !utf8.ValidString(c.Name) {
			return nil, fmt.Errorf("the name of column %q is not UTF-8", c.Name)
		}
	}
	return all, nil
}

// jsonWriter holds the state of one call of WriteJSON or WriteJSONOf.
type jsonWriter struct {
	w       *vast.World
	dst     *bufio.Writer
	b       []byte
	columns []*jsonColumn
	rows    []row
	at      []uint32                  // for each slot, index of the entity's row plus 1; 0 if there is no row
	sources map[*row][]orderOfSources // lists of sources that the document must have
	marking bool                      // whether this pass only finds the entities that get an id
	stale   int                       // number of references to deleted entities so far
}

// row is an entity of a document.
type row struct {
	vast.Entity
	id       uint32 // 0 if the document does not refer to the entity, or if the entity has a name
	referred bool   // whether the document refers to the entity
	name     string
}

// orderOfSources lists the sources of an entity in a column. The document needs the list only if the sources
// are not in the order of the document.
type orderOfSources struct {
	*jsonColumn
	rows []uint32 // indices of the sources in jsonWriter.rows
}

func (j *jsonWriter) write(q vast.Query, columns []state.Column, o Options) (err error) {
	c := shapes{codecs: codecsOf(o)}
	if j.columns, err = jsonColumns(j.w, columns, c); err != nil {
		return err
	}
	resources, values, err := j.resources(o, c)
	if err != nil {
		return err
	}
	if err := j.choose(q); err != nil {
		return err
	}
	if err := j.mark(resources, values); err != nil {
		return err
	}
	j.text("{\n")
	for i, s := range resources {
		if i == 0 {
			j.text("  \"resources\": {\n    ")
		} else {
			j.text(",\n    ")
		}
		j.b = append(appendString(j.b, s.path), ": "...)
		if err := j.value(s, values[i]); err != nil {
			return err
		}
	}
	if len(resources) > 0 {
		j.text("\n  },\n")
	}
	j.text("  \"entities\": [")
	for i := range j.rows {
		if i > 0 {
			j.text(",")
		}
		if err := j.entity(&j.rows[i]); err != nil {
			return err
		}
		if _, err := j.dst.Write(j.b); err != nil {
			return err
		}
		j.b = j.b[:0]
	}
	if len(j.rows) > 0 {
		j.text("\n  ")
	}
	j.text("]\n}\n")
	if _, err := j.dst.Write(j.b); err != nil {
		return err
	}
	return j.dst.Flush()
}

func (j *jsonWriter) text(s string) { j.b = append(j.b, s...) }

// resources returns the resources in Options.Resources that the world has.
func (j *jsonWriter) resources(o Options, c shapes) (all []*shape, values []reflect.Value, err error) {
	for _, t := range o.Resources {
		v, ok := probe.Resource(j.w, t)
		if !ok {
			continue
		}
		s, err := c.of(t, nameOf(t))
		if err != nil {
			return nil, nil, err
		}
		all, values = append(all, s), append(values, v)
	}
	return all, values, nil
}

// choose fills j.rows with the entities of a query, in the order of the document.
func (j *jsonWriter) choose(q vast.Query) error {
	var unlinked []int // indices of the columns that hold no links: these columns determine the order
	for i, c := range j.columns {
		if c.Linked == "" {
			unlinked = append(unlinked, i)
		}
	}
	type group struct {
		key      string // indices of the columns of the entities, in ascending order
		entities []vast.Entity
	}
	var groups []*group
	known := make(map[string]*group)
	var last *group
	var key []byte
	masks := make([]uint64, len(unlinked))
	n := 0
	for word, mask := range q.Words() {
		for k, i := range unlinked {
			masks[k] = probe.Presence(j.w, j.columns[i].any, word)
		}
		for ; mask != 0; mask &= mask - 1 {
			bit := bits.TrailingZeros64(mask)
			key = key[:0]
			for k, i := range unlinked {
				if masks[k]>>bit&1 != 0 {
					key = append(key, byte(i>>16), byte(i>>8), byte(i))
				}
			}
			if last == nil || last.key != string(key) {
				if last = known[string(key)]; last == nil {
					last = &group{key: string(key)}
					known[last.key] = last
					groups = append(groups, last)
				}
			}
			e, _ := probe.EntityAt(j.w, word*64+bit)
			last.entities = append(last.entities, e)
			n++
		}
	}
	slices.SortFunc(groups, func(a, b *group) int { return cmp.Compare(a.key, b.key) })
	j.rows = make([]row, 0, n)
	j.at = make([]uint32, j.w.Slots())
	names, named := probe.NamesOf(j.w)
	for _, g := range groups {
		for _, e := range g.entities {
			one := row{Entity: e}
			if named {
				one.name, _ = names.Of(e)
			}
			if !utf8.ValidString(one.name) {
				return fmt.Errorf("the name %q of entity %v is not UTF-8: give it another name", one.name, e)
			}
			j.rows = append(j.rows, one)
			j.at[e.Slot()] = uint32(len(j.rows))
		}
	}
	return nil
}

// row returns the row of an entity, or nil if the document does not have the entity.
func (j *jsonWriter) row(e vast.Entity) *row {
	if int(e.Slot()) >= len(j.at) || j.at[e.Slot()] == 0 {
		return nil
	}
	r := &j.rows[j.at[e.Slot()]-1]
	if r.Entity != e {
		return nil
	}
	return r
}

// mark finds the entities to which the document refers, and gives an id to those without a name.
func (j *jsonWriter) mark(resources []*shape, values []reflect.Value) error {
	j.marking = true
	for i, s := range resources {
		if err := j.value(s, values[i]); err != nil {
			return err
		}
	}
	for i := range j.rows {
		r := &j.rows[i]
		for _, c := range j.columns {
			if c.relation == nil && c.edges == nil && !c.shape.hasRefs() {
				continue
			}
			if j.has(c, r) {
				if err := j.component(c, r); err != nil {
					return err
				}
			}
			if c.Linked != "" {
				j.order(c, r)
			}
		}
		j.b = j.b[:0]
	}
	j.marking = false
	id := uint32(0)
	for i := range j.rows {
		if r := &j.rows[i]; r.referred && r.name == "" {
			id++
			r.id = id
		}
	}
	return nil
}

// hasRefs reports whether values can hold references. s is nil for a tag.
func (s *shape) hasRefs() bool { return s != nil && s.refs }

// order notes the order of the sources of an entity in a column, if it differs from the order of the
// document.
func (j *jsonWriter) order(c *jsonColumn, r *row) {
	o := orderOfSources{jsonColumn: c}
	add := func(source vast.Entity) {
		if from := j.row(source); from != nil {
			o.rows = append(o.rows, j.at[source.Slot()]-1)
		}
	}
	if c.relation != nil {
		for source := range c.relation.Sources(r.Entity) {
			add(source)
		}
	} else {
		for source := range c.edges.Sources(r.Entity) {
			add(source)
		}
	}
	if slices.IsSorted(o.rows) {
		return
	}
	if j.sources == nil {
		j.sources = make(map[*row][]orderOfSources)
	}
	j.sources[r] = append(j.sources[r], o)
	for _, i := range o.rows {
		j.rows[i].referred = true
	}
}

func (j *jsonWriter) entity(r *row) error {
	j.text("\n    {")
	separator := ""
	switch {
	case r.name != "":
		j.text("\"name\": ")
	case r.id > 0:
		j.text("\"id\": ")
	}
	if r.name != "" || r.id > 0 {
		j.key(r)
		separator = ", "
	}
	if sources := j.sources[r]; len(sources) > 0 {
		j.text(separator + "\"sources\": {")
		for i, o := range sources {
			if i > 0 {
				j.text(", ")
			}
			j.b = append(appendString(j.b, o.Name), ": ["...)
			for k, source := range o.rows {
				if k > 0 {
					j.text(", ")
				}
				j.key(&j.rows[source])
			}
			j.text("]")
		}
		j.text("}")
		separator = ", "
	}
	some := false
	for _, c := range j.columns {
		if !j.has(c, r) {
			continue
		}
		if some {
			j.text(",\n      ")
		} else {
			j.text(separator + "\"components\": {\n      ")
		}
		some = true
		j.b = append(appendString(j.b, c.Name), ": "...)
		if err := j.component(c, r); err != nil {
			return err
		}
	}
	if some {
		j.text("\n    }")
	}
	j.text("}")
	return nil
}

// has reports whether an entity has the component of a column.
func (j *jsonWriter) has(c *jsonColumn, r *row) bool {
	return probe.Presence(j.w, c.any, int(r.Slot()/64))>>(r.Slot()%64)&1 != 0
}

// called returns the name of an entity for messages.
func (j *jsonWriter) called(r *row) string {
	if r.name != "" {
		return strconv.Quote(r.name)
	}
	return r.Entity.String()
}

// key appends the name or the number of an entity.
func (j *jsonWriter) key(r *row) {
	if r.name != "" {
		j.b = appendString(j.b, r.name)
	} else {
		j.b = strconv.AppendUint(j.b, uint64(r.id), 10)
	}
}

// component appends the component of an entity in a column.
func (j *jsonWriter) component(c *jsonColumn, r *row) (err error) {
	switch {
	case c.relation != nil:
		target, _ := c.relation.Target(r.Entity)
		err = j.reference(target, c.Name)
	case c.edges != nil:
		err = j.targets(c, r)
	case c.Storage == probing.StorageTag:
		j.text("true")
	default:
		err = j.value(c.shape, engine.Value(c.Of, int(r.Slot())))
	}
	if err != nil {
		return fmt.Errorf("entity %s: %w", j.called(r), err)
	}
	return nil
}

// targets appends the edges out of an entity.
func (j *jsonWriter) targets(c *jsonColumn, r *row) error {
	separator := "[{\"to\": "
	for to, v := range c.edges.Targets(r.Entity) {
		j.text(separator)
		separator = "}, {\"to\": "
		if err := j.reference(to, c.Name); err != nil {
			return err
		}
		if c.shape.form != formStruct || len(c.shape.fields) > 0 {
			j.text(", \"value\": ")
			if err := j.value(c.shape, v); err != nil {
				return err
			}
		}
	}
	j.text("}]")
	return nil
}

// reference appends a reference to an entity. path names the value that holds the reference.
func (j *jsonWriter) reference(e vast.Entity, path string) error {
	if r := j.row(e); r != nil {
		r.referred = true
		j.key(r)
		return nil
	}
	if !j.w.Alive(e) {
		if !e.IsZero() {
			j.stale++
		}
		j.text("null")
		return nil
	}
	if names, ok := probe.NamesOf(j.w); ok {
		if name, ok := names.Of(e); ok && utf8.ValidString(name) {
			j.b = append(appendString(append(j.b, "{\"outside\": "...), name), '}')
			return nil
		}
	}
	return fmt.Errorf("%s refers to entity %v, which does not match the query and has no name in UTF-8: "+
		"name it, or let the query match it", path, e)
}
