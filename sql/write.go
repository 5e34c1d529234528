package vastsql

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"unsafe"

	"github.com/ncruces/go-sqlite3"
	"github.com/vastgo/vast"
	"github.com/vastgo/vast/vm"
)

// write describes what a statement writes. The authorizer creates the write when SQLite prepares the
// statement.
type write struct {
	verb      verb
	table     *table
	fields    []int // the table's fields that get values
	returns   bool  // whether the statement returns the IDs of the entities
	explained bool  // whether the statement is EXPLAIN, which writes nothing
	text      string
	columns   int // number of columns that the statement returns

	edit  *worldEdit      // the rows of the running statement
	bytes int             // memory of the rows in edit
	cells []reflect.Value // for each part of the table, a pointer to a value that check overwrites
}

var (
	errReadOnly = refuse(codeReadOnly, "the database is read-only: the program allows INSERT, UPDATE and "+
		"DELETE with vastsql's Options.Write")
	errStoredMoment  = refuse(codeReadOnly, "a stored moment is read-only: write to the running world")
	errInTransaction = refuse(codeTransaction, "a statement that writes cannot run in a transaction, "+
		"because ROLLBACK could not undo the statement: send the statement without BEGIN or SAVEPOINT")
)

// authorizeWrite decides whether a statement may insert, update or delete rows. ok is false for other
// actions, for SQLite's own tables, and for the table that the statement drops.
func (s *session) authorizeWrite(action sqlite3.AuthorizerActionCode, name, column, schema string) (
	code sqlite3.AuthorizerReturnCode, ok bool) {
	v := map[sqlite3.AuthorizerActionCode]verb{sqlite3.AUTH_INSERT: verbInsert,
		sqlite3.AUTH_UPDATE: verbUpdate, sqlite3.AUTH_DELETE: verbDelete}[action]
	switch {
	case action == sqlite3.AUTH_DROP_VTABLE:
		s.dropped = name
		return 0, false
	case v == 0 || strings.HasPrefix(name, "sqlite_") || name == s.dropped:
		return 0, false
	}
	t := s.schema.find(name)
	if schema == "temp" {
		t = s.schema.temp[strings.ToLower(name)]
	}
	err := error(refuse(codeReadOnly, "table %s is read-only", name))
	if t != nil {
		err = s.noteWrite(v, t, column)
	}
	if err != nil {
		s.err = err
		return sqlite3.AUTH_DENY, true
	}
	return sqlite3.AUTH_OK, true
}

// noteWrite records that the statement in preparation writes a table. column is the column that an UPDATE
// sets. noteWrite returns an error if the statement must not write the table.
func (s *session) noteWrite(v verb, t *table, column string) error {
	if s.reader.readOnly != nil {
		return s.reader.readOnly
	}
	if err := t.refuses(v); err != nil {
		return err
	}
	if s.write == nil {
		s.write = &write{}
	}
	w := s.write
	// w.table is nil at first. w.table is the old table if SQLite prepares the statement again because the
	// table was made anew.
	if w.table != t {
		*w = write{verb: v, table: t, text: w.text, columns: w.columns, edit: w.edit}
		if w.text != "" {
			if err := w.read(w.text, w.columns); err != nil {
				return err
			}
		}
	}
	if v != verbUpdate {
		return nil
	}
	i := slices.IndexFunc(t.fields, func(f field) bool { return strings.EqualFold(f.name, column) })
	if i < 0 || !t.isValue(i) {
		return refuse(codeFixedColumn, "column %s of table %s cannot be set", strings.ToLower(column), t.name)
	}
	if !slices.Contains(w.fields, i) {
		w.fields = append(w.fields, i)
	}
	return t.settable(&t.fields[i])
}

// updatesOrDeletes reports whether the statement updates or deletes rows of a table. w may be nil.
func (w *write) updatesOrDeletes(t *table) bool {
	return w != nil && w.table == t && w.verb != verbInsert
}

// isValue reports whether field i holds a value that statements can set. Other fields tell the entity of a
// row.
func (t *table) isValue(i int) bool {
	return t.fields[i].part >= 0 && (t.edges == nil || i != partSource)
}

// isEntities reports whether t is the table of entities. A component may have the same name.
func (t *table) isEntities() bool { return t.name == entitiesTable && len(t.parts) == 0 }

