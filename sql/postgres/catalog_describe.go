package postgres

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// The OIDs of objects that every catalog has, and the first one of the user's objects.
const (
	oidCatalogNamespace     = 11
	oidPublicNamespace      = 2200
	oidInformationNamespace = 13000
	oidRole                 = 10
	oidHeap                 = 2
	oidBtree                = 403
	oidFirstUser            = 16384 // PostgreSQL gives lower numbers to its own objects
)

// databaseName is the name of the database in the catalog. SQLite gives its database the same name.
const databaseName = "main"

// roleName is the name of the only role in the catalog.
const roleName = "vast"

// A description is a schema in the form of PostgreSQL's catalog.
type description struct {
	sql         strings.Builder    // INSERT statements
	relations   map[string]int64   // OIDs of tables, views and indexes by name in lower case
	names       map[int64]string   // names of tables, views and indexes by OID, like the maps below
	indexes     map[int64]string   // definitions of indexes
	constraints map[int64]string   // definitions of constraints
	views       map[int64]string   // queries of views
	columns     map[int64][]string // names of the columns of tables, views and indexes
	last        int64              // the highest OID that is given
}

func (d *description) next() int64 {
	d.last++
	return d.last
}

func (d *description) insert(table, columns, format string, values ...any) {
	fmt.Fprintf(&d.sql, "INSERT INTO %s(%s) VALUES(", table, columns)
	fmt.Fprintf(&d.sql, format+");\n", values...)
}

// describeSchema returns the description of a schema.
func describeSchema(s *schema) *description {
	d := &description{
		relations: map[string]int64{}, names: map[int64]string{}, indexes: map[int64]string{},
		constraints: map[int64]string{}, views: map[int64]string{}, columns: map[int64][]string{},
		last: oidFirstUser - 1,
	}
	for i := range s.tables {
		id := d.next()
		d.relations[strings.ToLower(s.tables[i].name)] = id
		d.names[id] = s.tables[i].name
	}
	for i := range s.tables {
		d.describeTable(&s.tables[i], oidFirstUser+int64(i))
	}
	for i := range s.tables {
		d.describeReferences(s, &s.tables[i], oidFirstUser+int64(i))
	}
	for _, values := range []map[string]string{fixedSettings, defaultSettings} {
		for _, name := range slices.Sorted(maps.Keys(values)) {
			context := "user"
			if _, fixed := fixedSettings[name]; fixed {
				context = "internal"
			}
			d.insert("pg_settings", "name, setting, context, vartype, source, boot_val, reset_val",
				"%s, %[2]s, '%[3]s', 'string', 'default', %[2]s, %[2]s", quoteString(name),
				quoteString(values[name]), context)
		}
	}
	for _, t := range catalogTypes {
		kind := "b"
		if t.category == "X" {
			kind = "p"
		}
		d.insert("pg_type", "oid, typname, typnamespace, typowner, typlen, typbyval, typtype, typcategory, "+
			"typisdefined, typdelim, typelem, typarray, typtypmod",
			"%d, %s, %d, %d, %d, %t, '%s', '%s', TRUE, ',', %d, %d, -1", t.oid, quoteString(t.name),
			oidCatalogNamespace, oidRole, t.length, t.length > 0 && t.length <= 8, kind, t.category,
			t.element,
			t.array)
	}
	return d
}

func (d *description) describeTable(t *table, id int64) {
	kind := "r"
	if t.kind == "view" {
		kind = "v"
		d.views[id] = " " + viewQuery(t.definition)
	}
	d.insert("pg_class",
		"oid, relname, relnamespace, relowner, relam, relkind, relpersistence, relreplident, "+
			"relnatts, relhasindex, reltuples, relispopulated, relhasrules, relhastriggers",
		"%d, %s, %d, %d, %d, '%s', 'p', 'd', %d, %t, -1, TRUE, %t, %t", id, quoteString(t.name),
		oidPublicNamespace, oidRole, oidHeap, kind, len(t.columns), len(t.indexes) > 0, kind == "v",
		kind == "r")
	for i, column := range t.columns {
		d.columns[id] = append(d.columns[id], column.name)
		d.describeColumn(id, i+1, &column)
	}
	if names, positions := t.primaryKey(); len(names) > 0 {
		x := &index{name: t.name + "_pkey", unique: true, origin: "pk", columns: names, positions: positions}
		d.describeIndex(t, id, x)
	}
	for i := range t.indexes {
		if t.indexes[i].origin != "pk" {
			d.describeIndex(t, id, &t.indexes[i])
		}
	}
}

// viewQuery returns what follows AS in a CREATE VIEW statement.
func viewQuery(definition string) string {
	tokens := scan(definition, dialectSQLite)
	for i, t := range tokens {
		if t.is("as") {
			return strings.TrimSuffix(joinTokens(trimTokens(tokens[i+1:])), ";") + ";"
		}
	}
	return definition
}

