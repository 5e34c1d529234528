package postgres_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/vastgo/vast"
	vastsql "github.com/vastgo/vast/sql"
	"github.com/vastgo/vast/sql/postgres"
	"github.com/vastgo/vast/store"
)

// TestPast reads the checkpoint of a tick. Then it reads more bytes than MaxCopyBytes allows, so the
// statement reads the newest checkpoint.
func TestPast(t *testing.T) {
	type Position struct{ X, Y float64 }
	dir, w := t.TempDir(), vast.NewWorld(vast.Options{})
	positions := vast.NewColumn[Position](w)
	st, err := store.Open(dir, w, store.Options{Every: time.Hour, Keep: 5})
	if err != nil {
		t.Fatal(err)
	}
	if err := st.Recover(nil, nil); err != nil {
		t.Fatal(err)
	}
	w.Archetype(positions).NewN(100, func(vast.Run) {})
	for range 3 {
		if err := st.Tick(func() error {
			for e := range w.Query(positions).All() {
				positions.Edit(e).X++
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if err := st.Checkpoint(); err != nil {
			t.Fatal(err)
		}
	}
	db, err := vastsql.Open(w, vastsql.Options{Store: dir, MaxCopyBytes: 1000})
	if err != nil {
		t.Fatal(err)
	}
	s, err := postgres.Listen("127.0.0.1:0", db, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-stop:
				return
			case <-time.After(50 * time.Microsecond):
				w.Admit(time.Millisecond)
			}
		}
	}()
	defer func() {
		for _, close := range []func() error{s.Close, db.Close} {
			if err := close(); err != nil {
				t.Error(err)
			}
		}
		close(stop)
		<-ended
		for _, close := range []func() error{st.Close, w.Close} {
			if err := close(); err != nil {
				t.Error(err)
			}
		}
	}()

	for _, mode := range modes {
		config, err := pgx.ParseConfig(url(s, "default_query_exec_mode="+mode))
		if err != nil {
			t.Fatal(err)
		}
		var notices []string
		config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { notices = append(notices, n.Message) }
		c, err := pgx.ConnectConfig(t.Context(), config)
		if err != nil {
			t.Fatal(err)
		}
		got := row(t, c, "SELECT max(x), count(*) FROM position WHERE x > $1 AS OF TICK 2", 0.5)
		if !reflect.DeepEqual(got, []any{2.0, int64(100)}) || len(notices) > 0 {
			t.Errorf("%s: %v with the notices %q, want the maximum 2 of 100 rows", mode, got, notices)
		}
		got = row(t, c, "SELECT sum(x) FROM position WHERE x > $1", 0.5)
		if !reflect.DeepEqual(got, []any{300.0}) || len(notices) != 1 ||
			!strings.Contains(notices[0], "tick 3") {
			t.Errorf("%s: %v with the notices %q, want the sum 300 and a notice with the tick", mode, got,
				notices)
		}
		if err := c.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}
