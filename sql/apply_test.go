package vastsql

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/ncruces/go-sqlite3"
	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/crashtest"
	"github.com/vastgo/vast/store"
	"github.com/vastgo/vast/vm"
)

// TestCrash writes to a world that a store keeps. It recovers the world from a copy of the store's folder, as
// after a crash.
func TestCrash(t *testing.T) {
	ctx := t.Context()
	open := func(dir string, apply func(*written, []byte)) (*written, *store.Store, error) {
		w := newWritten(t, vast.Options{})
		st, err := store.Open(dir, w.world, store.Options{Every: time.Hour})
		if err != nil {
			return nil, nil, err
		}
		return w, st, st.Recover(func(input []byte) { apply(w, input) }, func() error {
			for e := range w.world.Query(w.units).All() {
				w.units.Edit(e).B++
			}
			return nil
		})
	}
	var own []string
	refused := 0
	apply := func(w *written, input []byte) {
		switch err := Apply(w.world, input); {
		case errors.Is(err, ErrNotEdit):
			own = append(own, string(input))
		case err != nil:
			refused++
		}
	}
	dir := t.TempDir()
	w, st, err := open(dir, apply)
	if err != nil {
		t.Fatal(err)
	}
	ended, stop := make(chan error), make(chan struct{})
	go func() {
		var err error
		for end := false; !end; {
			select {
			case <-stop:
				end = true
			case <-time.After(100 * time.Microsecond):
			}
			err = errors.Join(err, st.Tick(func() error {
				for e := range w.world.Query(w.units).All() {
					w.units.Edit(e).B++
				}
				return nil
			}))
			w.world.Admit(time.Millisecond)
		}
		ended <- err
	}()
	db := w.open(t, Options{Edit: st.Submit})
	last, _ := exec(t, db, "INSERT INTO unit(a) VALUES (1), (2), (3)")
	exec(t, db, "INSERT INTO memo(entity, text, raw) SELECT entity, 'é', x'00ff' FROM unit")
	exec(t, db, "UPDATE unit SET c = 1e300 * 1e300 WHERE a = 2")
	exec(t, db, "UPDATE unit SET a = a + 1, b = 0 WHERE entity = ?", last)
	exec(t, db, "INSERT INTO name VALUES (?, 'Ann'), (NULL, 'Bob')", last)
	exec(t, db, "INSERT INTO child_of SELECT entity, ? FROM name WHERE name = 'Bob'", last)
	exec(t, db, "DELETE FROM memo WHERE entity = ?", last)
	exec(t, db, "INSERT INTO trades SELECT u.entity, v.entity, u.a, v.a FROM unit u, unit v WHERE u.a <> v.a")
	exec(t, db, "UPDATE trades SET amount = amount + 100 WHERE target = ?", last)
	exec(t, db, "UPDATE trades SET target = source WHERE target = ? AND price > 0", last)
	exec(t, db, "DELETE FROM trades WHERE price = 2")
	_, err = db.Exec("INSERT INTO name(name) VALUES ('Eve'), ('Ann')")
	isRefused(t, "a taken name", err, codeExists, "Ann")
	if _, err := st.Record([]byte("of the program")); err != nil {
		t.Fatal(err)
	}
	exec(t, db, "DELETE FROM entities WHERE entity IN (SELECT entity FROM unit WHERE a = 1)")
	exec(t, db, "INSERT INTO spare(q) VALUES (5)")
	close(stop)
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	position, err := st.Record([]byte("for the next tick")) // when this input is durable, all ticks are, too
	if err == nil {
		err = st.Wait(ctx, position)
	}
	if err != nil {
		t.Fatal(err)
	}
	copied := crashtest.Copy(t, dir)
	if refused != 1 || !slices.Equal(own, []string{"of the program"}) {
		t.Errorf("%d edits were refused, want 1; the other inputs are %q", refused, own)
	}
	refused, own = 0, nil
	again, st2, err := open(copied, apply)
	if err != nil {
		t.Fatal(err)
	}
	w.serve(t)
	again.serve(t)
	got, want := dump(t, again.open(t, Options{})), dump(t, w.open(t, Options{}))
	if !slices.Equal(got, want) {
		t.Errorf("after the crash:\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if len(want) != 12 || refused != 1 || len(own) != 1 {
		t.Errorf("%d rows, %d edits were refused, %d other inputs; want 12, 1 and 1", len(want), refused,
			len(own))
	}
	for _, one := range []struct {
		w  *written
		st *store.Store
	}{{w, st}, {again, st2}} {
		if err := one.w.world.Visit(ctx, func() bool {
			err = one.st.Close()
			return true
		}); err != nil {
			t.Error(err)
		}
		if err != nil {
			t.Error(err)
		}
	}
}

// TestProgramThatDoesNotApply checks programs that lose an edit or report an error.
func TestProgramThatDoesNotApply(t *testing.T) {
	w := newWritten(t, vast.Options{})
	w.world.Archetype(w.units).New()
	w.serve(t)
	full := errors.New("the disk is full")
	for _, c := range []struct {
		edit func(ctx context.Context, edit []byte) error
		is   error
	}{
		{func(context.Context, []byte) error { return nil }, context.Canceled},
		{func(ctx context.Context, _ []byte) error {
			<-ctx.Done()
			return ctx.Err()
		}, context.Canceled},
		{func(context.Context, []byte) error { return full }, full},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		called := false
		db := w.open(t, Options{Edit: func(inner context.Context, edit []byte) error {
			called = true
			cancel()
			return c.edit(inner, edit)
		}})
		_, err := db.ExecContext(ctx, "UPDATE unit SET a = 1")
		isRefused(t, "an edit that the program does not apply", err, codeUnsure, "read the rows")
		if !called || !errors.Is(err, c.is) {
			t.Errorf("the error is %v, want %v", err, c.is)
		}
		if got := read(t, db, "SELECT a FROM unit"); got[0] != "0" {
			t.Errorf("a is %s, want 0", got)
		}
	}
}

// TestKnownOutcome checks that a statement returns the outcome of an edit if Edit returns the error of Apply,
// or if the statement is cancelled after Apply. The outcome is unknown if a callback panics, or if Edit
// returns an error that does not come from Apply.
func TestKnownOutcome(t *testing.T) {
	w := newWritten(t, vast.Options{})
	w.spares.OnAdd(func(vast.Entity, *spare) { panic("no spare") })
	w.serve(t)
	apply := func(edit []byte) error {
		var applied error
		err := w.world.Visit(t.Context(), func() bool {
			applied = Apply(w.world, edit)
			return true
		})
		return errors.Join(err, applied)
	}
	db := w.open(t, Options{Edit: func(_ context.Context, edit []byte) error { return apply(edit) }})
	exec(t, db, "INSERT INTO name(name) VALUES ('Ann')")
	_, err := db.Exec("INSERT INTO name(name) VALUES ('Ann')")
	isRefused(t, "a taken name", err, codeExists, "Ann")
	_, err = db.Exec("INSERT INTO spare(p) VALUES (1)")
	isRefused(t, "an edit whose callback panics", err, codeUnsure, "no spare")
	full := errors.New("the disk is full")
	db = w.open(t, Options{Edit: func(_ context.Context, edit []byte) error {
		return errors.Join(apply(edit), full)
	}})
	_, err = db.Exec("INSERT INTO unit(a) VALUES (1)")
	isRefused(t, "an applied edit that is not durable", err, codeUnsure, "the disk is full")
	for range 30 { // 30 times, because Go's select statement chooses at random
		ctx, cancel := context.WithCancel(t.Context())
		db := w.open(t, Options{Edit: func(_ context.Context, edit []byte) error {
			defer cancel()
			return apply(edit)
		}})
		if _, err := db.ExecContext(ctx, "INSERT INTO unit(a) VALUES (2)"); err != nil {
			t.Fatal("an applied edit:", err)
		}
	}
}

// TestAppliedTextIsCopied checks that the texts of the world are not parts of an edit's memory.
func TestAppliedTextIsCopied(t *testing.T) {
	w := newWritten(t, vast.Options{})
	defer w.world.Close()
	first, second := strings.Repeat("1", 5000), strings.Repeat("2", 5000)
	e := worldEdit{verb: verbInsert, columns: []columnName{{name: "memo"}}, fields: []string{"text"},
		entities: []uint64{0, 0}, values: []value{{typ: sqlite3.TEXT, text: first},
			{typ: sqlite3.TEXT, text: second}}}
	edit := e.encode()
	if err := Apply(w.world, edit); err != nil {
		t.Fatal(err)
	}
	var at []uintptr
	for e := range w.world.Query(w.memos).All() {
		at = append(at, uintptr(unsafe.Pointer(unsafe.StringData(w.memos.Get(e).Text))))
	}
	if inEdit := bytes.Index(edit, []byte(second)) - bytes.Index(edit, []byte(first)); len(at) != 2 ||
		at[1]-at[0] == uintptr(inEdit) {
		t.Errorf("the world has %d texts, want 2 texts that are copies", len(at))
	}
}

// TestCancelledWrite cancels a statement before the owner of the world applies it.
func TestCancelledWrite(t *testing.T) {
	w := newWritten(t, vast.Options{})
	w.world.Archetype(w.units).New()
	db := w.open(t, Options{})
	db.SetMaxOpenConns(1)
	connected := make(chan error, 1)
	go func() { connected <- db.Ping() }()
	for len(connected) == 0 {
		w.world.Admit(0)
	}
	if err := <-connected; err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := db.ExecContext(ctx, "INSERT INTO unit(a) VALUES (1)")
		done <- err
	}()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v, want context.Canceled", err)
	}
	w.world.Admit(time.Second)
	if n := w.world.Len(); n != 1 {
		t.Errorf("%d entities live, want 1", n)
	}
	w.serve(t)
}

