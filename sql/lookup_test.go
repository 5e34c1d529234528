package vastsql

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/vastgo/vast"
)

// TestLookups checks which statements are lookups. It compares the rows of a lookup with the rows of the same
// statement with the additional condition AND 1, which makes SQLite compute the rows. It also checks that a
// prepared lookup sees changes of the world.
func TestLookups(t *testing.T) {
	f := newFixture(t, 10, Options{})
	visit := func(change func()) {
		if err := f.w.Visit(t.Context(), func() bool { change(); return true }); err != nil {
			t.Fatal(err)
		}
	}
	visit(func() {
		f.positions.Set(f.entities[1], Position{float32(math.NaN()), float32(math.Inf(1))})
		f.travellers.Set(f.entities[1], Traveller{Number: math.MaxUint64, Sick: true, Mass: -0.5})
	})
	c, err := f.db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for text, is := range map[string]bool{
		`SELECT entity, x, y FROM position WHERE entity = ?`:                                       true,
		`SELECT p.y AS "the y", p.y FROM position AS p WHERE p.entity = ?1`:                        true,
		`SELECT age, sick, "home.city", "history.1", mass, number FROM traveller WHERE entity = ?`: true,
		`SELECT text, raw, tags FROM note WHERE entity = ?`:                                        true,
		`SELECT z FROM position2 WHERE entity = ?`:                                                 true,
		`SELECT entity FROM frozen WHERE entity = ?`:                                               true,
		`SELECT source, target FROM lives_in WHERE source = ?`:                                     true,
		`SELECT name FROM name WHERE entity = ?`:                                                   true,
		`SELECT x + 1 FROM position WHERE entity = ?`:                                              false,
		`SELECT x FROM position WHERE entity = ? LIMIT 1`:                                          false,
		`SELECT count(*) FROM position WHERE entity = ?`:                                           false,
	} {
		err := c.Raw(func(inner any) error {
			s, err := inner.(*conn).PrepareContext(t.Context(), text)
			if err != nil {
				return err
			}
			if got := s.(*stmt).lookup != nil; got != is {
				t.Errorf("%s: is a lookup: %t, want %t", text, got, is)
			}
			return s.Close()
		})
		if err != nil {
			t.Fatal(err)
		}
		if !is {
			continue
		}
		for _, arg := range []any{int64(f.entities[0].ID()), int64(f.entities[1].ID()),
			int64(f.entities[2].ID()),
			int64(f.entities[3].ID()), float64(f.entities[5].ID()), fmt.Sprint(f.entities[5].ID()), nil,
			int64(0), int64(-1), int64(1) << 40, 0.5, "x"} {
			got := described(t, f, text, arg)
			want := described(t, f, strings.Replace(text, "?", "? AND 1", 1), arg)
			if text, ok := strings.CutSuffix(text, " = ?1"); ok {
				want = described(t, f, text+" = ?1 AND 1", arg)
			}
			if got != want {
				t.Errorf("%s with %v:\n%s\nwant\n%s", text, arg, got, want)
			}
		}
	}
	statement, err := f.db.Prepare("SELECT x FROM position WHERE entity = ?")
	if err != nil {
		t.Fatal(err)
	}
	defer statement.Close()
	var x float64
	if err := statement.QueryRow(int64(f.entities[4].ID())).Scan(&x); err != nil || x != 2 {
		t.Errorf("x is %g, %v; want 2", x, err)
	}
	visit(func() { f.positions.Set(f.entities[4], Position{X: 7}) })
	if err := statement.QueryRow(int64(f.entities[4].ID())).Scan(&x); err != nil || x != 7 {
		t.Errorf("x is %g, %v; want 7", x, err)
	}
	visit(func() { f.w.Delete(f.entities[4]) })
	rows, err := statement.Query(int64(f.entities[4].ID()))
	if err != nil {
		t.Fatal(err)
	}
	if rows.Next() {
		t.Error("a deleted entity has a row")
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		t.Error(err)
	}
}

// TestFunctionsBesideALookup calls functions that follow links. The statements are about one entity.
func TestFunctionsBesideALookup(t *testing.T) {
	f := newFixture(t, 10, Options{})
	root, e := int64(f.entities[0].ID()), int64(f.entities[2].ID())
	for table, column := range map[string]string{"position": "entity", "traveller": "entity",
		"lives_in": "source"} {
		text := fmt.Sprintf("SELECT parent(%[1]s), depth(%[1]s), depth(%[3]d) FROM %[2]s WHERE %[1]s = ?",
			column, table, root)
		want := fmt.Sprintf("[%d|1|0]", root)
		if got, err := tryRead(f.db, text, e); fmt.Sprint(got) != want {
			t.Errorf("%s: %v, %v; want %s", text, got, err, want)
		}
	}
	got := read(t, f.db, "SELECT depth(entity) FROM frozen WHERE entity = ?", root)
	if fmt.Sprint(got) != "[0]" {
		t.Errorf("the depth of an entity without a target is %v, want 0", got)
	}
}

// described returns the names and the types of the columns of a statement, and its rows. If the query fails,
// described returns the text of the error.
func described(t *testing.T, f *fixture, text string, arg any) string {
	t.Helper()
	rows, err := f.db.Query(text, arg)
	if err != nil {
		return err.Error()
	}
	defer rows.Close()
	types, err := rows.ColumnTypes()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	values, targets := make([]any, len(types)), make([]any, len(types))
	for i, c := range types {
		fmt.Fprintf(&b, "%q %s; ", c.Name(), c.DatabaseTypeName())
		targets[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(targets...); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "\n%#v", values)
	}
	if err := rows.Err(); err != nil {
		return err.Error()
	}
	return b.String()
}

// TestLookupsEnd checks that a lookup ends with its context and with Options.MaxTime, if the owner of the
// world admits no visitors.
func TestLookupsEnd(t *testing.T) {
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	positions := vast.NewColumn[Position](w)
	e := w.Archetype(positions).New()
	db, err := Open(w, Options{MaxTime: 20 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	begin, begun := make(chan struct{}), make(chan struct{})
	go func() {
		w.Idle(func() { <-begin })
		close(begun)
	}()
	statement, err := db.Prepare("SELECT x FROM position WHERE entity = ?")
	if err != nil {
		t.Fatal(err)
	}
	defer statement.Close()
	close(begin)
	<-begun
	var x float64
	var limit *LimitError
	err = statement.QueryRow(int64(e.ID())).Scan(&x)
	if !errors.As(err, &limit) || limit.Option != "MaxTime" {
		t.Errorf("got %v, want a LimitError", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	err = statement.QueryRowContext(ctx, int64(e.ID())).Scan(&x)
	if !errors.Is(err, context.DeadlineExceeded) || errors.As(err, &limit) {
		t.Errorf("got %v, want DeadlineExceeded", err)
	}
}
