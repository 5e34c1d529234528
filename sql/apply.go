package vastsql

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/probe"
)

// outcome is the result of an edit.
type outcome struct {
	entities []uint64 // IDs of the entities of the rows, without the rows that OR IGNORE leaves out
	err      error
}

// pending holds the statements that wait for the outcome of an edit that the program applies.
var pending struct {
	mu    sync.Mutex
	edits map[pendingEdit]chan outcome
}

// pendingEdit identifies an edit for which a statement waits. It includes the world, because other worlds of
// the process may replay the edit.
type pendingEdit struct {
	world  *vast.World
	number uint64
}

// Apply carries out an encoded edit that a statement has passed to Options.Edit. Call Apply on the goroutine
// that owns the world, at a point where the structure may change. If a statement of this process waits for
// the edit, Apply passes it the outcome. A program may call Apply again in another process, for example in a
// replay: the same edits of the same world give the same world, with the same IDs of new entities.
//
// For any other input, Apply changes nothing and returns [ErrNotEdit]. Each encoded edit begins with the text
// "vastsql". For a damaged edit, Apply changes nothing and returns another error. If a program records inputs
// of clients, it must not give them to Apply: a client could send an encoded edit. For example, let these
// inputs begin with another byte.
//
// An edit that does not fit the world changes nothing. Apply returns a [*WriteError], and the statement gets
// it, too. If there was not enough memory for the edit, errors.As finds a *vm.Error in the error. In this
// case, a program that keeps the world in a store must call store.Store.Changed, because the replay may get
// the memory and make a different world. If a callback of the program panics, Apply recovers the panic and
// returns a WriteError. Then the changes before the panic remain.
func Apply(w *vast.World, input []byte) error {
	e, err := decodeEdit(input)
	if err != nil {
		return err
	}
	c, err := resolve(w, e)
	o := outcome{err: err}
	if err == nil {
		o = c.apply()
	}
	pending.mu.Lock()
	defer pending.mu.Unlock()
	if waiting := pending.edits[pendingEdit{w, e.number}]; waiting != nil {
		select {
		case waiting <- o:
		default: // an earlier call of Apply has answered
		}
	}
	return o.err
}

// resolve finds the columns and fields of a decoded edit.
func resolve(w *vast.World, e *worldEdit) (*change, error) {
	if e.verb == verbDelete && len(e.columns) > 1 {
		return nil, errDamagedEdit
	}
	t, err := tableOf(w, e.columns)
	if err != nil {
		return nil, err
	}
	keys := t.keys(e.verb)
	if len(e.fields) < len(keys) || e.verb == verbUpdate && len(e.fields) == len(keys) {
		return nil, errDamagedEdit
	}
	var fields []int
	for at, name := range e.fields {
		i := slices.IndexFunc(t.fields, func(f field) bool { return f.name == name })
		switch {
		case at < len(keys) && i != keys[at]:
			return nil, errDamagedEdit
		case i < 0 || !t.isValue(i) || at >= len(keys) && slices.Contains(fields[len(keys):], i):
			return nil, refuse(codeNoColumn, "%s has no field %.80q", t.name, name)
		}
		if err := t.settable(&t.fields[i]); err != nil {
			return nil, err
		}
		fields = append(fields, i)
	}
	return newChange(w, e, t, fields), nil
}

// tableOf returns the table of an edit.
func tableOf(w *vast.World, names []columnName) (*table, error) {
	if len(names) == 0 {
		return &table{name: entitiesTable}, nil
	}
	var columns []vast.AnyColumn
	for _, name := range names {
		col := columnNamed(w, name)
		if col != nil && len(names) == 1 {
			if t := newEdgesTable(w, col); t != nil {
				return t, nil
			}
		}
		if col == nil || !hasTable(col) || slices.Contains(columns, col) {
			return nil, refuse(codeNoColumn, "the world has no component %.80q, or several", name.name)
		}
		columns = append(columns, col)
	}
	return newTable(w, "", columns...), nil
}

// hasTable reports whether a column has a table with one row for each entity. Neither column of edges has
// such a table. Of the two columns of a relation, only the column of the sources has one.
func hasTable(col vast.AnyColumn) bool {
	_, isRelation := probe.RelationOf(col)
	return isRelation || probe.Describe(col).Linked == ""
}

// columnNamed returns the column with the given name and number. Without such a column, columnNamed returns
// the only column with the name, because the number can differ in another build of the program. Otherwise it
// returns nil.
func columnNamed(w *vast.World, name columnName) vast.AnyColumn {
	columns := probe.Columns(w)
	if name.number < len(columns) && columns[name.number].Name() == name.name {
		return columns[name.number]
	}
	var found vast.AnyColumn
	for _, col := range columns {
		if col.Name() == name.name {
			if found != nil {
				return nil
			}
			found = col
		}
	}
	return found
}

// write carries out an edit of a table between two ticks, or submits the edit if Options.Edit is set. fields
// are the indices of e.fields in the table.
func (r *reader) write(ctx context.Context, e *worldEdit, t *table, fields []int) (o outcome) {
	if r.o.Edit != nil {
		return r.submit(ctx, e, t)
	}
	c := newChange(r.world, e, t, fields)
	err := r.world.Visit(ctx, func() bool {
		o = c.apply()
		return true
	})
	if err != nil {
		return outcome{err: err}
	}
	return o
}

// submit passes an edit to the program, and waits until the program has applied it.
func (r *reader) submit(ctx context.Context, e *worldEdit, t *table) outcome {
	for i := range t.parts {
		if p := &t.parts[i]; p.column != nil {
			e.columns = append(e.columns, columnName{p.info.Name, p.info.ID})
		}
	}
	e.number = rand.Uint64()
	result, key := make(chan outcome, 1), pendingEdit{r.world, e.number}
	pending.mu.Lock()
	if pending.edits == nil {
		pending.edits = map[pendingEdit]chan outcome{}
	}
	pending.edits[key] = result
	pending.mu.Unlock()
	defer func() {
		pending.mu.Lock()
		delete(pending.edits, key)
		pending.mu.Unlock()
	}()
	if err := r.o.Edit(ctx, e.encode()); err != nil {
		select {
		case o := <-result:
			if changedNothing(o.err) {
				return o
			}
		default:
		}
		return outcome{err: unsure(ctx, err)}
	}
	select {
	case o := <-result:
		return o
	case <-ctx.Done():
	}
	select {
	case o := <-result: // select chooses at random if both channels are ready
		return o
	default:
		return outcome{err: unsure(ctx, ctx.Err())}
	}
}

// changedNothing reports whether err is the error of an edit that did not change the world.
func changedNothing(err error) bool {
	refused, ok := errors.AsType[*WriteError](err)
	return ok && refused.Code != codePanic
}

// unsure returns the error of a statement whose edit the program may or may not apply.
func unsure(ctx context.Context, err error) error {
	err = interrupted(ctx, err)
	unsure := refuse(codeUnsure, "the statement was passed to the program, which may have applied it or may "+
		"still apply it: %v: read the rows before you repeat the statement", err)
	unsure.cause = err
	return unsure
}
