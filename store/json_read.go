package store

import (
	"encoding/binary"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/probing"
	"github.com/vastgo/vast/probe"
)

// Document lists the entities that [ReadJSON] has added to a world.
type Document struct {
	// Entities are the new entities, in the order of the document.
	Entities []vast.Entity
	// Named maps the names in the document to the new entities.
	Named map[string]vast.Entity
	// Numbered maps the ids in the document to the new entities.
	Numbered map[uint64]vast.Entity
	// Report.Added names the fields and the resources that the document lacks. These fields are zero, and
	// these resources do not change. Report.Dropped names the columns, fields and resources that
	// Options.Renamed drops.
	Report Report
}

// ReadJSON adds the entities of a JSON document to a world, and sets the resources that the document has. The
// document comes from [WriteJSON] or from a person. The world may have other entities. ReadJSON reads src up
// to its end.
//
// The entities get free slots, as all new entities do. References between entities of the document lead to
// the new entities. {"outside": "name"} refers to an entity that the world had before. Fields that the
// document lacks are zero. If the document lists too few elements for an array, the last elements are zero.
//
// ReadJSON returns an error in these cases, among others. In these cases the error names the line. If a value
// is wrong, the error also names the path of the value.
//
//   - The document is not JSON.
//   - The document has a column, a field or a resource that the program lacks.
//   - A value does not fit its type, or a reference leads to no entity.
//   - Two entities have the same name or id, or the world already has an entity with a name of the document.
//   - Links form a circle in a hierarchy.
//
// Options.Renamed gives columns, fields and resources their new names, and drops those that it maps to "".
//
// After an error the world is unchanged: ReadJSON decodes the whole document and reserves memory before it
// makes an entity. If a callback panics, ReadJSON deletes the entities that it has made.
//
// ReadJSON first makes all entities with their components and the required components: see
// [vast.World.Require]. Then ReadJSON adds the names, the links and the resources, in this order. So a
// callback of a component sees all components of the document, but not its names, links and resources.
// Trackers note the added components. Sources and targets keep the order of the document.
//
// The document may be untrusted. ReadJSON needs memory for the bytes of the document, for the entities, and
// for a Go value of each value in the document. Complexity: a few passes over the document.
func ReadJSON(w *vast.World, src io.Reader, o Options) (*Document, error) {
	columns, err := documents.Columns("store.ReadJSON", w, false)
	if err == nil {
		r := &documentReader{options: o, jsonReader: jsonReader{w: w, names: make(map[string]int),
			numbers: make(map[uint64]int), dropped: make(map[string]bool),
			changes: &changes{renamed: o.Renamed, report: new(Report)}}}
		r.shapes = shapes{codecsOf(o), r.changes}
		var all []*jsonColumn
		if all, err = jsonColumns(w, columns, r.shapes); err == nil {
			var d *Document
			if d, err = r.read(src, all); err == nil {
				return d, nil
			}
		}
	}
	return nil, fmt.Errorf("store: reading JSON into world %q: %w", w.Options().Name, err)
}

// documentReader holds the state of one call of ReadJSON.
type documentReader struct {
	jsonReader
	shapes    shapes
	options   Options
	columns   []*readColumn
	named     map[string]*readColumn // column with each name in the document; nil for a dropped column
	rows      []newRow
	births    []*birth
	groups    map[string]*birth // births by the encoded numbers of their columns: see key
	own       []*readColumn     // columns of the last decoded row; method row reuses the memory
	key       []byte            // encoded numbers of the columns in own
	entities  []vast.Entity     // entity of each row; zero before its birth
	resources []reflect.Value
}

// newRow is an entity of the document.
type newRow struct {
	name       string
	id         uint64
	numbered   bool
	components int // position of the components in the document, or 0
	sources    int // position of the sources in the document, or 0
}

// birth is a group of entities that are born with the same columns.
type birth struct {
	columns []vast.AnyColumn
	rows    []int
	born    int // number of these entities that exist
}

// readColumn holds the components, links or edges that a document has for a column.
type readColumn struct {
	*jsonColumn
	number int   // index in documentReader.columns
	rows   []int // row of each component in values
	values decoded
	links  []readLink
	orders []readOrder
}

