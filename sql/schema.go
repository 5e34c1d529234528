package vastsql

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/snake"
	"github.com/vastgo/vast/probe"
)

// table describes a virtual table. A table of a schema does not change, except for the field rows.
type table struct {
	name         string
	column       vast.AnyColumn // the column whose table schema.update made; nil for edges and other tables
	parts        []part
	fields       []field // fields[0] is the entity, except in edges and reports
	query        vast.Query
	archetype    *vast.Archetype // if not nil, all rows are entities that were born with it
	edges        *probe.AnyEdges // nil unless it is a table of edges
	list         *list           // nil unless it is a table of Options.Lists
	report       report          // nil unless it is a table of a report
	noAggregates bool            // the table of aggregates would exceed maxColumns
	rows         atomic.Int64    // the last estimate of the number of rows
}

// part is a source of the values of a table: a column of the world, the slice of a table of Options.Lists, or
// the sources, the targets or the values of edges.
type part struct {
	column vast.AnyColumn // nil if the part is no column; for values of edges, the column of the sources
	names  *vast.Names    // nil unless the column holds the names of the world
	info   probe.ColumnInfo
	size   int // bytes of an element in the copy
}

// copied reports whether the elements are copied as bytes. Other elements are read one by one.
func (p *part) copied() bool { return p.info.Storage == probe.StorageDense }

const entitiesTable = "entities"

// maxColumns is the number of columns that SQLite allows in a table.
const maxColumns = 2000

// schema is the list of tables of a world. Tables are only added.
type schema struct {
	tables     []*table
	byName     map[string]*table // by name in lower case, because SQL ignores case
	temp       map[string]*table // the tables that the user has made in schema temp, by name in lower case
	nameOf     []string          // names of tables by the ID of their column; empty for a private column
	archetypes int               // number of archetypes of the world that update has seen
}

// update adds tables for new columns and archetypes of the world. The first call of update begins with the
// table of all entities and the tables of first(), so that no table of a column takes their names. The
// argument until is the time at which update stops. update reports whether it has seen all columns and
// archetypes. It must run in World.Visit.
func (s *schema) update(w *vast.World, until time.Time, first func() []*table) (done bool) {
	if s.byName == nil {
		s.byName = map[string]*table{}
		s.add(s.entities(w))
		for _, t := range first() {
			s.add(t)
		}
	}
	columns := probe.Columns(w)
	for _, c := range columns[len(s.nameOf):] {
		if time.Now().After(until) {
			return false
		}
		name := ""
		if !probe.Describe(c).Private {
			t := newEdgesTable(w, c)
			if t == nil {
				t = newTable(w, "", c)
				t.column = c
			}
			s.add(t)
			name = t.name
		}
		s.nameOf = append(s.nameOf, name)
	}
	archetypes := probe.Archetypes(w)
	for ; s.archetypes < len(archetypes); s.archetypes++ {
		if time.Now().After(until) {
			return false
		}
		s.add(s.newArchetypeTable(w, archetypes[s.archetypes]))
	}
	return true
}

// adopt replaces the tables of s by those of from.
func (s *schema) adopt(from *schema) {
	s.tables, s.byName = slices.Clip(from.tables), maps.Clone(from.byName)
}

// find returns the table with a name, or nil.
func (s *schema) find(name string) *table { return s.byName[strings.ToLower(name)] }

// add adds a table. If its name is taken, add appends a number to the name.
func (s *schema) add(t *table) {
	if strings.HasPrefix(strings.ToLower(t.name), "sqlite_") {
		t.name = "_" + t.name // SQLite reserves these names
	}
	name := t.name
	for i := 2; s.find(t.name) != nil; i++ {
		t.name = fmt.Sprintf("%s_%d", name, i)
	}
	t.noAggregates = len(t.fields)+1+len(newAggregates(t)) > maxColumns
	s.byName[strings.ToLower(t.name)] = t
	s.tables = append(s.tables, t)
}

// spans yields queries that together match the entities of a table's rows, in the order of their slots.
func (t *table) spans(w *vast.World) iter.Seq[vast.Query] {
	return func(yield func(vast.Query) bool) {
		if t.archetype == nil {
			yield(t.query)
			return
		}
		for x := range probe.Extents(w, 0) {
			if x.Archetype == t.archetype && !yield(t.query.Between(x.First, x.First+x.Slots)) {
				return
			}
		}
	}
}

// count returns the number of rows of a table. For a table of edges, see copier.countEdges instead. count
// must run in World.Visit.
func (t *table) count(w *vast.World) (n int) {
	if t.list != nil {
		return t.list.image.rows
	}
	for q := range t.spans(w) {
		n += q.Count()
	}
	return n
}

// estimate sets t.rows to an estimate of the number of rows. It must run in World.Visit.
func (t *table) estimate(w *vast.World) {
	switch {
	case t.report != nil:
		t.rows.Store(reportRows)
	case t.edges != nil:
		t.rows.Store(int64(t.query.Count())) // counts sources, each of which has at least one edge
	case t.archetype != nil:
		t.rows.Store(int64(t.archetype.Len())) // count would walk over the extents of all archetypes
	default:
		t.rows.Store(int64(t.count(w)))
	}
}

// newTable makes the table of the entities that have a component in each of the columns. If name is empty,
// columns must have one element, and the table is named after this column.
func newTable(w *vast.World, name string, columns ...vast.AnyColumn) *table {
	t := &table{name: name, query: probe.All(w.Query(columns...))}
	t.fields = []field{{name: "entity", kind: kindInt64, part: -1}}
	names, _ := probe.NamesOf(w)
	for i, c := range columns {
		p := part{column: c, info: probe.Describe(c)}
		if t.name == "" {
			t.name = tableName(p.info)
		}
		prefix := ""
		if len(columns) > 1 {
			prefix = tableName(p.info)
		}
		switch _, ok := probe.RelationOf(c); {
		case ok:
			t.fields = append(t.fields, field{name: join(prefix, "target"), kind: kindEntity, part: i})
			if prefix == "" {
				t.fields[0].name = "source"
			}
		case names != nil && probe.Describe(names).ID == p.info.ID:
			p.names = names
			t.fields = append(t.fields, field{name: join(prefix, "name"), kind: kindText, part: i})
		case p.info.Storage != probe.StorageTag && p.info.Linked == "":
			for _, f := range fieldsOf(p.info.Layout) {
				f.name, f.part = join(prefix, f.name), i
				t.fields = append(t.fields, f)
			}
		}
		if p.info.Type != nil {
			p.size = int(p.info.Type.Size())
		}
		t.parts = append(t.parts, p)
	}
	t.makeNamesUnique()
	return t
}

// makeNamesUnique appends numbers to names of columns that are equal if case is ignored, as in SQL.
func (t *table) makeNamesUnique() {
	taken := map[string]bool{}
	for i := range t.fields {
		name := t.fields[i].name
		for n := 2; taken[strings.ToLower(t.fields[i].name)]; n++ {
			t.fields[i].name = fmt.Sprintf("%s_%d", name, n)
		}
		taken[strings.ToLower(t.fields[i].name)] = true
	}
}

func tableName(info probe.ColumnInfo) string {
	name := info.Name
	if name == "" {
		name = fmt.Sprintf("column_%d", info.ID)
	}
	return snake.Case(name)
}

// declaration returns the CREATE TABLE statement that declares the columns of t to SQLite.
func (t *table) declaration() string {
	var b strings.Builder
	b.WriteString("CREATE TABLE t(")
	for i, f := range t.fields {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(quote(f.name) + " " + f.kind.decl())
	}
	b.WriteString(")")
	return b.String()
}

func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
