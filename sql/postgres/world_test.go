package postgres_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/vastgo/vast"
	vastsql "github.com/vastgo/vast/sql"
	"github.com/vastgo/vast/sql/postgres"
)

// TestPsqlWorld describes the tables of a world with edges and archetypes, and calls the functions of package
// vastsql.
func TestPsqlWorld(t *testing.T) {
	needPsql(t)
	type Position struct{ X, Y float64 }
	type Road struct{ Length float32 }
	w := vast.NewWorld(vast.Options{})
	positions := vast.NewColumn[Position](w)
	roads := vast.NewEdges[Road](w, "Roads", vast.EdgesOptions{Capacity: 1 << 10})
	childOf := vast.NewRelation(w, "ChildOf", vast.RelationOptions{})
	a := w.Archetype(positions, vast.NewTag(w, "Town"))
	var towns []vast.Entity
	for i := range 3 {
		towns = append(towns, a.New())
		positions.Set(towns[i], Position{float64(i), 0})
		if i > 0 {
			roads.Add(towns[i], towns[i-1], Road{float32(i) / 2})
			childOf.Set(towns[i], towns[i-1])
		}
	}
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		w.Idle(func() { <-stop })
	}()
	db, err := vastsql.Open(w, vastsql.Options{MaxPause: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	s, err := postgres.Listen("127.0.0.1:0", db, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := errors.Join(s.Close(), db.Close()); err != nil {
			t.Error(err)
		}
		close(stop)
		<-ended
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}()
	for _, c := range []struct{ command, want string }{
		{`\dt`, `public|archetype_position_town|table|vast
public|child_of|table|vast
public|entities|table|vast
public|position|table|vast
public|roads|table|vast
public|town|table|vast
public|vast_checkpoints|table|vast
public|vast_memory|table|vast
public|vast_systems|table|vast`},
		{`\d roads`, `source|bigint|||
target|bigint|||
length|double precision|||`},
		{`\d entities`, `entity|bigint|||
slot|bigint|||
generation|bigint|||
name|text|||
components|text|||`},
		{`\d vast_checkpoints`, `number|bigint|||
tick|bigint|||
taken|timestamp with time zone|||
base|bigint|||
bytes|bigint|||
file|text|||
error|text|||`},
		{"SELECT sum(length), count(*) FROM roads", "1.5|2"},
		{`SELECT median("position.x"), percentile("position.x", 75) FROM archetype_position_town`, "1|1.5"},
		{"SELECT components FROM entities ORDER BY entity LIMIT 1", "position,town"},
		{fmt.Sprintf("SELECT depth FROM descendants(%d) ORDER BY 1", int64(towns[0].ID())), "1\n2"},
		{"SELECT max(depth(entity)), count(parent(entity)) FROM position", "2|2"},
		{"SELECT date_trunc('hour', '2026-11-27 14:35:07+02'), to_timestamp(1.5)",
			"2026-11-27 12:00:00+00|1970-01-01 00:00:01.5+00"},
		{"SELECT time_bucket('300.000s', to_timestamp(1000)) AS time, count(*) FROM town GROUP BY 1",
			"1970-01-01 00:15:00+00|3"},
		{"SELECT time_bucket(INTERVAL '1 hour', now()) = date_trunc('hour', now()), " +
			"time_bucket('1 day'::interval, 86401), date_trunc('minute', 90.5)", "t|86400|60"},
		{"SELECT extract('YEAR' FROM date_trunc('year', '2026-11-27'::timestamptz))", "2026"},
		{"SELECT resident_bytes > 0 FROM vast_memory WHERE area = 'generations'", "t"},
		{"SELECT name FROM vast_systems", ""},
	} {
		got, err := psql(t, connection(s, ""), nil, "-At", "-c", c.command)
		if got = strings.TrimSpace(got); err != nil || got != c.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", c.command, err, got, c.want)
		}
	}
}