// readLink is an edge, or a link of a relation.
type readLink struct {
	from int // row of the source
	at   int // position in the document, for errors
	to   end
}

// decoded is a list of values of one type. The values keep their addresses when the list grows.
type decoded struct {
	chunks []reflect.Value // slices of values
	used   int             // number of values in the last chunk
}

// next adds a zero value and returns it.
func (d *decoded) next(t reflect.Type) reflect.Value {
	const most = 1 << 10
	last := len(d.chunks) - 1
	if last < 0 || d.used == d.chunks[last].Len() {
		n := 1
		if last >= 0 {
			n = min(2*d.chunks[last].Len(), most)
		}
		d.chunks = append(d.chunks, reflect.MakeSlice(reflect.SliceOf(t), n, n))
		last, d.used = last+1, 0
	}
	d.used++
	return d.chunks[last].Index(d.used - 1)
}

func (d *decoded) all(yield func(i int, v reflect.Value) bool) {
	i := 0
	for k, chunk := range d.chunks {
		n := chunk.Len()
		if k == len(d.chunks)-1 {
			n = d.used
		}
		for at := range n {
			if !yield(i, chunk.Index(at)) {
				return
			}
			i++
		}
	}
}

func (r *documentReader) read(src io.Reader, columns []*jsonColumn) (*Document, error) {
	var err error
	if r.jsonText, err = newJSONText(src); err != nil {
		return nil, err
	}
	r.named = make(map[string]*readColumn)
	for i, c := range columns {
		one := &readColumn{jsonColumn: c, number: i}
		r.columns = append(r.columns, one)
		r.named[c.Name] = one
	}
	now := make(map[string]*readColumn)
	for old, name := range r.renamed {
		if one, ok := r.named[name]; ok || name == "" {
			now[old] = one
		}
	}
	for old, one := range now { // after the loop above, so that two columns can exchange their names
		r.named[old] = one
	}
	if err := r.document(); err != nil {
		return nil, err
	}
	plans := make([]plan, len(r.columns))
	for i, c := range r.columns {
		if plans[i], err = r.plan(c); err != nil {
			return nil, err
		}
	}
	if err := r.add(plans); err != nil {
		return nil, err
	}
	d := &Document{Entities: r.entities, Named: make(map[string]vast.Entity, len(r.names)),
		Numbered: make(map[uint64]vast.Entity, len(r.numbers))}
	for name, row := range r.names {
		d.Named[name] = r.entities[row]
	}
	for id, row := range r.numbers {
		d.Numbered[id] = r.entities[row]
	}
	for _, c := range r.columns {
		c.shape.added(r.report)
	}
	d.Report = *r.report
	return d, nil
}

func (r *documentReader) document() error {
	if r.next() != '{' {
		return r.errorf(r.at, "the document must be an object with the member \"entities\", not %s",
			r.shown())
	}
	entities, resources := 0, 0
	r.open()
	for r.more() {
		at := r.at
		name, err := r.member()
		if err != nil {
			return err
		}
		into := map[string]*int{"entities": &entities, "resources": &resources}[string(name)]
		if into == nil || *into > 0 {
			return r.errorf(at, "the document has the member %q: only \"entities\" and \"resources\" are "+
				"possible, each once", name)
		}
		r.next()
		*into = r.at
		r.skip()
	}
	if entities > 0 {
		if err := r.keys(entities); err != nil {
			return err
		}
	}
	for i := range r.rows {
		if err := r.row(i); err != nil {
			return err
		}
	}
	return r.readResources(resources)
}

// keys reads the names and ids of all entities, because components may refer to any entity.
func (r *documentReader) keys(at int) error {
	if r.at = at; r.next() != '[' {
		return r.errorf(r.at, "\"entities\" must be a list, not %s", r.shown())
	}
	r.open()
	for r.more() {
		if r.next() != '{' {
			return r.errorf(r.at, "an entity must be an object, not %s", r.shown())
		}
		if err := r.entityKey(); err != nil {
			return err
		}
	}
	return nil
}