// TestWritesWithoutMemory raises the limit of memory until a statement succeeds. The statement must write all
// rows or no row.
func TestWritesWithoutMemory(t *testing.T) {
	for _, text := range []string{
		"INSERT INTO unit(a) SELECT 1 FROM memo",
		"INSERT INTO both(\"unit.a\") SELECT 1 FROM memo",
		"INSERT INTO spare(entity, q) SELECT entity, 1 FROM memo",
		"INSERT INTO unit(entity, a) SELECT entity, 1 FROM memo UNION ALL SELECT NULL, 2 FROM memo",
		"INSERT INTO frozen(entity) SELECT NULL FROM memo",
		"INSERT INTO frozen SELECT entity FROM memo",
		"INSERT INTO name(entity, name) SELECT entity, text || entity FROM memo",
		"INSERT INTO child_of(target) SELECT entity FROM memo",
		"INSERT INTO child_of SELECT entity, entity - 1 FROM memo WHERE entity > (SELECT min(entity) FROM " +
			"memo)",
		"INSERT INTO child_of SELECT NULL, max(entity) FROM memo UNION ALL SELECT max(entity), min(entity) " +
			"FROM memo",
		"UPDATE child_of SET target = (SELECT min(entity) FROM memo) WHERE source - target = 1",
		"INSERT INTO trades(target, amount) SELECT entity, 3 FROM memo",
		"INSERT INTO trades SELECT a.entity, b.entity, 1, 2 FROM memo a, memo b WHERE a.entity & 127 = 0",
		"INSERT INTO trades(source, target) SELECT entity, entity FROM memo UNION ALL SELECT NULL, " +
			"max(entity) FROM memo",
		"DELETE FROM entities WHERE entity % 2 = 0",
	} {
		limit := vm.NewLimit(1 << 40)
		w := newWritten(t, vast.Options{Limit: limit, MaxEntities: 1 << 14})
		w.world.Require(w.spares, w.frozen)
		w.world.Archetype(w.memos).NewN(500, nil)
		if strings.HasPrefix(text, "UPDATE child_of") {
			for _, e := range slices.Collect(w.world.Query(w.memos).All()) {
				if e.Slot()%50 != 0 {
					w.childOf.Set(e, vast.EntityOf(e.ID()-1))
				}
			}
		}
		w.serve(t)
		db := w.open(t, Options{Tables: map[string][]vast.AnyColumn{"both": {w.units, w.spares}}})
		before, changes, failed := dump(t, db), w.world.Changes(), 0
		for max := limit.Used(); ; max += 8 << 10 {
			limit.SetMax(max)
			_, err := db.Exec(text)
			if err == nil {
				break
			}
			failed++
			isRefused(t, text, err, codeNoMemory, "")
			if !errors.As(err, new(*vm.Error)) {
				t.Fatalf("%s: no *vm.Error in %v", text, err)
			}
			if n := w.world.Changes(); n != changes {
				t.Fatalf("%s: with a limit of %d bytes, the failed statement has made %d changes", text, max,
					n-changes)
			}
		}
		if slices.Equal(dump(t, db), before) {
			t.Errorf("%s has no effect", text)
		}
		if failed == 0 && !strings.HasPrefix(text, "DELETE") && !strings.HasPrefix(text, "UPDATE") {
			t.Errorf("%s needs no memory", text)
		}
	}
}