// refuses returns an error if no statement of kind v may write the table.
func (t *table) refuses(v verb) error {
	isOneComponent := len(t.parts) == 1 && t.archetype == nil || t.edges != nil
	switch {
	case t.list != nil:
		return t.readOnly("it shows a slice of the program")
	case t.report != nil:
		return t.readOnly("each query computes the rows of this table")
	case t.isEntities() && v == verbUpdate:
		return refuse(codeReadOnly, "the columns of table %s cannot be set: UPDATE the table of a "+
			"component, or the table \"name\"", t.name)
	case !t.isEntities() && v == verbDelete && !isOneComponent:
		return refuse(codeUnsupported, "DELETE FROM %s could mean two things: use DELETE FROM entities to "+
			"delete entities, or DELETE FROM the table of a component to remove this component", t.name)
	}
	for i := range t.parts {
		if p := &t.parts[i]; t.edges == nil && !hasTable(p.column) {
			return t.readOnly(fmt.Sprintf("it shows entities that have links of %s: write to the table of "+
				"the links", p.info.Name))
		}
	}
	return nil
}

func (t *table) readOnly(why string) error {
	return refuse(codeReadOnly, "table %s is read-only: %s", t.name, why)
}

// Update adds a row of the running statement to the edit. For a DELETE, SQLite passes the result of
// cursor.RowID. For an UPDATE, SQLite passes this result, the new row ID and the values of columns. For an
// INSERT, SQLite passes NULL in place of the result.
func (v *vtab) Update(arg ...sqlite3.Value) (rowid int64, err error) {
	s := v.session
	if w := s.write; w == nil || w.table != v.table || w.edit == nil {
		err = fmt.Errorf("vastsql: the statement writes table %s unexpectedly", v.table.name)
	} else if err = v.note(w, arg); err == nil {
		err = s.reader.limitEdit(w)
	}
	s.err = err
	return 0, err
}

// note adds a row to the edit.
func (v *vtab) note(w *write, arg []sqlite3.Value) error {
	if err := w.noteConflict(v.session.db.VTabOnConflict()); err != nil {
		return err
	}
	if v.table.keys(w.verb) == nil {
		entity, err := w.entity(arg)
		if err != nil {
			return err
		}
		return w.noteRow(entity, nil, arg)
	}
	m, err := v.session.image(v.table, -1, 0)
	if err != nil {
		return err
	}
	row := int(arg[0].Int64())
	source, target := m.entityAt(partSource, row), m.entityAt(partTarget, row)
	return w.noteRow(source, []value{{typ: sqlite3.INTEGER, bits: target}}, arg)
}

// noteConflict records what the edit does with rows that exist already. It refuses OR FAIL.
func (w *write) noteConflict(mode sqlite3.VTabConflictMode) error {
	e := w.edit
	switch mode {
	case sqlite3.VTAB_IGNORE:
		e.onConflict = conflictIgnore
	case sqlite3.VTAB_REPLACE:
		e.onConflict = conflictReplace
	case sqlite3.VTAB_FAIL:
		return refuse(codeUnsupported, "OR FAIL could write a part of the rows: use OR ABORT, OR IGNORE or "+
			"OR REPLACE")
	}
	return nil
}

// noteRow adds a row to the edit. keys are the values of table.keys.
func (w *write) noteRow(entity uint64, keys []value, arg []sqlite3.Value) error {
	e := w.edit
	e.entities, e.values = append(e.entities, entity), append(e.values, keys...)
	w.bytes += 8 + len(keys)*int(unsafe.Sizeof(value{}))
	for _, i := range w.fields {
		v := valueOf(arg[2+i])
		if wrong := w.check(&w.table.fields[i], v); wrong != nil {
			refused := refuse(wrong.code, "%s %s", w.table.fields[i].name, wrong.text)
			refused.Row, refused.Entity = len(e.entities), vast.EntityOf(entity)
			return refused
		}
		e.values = append(e.values, v)
		w.bytes += int(unsafe.Sizeof(v)) + len(v.text)
	}
	return nil
}