// entityKey reads the name and the id of an entity, and notes the positions of its components and sources.
func (r *documentReader) entityKey() error {
	var one newRow
	var seen seenMembers
	r.open()
	for r.more() {
		at := r.at
		member, err := r.member()
		if err != nil {
			return err
		}
		r.next()
		number := 0
		switch string(member) {
		case "name":
			err = r.name(&one)
		case "id":
			number = 1
			err = r.id(&one)
		case "components":
			number = 2
			one.components = r.at
			err = r.mustBeObject(member)
		case "sources":
			number = 3
			one.sources = r.at
			err = r.mustBeObject(member)
		default:
			err = r.errorf(at, "an entity has the member %q: only \"name\", \"id\", \"components\" and "+
				"\"sources\" are possible", member)
		}
		if err != nil {
			return err
		}
		if !seen.add(number) {
			return r.errorf(at, "the entity has the member %q twice", member)
		}
	}
	r.rows = append(r.rows, one)
	return nil
}

func (r *documentReader) mustBeObject(member []byte) error {
	if r.next() != '{' {
		return r.errorf(r.at, "%q must be an object, not %s", member, r.shown())
	}
	r.skip()
	return nil
}

func (r *documentReader) name(one *newRow) error {
	at := r.at
	if r.next() != '"' {
		return r.errorf(at, "the name of an entity must be a string, not %s", r.shown())
	}
	name, err := r.string()
	if err != nil {
		return err
	}
	one.name = string(name)
	switch _, twice := r.names[one.name]; {
	case one.name == "":
		return r.errorf(at, "the name of an entity is empty: leave the member out")
	case twice:
		return r.errorf(at, "two entities of the document have the name %q", one.name)
	}
	if names, ok := probe.NamesOf(r.w); ok {
		if e, taken := names.Find(one.name); taken {
			return r.errorf(at, "the world has an entity named %q, %v: give one of the two another name",
				one.name, e)
		}
	}
	r.names[one.name] = len(r.rows)
	return nil
}

func (r *documentReader) id(one *newRow) error {
	at := r.at
	digits, ok, err := r.digits()
	if err != nil {
		return err
	}
	if ok {
		one.id, err = strconv.ParseUint(digits, 10, 64)
	}
	if !ok || err != nil {
		r.at = at
		return r.errorf(at, "the id of an entity must be a whole number from 0 on, not %s", r.shown())
	}
	if _, twice := r.numbers[one.id]; twice {
		return r.errorf(at, "two entities of the document have the id %d", one.id)
	}
	one.numbered = true
	r.numbers[one.id] = len(r.rows)
	return nil
}

// row decodes the components and the lists of sources of an entity, and adds the entity to its birth.
func (r *documentReader) row(i int) error {
	own := r.own[:0]
	if r.at = r.rows[i].components; r.at > 0 {
		var seen seenMembers
		r.open()
		for r.more() {
			at := r.at
			c, err := r.column()
			if err != nil {
				return err
			}
			if c == nil {
				continue
			}
			if !seen.add(c.number) {
				return r.errorf(at, "the entity has the component %s twice", c.Name)
			}
			if c.Linked == "" {
				own = append(own, c)
			}
			if err := r.component(c, i); err != nil {
				return err
			}
		}
	}
	slices.SortFunc(own, func(a, b *readColumn) int { return a.number - b.number })
	r.own = own
	r.key = r.key[:0]
	for _, c := range own {
		r.key = binary.AppendUvarint(r.key, uint64(c.number))
	}
	b := r.groups[string(r.key)]
	if b == nil {
		if r.groups == nil {
			r.groups = make(map[string]*birth)
		}
		b = new(birth)
		for _, c := range own {
			b.columns = append(b.columns, c.any)
		}
		r.groups[string(r.key)] = b
		r.births = append(r.births, b)
	}
	b.rows = append(b.rows, i)
	if r.at = r.rows[i].sources; r.at > 0 {
		return r.sources(i)
	}
	return nil
}