func TestLimitsOfWrites(t *testing.T) {
	w := newWritten(t, vast.Options{})
	w.serve(t)
	const eleven = "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 11) "
	for _, c := range []struct {
		o            Options
		option, text string
	}{
		{Options{MaxRows: 10}, "MaxRows", eleven + "INSERT INTO unit(a) SELECT i FROM n"},
		{Options{MaxMemoryBytes: 400}, "MaxMemoryBytes", eleven + "INSERT INTO unit(a) SELECT i FROM n"},
		{Options{MaxMemoryBytes: 400}, "MaxMemoryBytes",
			"INSERT INTO memo(text) VALUES (hex(zeroblob(300)))"},
	} {
		_, err := w.open(t, c.o).Exec(c.text)
		if limit, ok := errors.AsType[*LimitError](err); !ok || limit.Option != c.option {
			t.Errorf("%s: the error is %v, want the limit %s", c.text, err, c.option)
		}
	}
	exec(t, w.open(t, Options{MaxRows: 11}), eleven+"INSERT INTO unit(a) SELECT i FROM n")
	if n := w.world.Len(); n != 11 {
		t.Errorf("%d entities live, want 11", n)
	}
}

// TestApplyRefuses passes inputs to Apply that are not edits, and edits that do not fit the world.
func TestApplyRefuses(t *testing.T) {
	w := newWritten(t, vast.Options{})
	defer w.world.Close()
	roads := vast.NewEdges[int32](w.world, "Roads", vast.EdgesOptions{})
	vast.NewTag(w.world, "twice")
	vast.NewRelation(w.world, "twice", vast.RelationOptions{})
	e := w.world.Archetype(w.units).New()
	for _, input := range []string{"", "{}", "vastsql", `{"do":"set","entity":"0.1"}`, "vastsql\x02..."} {
		if err := Apply(w.world, []byte(input)); !errors.Is(err, ErrNotEdit) {
			t.Errorf("%q: the error is %v, want ErrNotEdit", input, err)
		}
	}
	good := worldEdit{verb: verbUpdate, columns: []columnName{{name: "unit"}}, fields: []string{"a"},
		entities: []uint64{e.ID()}, values: []value{{typ: sqlite3.INTEGER, bits: 5}}}
	whole := good.encode()
	for n := range whole {
		if err := Apply(w.world, whole[:n]); err == nil {
			t.Errorf("Apply accepts the first %d bytes of an edit", n)
		}
	}
	if err := Apply(w.world, append(whole, 0)); !errors.Is(err, errDamagedEdit) {
		t.Errorf("an edit with an additional byte: the error is %v, want errDamagedEdit", err)
	}
	for what, change := range map[string]func(*worldEdit){
		"verb":           func(e *worldEdit) { e.verb = 9 },
		"conflict":       func(e *worldEdit) { e.onConflict = 9 },
		"column":         func(e *worldEdit) { e.columns[0].name = "Unit" },
		"two columns":    func(e *worldEdit) { e.columns[0] = columnName{"twice", 0} },
		"field of edges": func(e *worldEdit) { e.columns[0].name = roads.Name() },
		"source": func(e *worldEdit) {
			e.verb, e.columns[0].name, e.fields[0] = verbInsert, roads.Name(), "source"
		},
		"edges without a value": func(e *worldEdit) {
			e.columns[0].name, e.fields[0] = roads.Name(), "target"
		},
		"edges without a target": func(e *worldEdit) {
			e.verb, e.columns[0].name, e.fields, e.values = verbDelete, roads.Name(), nil, nil
		},
		"removed edge": func(e *worldEdit) {
			e.verb, e.columns[0].name, e.fields[0] = verbDelete, roads.Name(), "target"
		},
		"value twice": func(e *worldEdit) {
			e.columns[0].name, e.fields = roads.Name(), []string{"target", "value", "value"}
			e.values = []value{e.values[0], e.values[0], e.values[0]}
		},
		"private column": func(e *worldEdit) { e.columns[0].name = "ChildOf targets" },
		"column twice":   func(e *worldEdit) { e.columns = append(e.columns, e.columns[0]) },
		"field":          func(e *worldEdit) { e.fields[0] = "z" },
		"entity field":   func(e *worldEdit) { e.fields[0] = "entity" },
		"value":          func(e *worldEdit) { e.values[0].bits = 500 },
		"type":           func(e *worldEdit) { e.values[0].typ = sqlite3.BLOB },
		"entity":         func(e *worldEdit) { e.entities[0]++ },
		"new entity":     func(e *worldEdit) { e.entities[0] = 0 },
		"no column":      func(e *worldEdit) { e.columns, e.fields, e.values = nil, nil, nil },
	} {
		bad := good
		bad.columns, bad.fields = slices.Clone(good.columns), slices.Clone(good.fields)
		bad.entities, bad.values = slices.Clone(good.entities), slices.Clone(good.values)
		change(&bad)
		if err := Apply(w.world, bad.encode()); err == nil {
			t.Errorf("%s: Apply accepts the edit", what)
		}
	}
	good.columns[0].number = 3 // in another build, the column may have another number
	if err := Apply(w.world, good.encode()); err != nil || w.units.Get(e).A != 5 {
		t.Errorf("a column with another number: a is %d and the error is %v, want 5", w.units.Get(e).A, err)
	}
}

