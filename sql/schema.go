package vastsql

import (
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/snake"
	"github.com/vastgo/vast/probe"
)

// table describes a virtual table.
type table struct {
	name         string
	parts        []part
	fields       []field // fields[0] is the entity
	query        vast.Query
	noAggregates bool         // SQLite refuses a table with so many columns
	list         *list        // set for a table of Options.Lists
	rows         atomic.Int64 // number of rows when they were last counted
}

// part is a column of the world that a table shows, or the slice of a table of Options.Lists.
type part struct {
	column vast.AnyColumn // nil for a slice
	names  *vast.Names    // set if the column holds the names of the world
	info   probe.ColumnInfo
	size   int // bytes of an element in the copy
}

// copied reports whether the elements are copied as they lie in memory. Other elements are read one by one.
func (p *part) copied() bool { return p.info.Storage == probe.StorageDense }

const entitiesTable = "entities"

// schema is the list of tables of a world. Tables are only added.
type schema struct {
	tables  []*table
	byName  map[string]*table // by name in lower case, because SQL ignores case
	temp    map[string]bool   // names, in lower case, of the tables that the user has made in schema temp
	columns int               // number of columns of the world that update has seen
}

// update adds tables for new columns of the world. At its first call, it adds the tables first before these,
// so that they keep their names. It must run in World.Visit.
func (s *schema) update(w *vast.World, first []*table) {
	columns := probe.Columns(w)
	if s.byName == nil {
		s.byName = map[string]*table{}
		s.add(entities(w))
		for _, t := range first {
			s.add(t)
		}
	}
	for _, c := range columns[s.columns:] {
		if info := probe.Describe(c); !info.Private {
			s.add(newTable(w, "", c))
		}
	}
	s.columns = len(columns)
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
	s.byName[strings.ToLower(t.name)] = t
	s.tables = append(s.tables, t)
}

// newTable makes the table of the entities that have all given columns. If name is empty, the table gets the
// name of its column, which must be the only one.
func newTable(w *vast.World, name string, columns ...vast.AnyColumn) *table {
	t := &table{name: name, query: w.Query(columns...)}
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
	t.rename()
	return t
}

// rename appends numbers to names of columns that SQL takes for equal. SQL ignores case.
func (t *table) rename() {
	taken := map[string]bool{}
	for i := range t.fields {
		name := t.fields[i].name
		for n := 2; taken[strings.ToLower(t.fields[i].name)]; n++ {
			t.fields[i].name = fmt.Sprintf("%s_%d", name, n)
		}
		taken[strings.ToLower(t.fields[i].name)] = true
	}
}

func entities(w *vast.World) *table {
	return &table{name: entitiesTable, query: w.Query(), fields: []field{
		{name: "entity", kind: kindInt64, part: -1},
		{name: "slot", kind: kindUint32, part: -1},
		{name: "generation", kind: kindUint32, part: -1},
	}}
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