// column consumes the name of a column. If Options.Renamed drops the column, the method also skips the value
// and returns nil.
func (r *documentReader) column() (*readColumn, error) {
	at := r.at
	name, err := r.member()
	if err != nil {
		return nil, err
	}
	c, ok := r.named[string(name)]
	switch {
	case !ok:
		return nil, r.errorf(at, "world %q has no column %q: register it, or give its new name in "+
			"Options.Renamed", r.w.Options().Name, name)
	case c == nil:
		r.drop(string(name))
	}
	r.next()
	return c, nil
}

// component decodes the component, the link or the edges of an entity in a column.
func (r *documentReader) component(c *readColumn, row int) error {
	switch {
	case c.relation != nil:
		at := r.at
		to, err := r.reference(c.Name)
		c.links = append(c.links, readLink{row, at, to})
		return err
	case c.edges != nil:
		return r.edges(c, row)
	case c.Storage == probing.StorageTag:
		if at := r.at; string(r.skip()) != "true" {
			return r.errorf(at, "%s is a tag and must be true: leave it out of entities that lack it", c.Name)
		}
		return nil
	}
	c.rows = append(c.rows, row)
	return r.value(c.shape, c.values.next(c.Type))
}

// readResources decodes the resources. The argument at is their position in the document, or 0.
func (r *documentReader) readResources(at int) error {
	byName := make(map[string]*shape)
	for _, t := range r.options.Resources {
		s, err := r.shapes.of(t, nameOf(t))
		if err != nil {
			return err
		}
		byName[s.path] = s
	}
	if at > 0 {
		if r.at = at; r.next() != '{' {
			return r.errorf(at, "\"resources\" must be an object, not %s", r.shown())
		}
		r.open()
		for r.more() {
			if err := r.resource(byName); err != nil {
				return err
			}
		}
	}
	for _, t := range r.options.Resources {
		if s := byName[nameOf(t)]; s.used {
			s.added(r.report)
		} else {
			r.report.Added = append(r.report.Added, s.path)
		}
	}
	return nil
}

func (r *documentReader) resource(byName map[string]*shape) error {
	at := r.at
	member, err := r.member()
	if err != nil {
		return err
	}
	name := string(member)
	if now, ok := r.renamed[name]; ok {
		if now == "" {
			r.drop(name)
			return nil
		}
		name = now
	}
	s, ok := byName[name]
	switch {
	case !ok:
		return r.errorf(at, "the resource %q is not among those that the options name: add its type to "+
			"Options.Resources, or give its new name in Options.Renamed", name)
	case s.used:
		return r.errorf(at, "the resource %s comes twice", name)
	}
	v := reflect.New(s.t).Elem()
	r.resources = append(r.resources, v)
	return r.value(s, v)
}

func (r *documentReader) add(plans []plan) error {
	archetypes, counts := make([]*vast.Archetype, len(r.births)), make([]int, len(r.births))
	for i, b := range r.births {
		archetypes[i], counts[i] = r.w.Archetype(b.columns...), len(b.rows)
	}
	r.entities = make([]vast.Entity, len(r.rows))
	return wholeOrNot(r.w, r.entities, func() error {
		room := func() error { return r.room(plans) }
		if err := documents.Births(archetypes, counts, room, r.born, r.write); err != nil {
			return err
		}
		for i, one := range r.rows {
			if one.name != "" {
				if _, err := r.w.Names().Set(r.entities[i], one.name); err != nil {
					return err
				}
			}
		}
		for i, c := range r.columns {
			r.link(c, plans[i])
		}
		for _, v := range r.resources {
			probe.SetResource(r.w, v)
		}
		return nil
	})
}

// born notes the new entities of r.births[i].
func (r *documentReader) born(i int, run vast.Run) {
	b := r.births[i]
	for _, e := range run.All() {
		r.entities[b.rows[b.born]] = e
		b.born++
	}
}

func (r *documentReader) write() {
	r.fill(r.entities)
	for _, c := range r.columns {
		if c.Linked == "" {
			c.values.all(func(i int, v reflect.Value) bool {
				engine.Assign(c.Of, int(r.entities[c.rows[i]].Slot()), v)
				return true
			})
		}
	}
}