// entity returns the ID of the entity of a row, or 0 for a new entity.
func (w *write) entity(arg []sqlite3.Value) (uint64, error) {
	if w.verb != verbInsert {
		return uint64(arg[0].Int64()), nil
	}
	if arg[1].Type() != sqlite3.NULL {
		return 0, refuse(codeFixedColumn, "rowid cannot be set")
	}
	v := valueOf(arg[2])
	if w.table.isEntities() || w.table.archetype != nil {
		for i, f := range w.table.fields {
			if f.part < 0 && arg[2+i].Type() != sqlite3.NULL {
				return 0, refuse(codeFixedColumn, "table %s only gets new entities: leave %s out",
					w.table.name, f.name)
			}
		}
	}
	if v.isNull() {
		return 0, nil
	}
	if v.typ != sqlite3.INTEGER || v.bits == 0 {
		return 0, refuse(codeMismatch, "%s must be the ID of an entity, or NULL for a new entity, not %v",
			w.table.fields[0].name, v)
	}
	return v.bits, nil
}

// check reports why a value does not fit a field, or returns nil.
func (w *write) check(f *field, v value) *misfit {
	if w.cells == nil {
		for i := range w.table.parts {
			w.cells = append(w.cells, w.table.parts[i].newCell())
		}
	}
	return f.fit(w.cells[f.part].UnsafePointer(), v)
}

// prepareWrite completes p.write, and sets p.point, from the text of a statement that writes.
func (p *prepared) prepareWrite(text string) error {
	columns := p.Stmt.(interface{ ColumnCount() int }).ColumnCount()
	if err := p.write.read(text, columns); err != nil {
		return err
	}
	p.point = p.write.verb != verbInsert && p.write.readsOne(text)
	return nil
}

// limitEdit returns an error if the rows of w.edit exceed a limit of Options.
func (r *reader) limitEdit(w *write) error {
	if len(w.edit.entities) > r.o.MaxRows {
		return &LimitError{"MaxRows", fmt.Sprintf("the statement writes more than %d rows: write fewer, or "+
			"raise the limit", r.o.MaxRows)}
	}
	if w.bytes > r.o.MaxMemoryBytes {
		return &LimitError{"MaxMemoryBytes", fmt.Sprintf("the rows that the statement writes take more than "+
			"%s: write fewer, or raise the limit", vm.Bytes(r.o.MaxMemoryBytes))}
	}
	return nil
}

// nextWritten is the Next of a statement that writes. The first call runs the statement. If the statement has
// a RETURNING clause, each call returns the ID of one entity.
func (r *rows) nextWritten(dest []driver.Value) error {
	if !r.ran {
		r.ran = true
		if err := r.runWrite(); err != nil {
			return err
		}
	}
	if !r.statement.write.returns || r.n == len(r.written) {
		return io.EOF
	}
	dest[0] = int64(r.written[r.n])
	r.n++
	return nil
}

// runWrite collects the rows that a statement writes, and then writes these rows to the world.
func (r *rows) runWrite() error {
	db, w := r.conn.inner.Raw(), r.statement.write
	if !db.GetAutocommit() {
		return errInTransaction
	}
	w.edit, w.bytes = &worldEdit{verb: w.verb}, 0
	// SQLite calls vtab.Update for all rows before it returns the first row of a RETURNING clause.
	err := r.step(make([]driver.Value, len(r.Columns())))
	e := w.edit
	w.edit = nil
	switch {
	case err != nil && err != io.EOF:
		if r.conn.session.err != nil {
			err = r.conn.session.err
		}
		return interrupted(r.ctx, err)
	case len(e.entities) == 0:
		return nil
	}
	fields := append(w.table.keys(w.verb), w.fields...)
	for _, i := range fields {
		e.fields = append(e.fields, w.table.fields[i].name)
	}
	o := r.conn.session.reader.write(r.ctx, e, w.table, fields)
	if o.err != nil {
		if _, known := errors.AsType[*WriteError](o.err); known {
			return o.err
		}
		return interrupted(r.ctx, o.err)
	}
	r.written = o.entities
	if n := len(r.written); n > 0 && w.verb == verbInsert {
		db.SetLastInsertRowID(int64(r.written[n-1]))
	}
	return nil
}

// result implements driver.Result.
type result struct{ id, rows int64 }

func (r *rows) result() result {
	done := result{rows: int64(len(r.written))}
	if done.rows > 0 && r.statement.write.verb == verbInsert {
		done.id = int64(r.written[done.rows-1])
	}
	return done
}

// LastInsertId returns the ID of the entity of the last row that the statement inserted, or 0.
func (r result) LastInsertId() (int64, error) { return r.id, nil }

// RowsAffected returns the number of rows that the statement inserted, updated or deleted.
func (r result) RowsAffected() (int64, error) { return r.rows, nil }