// TestColumnsOfOneName writes the second of two columns that have the same name.
func TestColumnsOfOneName(t *testing.T) {
	w := newWritten(t, vast.Options{})
	type other struct{ B, A int64 }
	second := vast.NewColumn[other](w.world).Named("unit")
	w.world.Archetype(w.units, second).New()
	w.serve(t)
	db := w.open(t, Options{Edit: func(ctx context.Context, edit []byte) (err error) {
		return errors.Join(w.world.Visit(ctx, func() bool {
			err = Apply(w.world, edit)
			return true
		}), err)
	}})
	exec(t, db, "UPDATE unit_2 SET a = 1000")
	if got := read(t, db, "SELECT u.a, v.a FROM unit u JOIN unit_2 v USING (entity)"); got[0] != "0|1000" {
		t.Errorf("a is %s, want 0|1000", got)
	}
}

// TestComponentCalledEntities writes a component whose name is that of the table of entities.
func TestComponentCalledEntities(t *testing.T) {
	w := newWritten(t, vast.Options{})
	entities := vast.NewColumn[int32](w.world).Named("Entities")
	w.world.Archetype(w.units, entities, w.frozen).New()
	w.serve(t)
	recorded := Options{Tables: map[string][]vast.AnyColumn{"cold": {w.frozen, entities}},
		Edit: func(ctx context.Context, edit []byte) (err error) {
			return errors.Join(w.world.Visit(ctx, func() bool {
				err = Apply(w.world, edit)
				return true
			}), err)
		}}
	direct := recorded
	direct.Edit = nil
	for _, o := range []Options{recorded, direct} {
		db := w.open(t, o)
		exec(t, db, `UPDATE cold SET "entities.value" = "entities.value" + 1`)
		exec(t, db, `INSERT INTO cold("entities.value") VALUES (7)`)
		exec(t, db, "DELETE FROM entities_2 WHERE value < 7")
		exec(t, db, "INSERT INTO entities_2(entity, value) SELECT entity, 3 FROM unit")
	}
	got := read(t, w.open(t, Options{}), "SELECT (SELECT count(*) FROM entities), group_concat(value) "+
		"FROM entities_2")
	if got[0] != "3|3,7,8" && got[0] != "3|3,8,7" {
		t.Errorf("%s, want 3 entities with the values 3, 7 and 8", got)
	}
}