func (d *description) describeColumn(table int64, number int, column *tableColumn) {
	o := ofDeclared(column.declared)
	if o == oidUnspecified {
		o = oidText
	}
	generated := ""
	if column.generated {
		generated = "s"
	}
	d.insert("pg_attribute",
		"attrelid, attname, atttypid, attlen, attnum, atttypmod, attnotnull, atthasdef, "+
			"attgenerated, attislocal, attstattarget, attstorage, attalign",
		"%d, %s, %d, %d, %d, -1, %t, %t, '%s', TRUE, -1, 'p', 'i'", table, quoteString(column.name), o,
		o.size(),
		number, column.notNull || column.primary > 0, column.defaultValue.Valid, generated)
	if column.defaultValue.Valid {
		d.insert("pg_attrdef", "oid, adrelid, adnum, adbin", "%d, %d, %d, %s", d.next(), table, number,
			quoteString(column.defaultValue.String))
	}
}

func (d *description) describeIndex(t *table, table int64, x *index) {
	id := d.next()
	d.names[id] = x.name
	d.relations[strings.ToLower(x.name)] = id
	d.indexes[id] = indexDefinition(t, x)
	d.columns[id] = x.columns
	d.insert("pg_class",
		"oid, relname, relnamespace, relowner, relam, relkind, relpersistence, relreplident, "+
			"relnatts, relispopulated",
		"%d, %s, %d, %d, %d, 'i', 'p', 'n', %d, TRUE", id, quoteString(x.name),
		oidPublicNamespace, oidRole, oidBtree, len(x.columns))
	for i, name := range x.columns {
		column := tableColumn{name: name, declared: "TEXT"}
		if at := x.positions[i]; at > 0 && at <= len(t.columns) {
			column.declared = t.columns[at-1].declared
		}
		d.describeColumn(id, i+1, &column)
	}
	d.insert("pg_index",
		"indexrelid, indrelid, indnatts, indnkeyatts, indisunique, indisprimary, indisvalid, "+
			"indisready, indislive, indimmediate, indkey",
		"%d, %d, %d, %d, %t, %t, TRUE, TRUE, TRUE, TRUE, '%s'", id,
		table, len(x.columns), len(x.columns), x.unique, x.origin == "pk", joinNumbers(x.positions, " "))
	if x.origin == "c" {
		return
	}
	kind, words := "u", "UNIQUE"
	if x.origin == "pk" {
		kind, words = "p", "PRIMARY KEY"
	}
	constraint := d.next()
	d.constraints[constraint] = words + " (" + quoteNames(x.columns) + ")"
	d.insert("pg_constraint",
		"oid, conname, connamespace, contype, convalidated, conrelid, conindid, conislocal, "+
			"conkey", "%d, %s, %d, '%s', TRUE, %d, %d, TRUE, '{%s}'", constraint, quoteString(x.name),
		oidPublicNamespace, kind, table, id, joinNumbers(x.positions, ","))
}

func (d *description) describeReferences(s *schema, t *table, id int64) {
	for i, f := range t.references {
		at, ok := s.byName[strings.ToLower(f.table)]
		if !ok {
			continue
		}
		target := &s.tables[at]
		to := f.to
		if len(to) == 0 {
			to, _ = target.primaryKey()
		}
		name := t.name + "_" + strings.Join(f.from, "_") + "_fkey"
		if i > 0 {
			name += fmt.Sprint(i)
		}
		constraint := d.next()
		d.constraints[constraint] = fmt.Sprintf("FOREIGN KEY (%s) REFERENCES %s(%s)", quoteNames(f.from),
			quoteName(target.name), quoteNames(to))
		d.insert("pg_constraint", "oid, conname, connamespace, contype, convalidated, conrelid, confrelid, "+
			"confupdtype, confdeltype, confmatchtype, conislocal, conkey, confkey",
			"%d, %s, %d, 'f', TRUE, %d, %d, 'a', 'a', 's', TRUE, '{%s}', '{%s}'", constraint,
			quoteString(name),
			oidPublicNamespace, id, oidFirstUser+at, joinNumbers(positionsOf(t, f.from), ","),
			joinNumbers(positionsOf(target, to), ","))
	}
}

func positionsOf(t *table, names []string) []int {
	var positions []int
	for _, name := range names {
		for i, column := range t.columns {
			if strings.EqualFold(column.name, name) {
				positions = append(positions, i+1)
			}
		}
	}
	return positions
}

func joinNumbers(numbers []int, separator string) string {
	texts := make([]string, len(numbers))
	for i, n := range numbers {
		texts[i] = fmt.Sprint(n)
	}
	return strings.Join(texts, separator)
}
