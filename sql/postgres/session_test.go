package postgres_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/vastgo/vast/sql/postgres"
)

// A step is a statement and the answers that it gives.
type step struct{ statement, want string }

func (w *wire) perform(steps ...step) {
	w.t.Helper()
	for _, s := range steps {
		w.send(&pgproto3.Query{String: s.statement})
		if got := w.answers(); got != s.want {
			w.t.Errorf("%s: got %q, want %q", s.statement, got, s.want)
		}
	}
}

// TestReset checks that a client learns of settings that RESET and DISCARD change, and that these settings
// get the values from the start of the session.
func TestReset(t *testing.T) {
	w := dial(t, listen(t, postgres.Options{}), "application_name", "start")
	const show = "RowDescription start SHOW I"
	w.perform(
		step{"SET application_name = 'a'", "ParameterStatus SET I"},
		step{"RESET ALL", "ParameterStatus RESET I"},
		step{"SHOW application_name", show},
		step{"SET application_name = 'a'", "ParameterStatus SET I"},
		step{"DISCARD ALL", "ParameterStatus DISCARD ALL I"},
		step{"SHOW application_name", show},
		step{"SET application_name = 'a'", "ParameterStatus SET I"},
		step{"RESET application_name", "ParameterStatus RESET I"},
		step{"SHOW application_name", show},
		step{"RESET ALL", "RESET I"},
	)
}

// TestShowAll asks for another time zone at the start of the session. SHOW ALL must show UTC, which is fixed.
func TestShowAll(t *testing.T) {
	w := dial(t, listen(t, postgres.Options{}), "TimeZone", "Mars")
	w.send(&pgproto3.Query{String: "SHOW ALL"})
	zone := ""
	for {
		switch message := w.receive().(type) {
		case *pgproto3.DataRow:
			if string(message.Values[0]) == "timezone" {
				zone = string(message.Values[1])
			}
		case *pgproto3.ReadyForQuery:
			if zone != "UTC" {
				t.Errorf("SHOW ALL: got the time zone %q, want UTC", zone)
			}
			return
		}
	}
}

// TestManySettings invents names of settings until the server refuses them.
func TestManySettings(t *testing.T) {
	w := dial(t, listen(t, postgres.Options{}))
	var many strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&many, "SET a.b%d = 1;", i)
	}
	w.send(&pgproto3.Query{String: many.String()})
	if got := w.answers(); !strings.HasSuffix(got, " SET 54000 I") {
		t.Errorf("got %q, want an error at the end", got[max(0, len(got)-40):])
	}
	w.perform(
		step{"SET a.b0 = 2", "SET I"},
		step{"SET a.c = 1", "54000 I"},
		step{"RESET ALL", "RESET I"},
		step{"SET a.c = 1", "SET I"},
	)
}

// TestManyStatements prepares as many statements as the server admits. The statement without a name can be
// replaced afterwards.
func TestManyStatements(t *testing.T) {
	w := dial(t, listen(t, postgres.Options{}))
	w.send(&pgproto3.Parse{Query: ""})
	for i := range 9_999 {
		w.Send(&pgproto3.Parse{Name: fmt.Sprint(i)})
	}
	w.send(&pgproto3.Sync{})
	if got := w.answers(); strings.Count(got, "ParseComplete") != 10_000 {
		t.Errorf("got %d prepared statements, want 10000", strings.Count(got, "ParseComplete"))
	}
	w.send(&pgproto3.Parse{Query: "SELECT 1"}, &pgproto3.Parse{Name: "more"}, &pgproto3.Sync{})
	if got, want := w.answers(), "ParseComplete 54000 I"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestTooLong sends a text that is longer than the server admits.
func TestTooLong(t *testing.T) {
	w := dial(t, listen(t, postgres.Options{}))
	text := strings.Repeat(";", 1<<20+1)
	w.perform(step{text, "54000 I"}, step{"SELECT 1", "RowDescription 1 SELECT 1 I"})
	w.send(&pgproto3.Parse{Query: text}, &pgproto3.Sync{})
	if got, want := w.answers(), "54000 I"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestFetchRelative skips rows of a cursor.
func TestFetchRelative(t *testing.T) {
	w := dial(t, listen(t, postgres.Options{}))
	w.perform(
		step{"BEGIN", "BEGIN T"},
		step{"DECLARE c CURSOR FOR SELECT entity FROM position ORDER BY entity LIMIT 8", "DECLARE CURSOR T"},
		step{"FETCH RELATIVE 3 FROM c", "RowDescription 3 FETCH 1 T"},
		step{"FETCH NEXT FROM c", "RowDescription 4 FETCH 1 T"},
	)
	w.send(&pgproto3.Parse{Query: "FETCH RELATIVE 2 FROM c"}, &pgproto3.Describe{ObjectType: 'S'},
		&pgproto3.Bind{}, &pgproto3.Describe{ObjectType: 'P'}, &pgproto3.Execute{}, &pgproto3.Sync{})
	if got, want := w.answers(), "ParseComplete ParameterDescription RowDescription BindComplete "+
		"RowDescription 6 FETCH 1 T"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	w.perform(
		step{"FETCH RELATIVE 3 FROM c", "RowDescription FETCH 0 T"},
		step{"FETCH RELATIVE 0 FROM c", "0A000 E"},
	)
}

// TestTimeOfDay reads a column whose declared type is TIME.
func TestTimeOfDay(t *testing.T) {
	db := newDatabase(t)
	for _, statement := range []string{"CREATE TABLE clock(t TIME)",
		"INSERT INTO clock VALUES ('12:30:00'), ('01:02:03.5'), ('2026-01-02T03:04:05Z'), ('noon'), (NULL)"} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	s, err := postgres.Listen("127.0.0.1:0", db, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	dial(t, s).perform(
		step{"SELECT t FROM clock",
			"RowDescription 12:30:00 01:02:03.5 2026-01-02T03:04:05Z noon  SELECT 5 I"},
		step{"SELECT t FROM clock WHERE t = '12:30:00'", "RowDescription 12:30:00 SELECT 1 I"},
	)
}
