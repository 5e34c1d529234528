package vastsql

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/probe"
	"github.com/vastgo/vast/sched"
	"github.com/vastgo/vast/store"
)

func TestSystems(t *testing.T) {
	w := vast.NewWorld(vast.Options{})
	positions, frozen := vast.NewColumn[Position](w), vast.NewTag(w, "IsFrozen")
	s := sched.New(w, sched.Options{Workers: 1})
	s.Add(sched.System{Name: "fall", Reads: sched.Columns(frozen), Writes: sched.Columns(positions),
		Run: func(*sched.Context) { time.Sleep(time.Microsecond) }})
	s.Add(sched.System{Name: "never", Exclusive: true, If: func(*sched.Context) bool { return false },
		Run: func(*sched.Context) {}})
	if err := s.Build(); err != nil {
		t.Fatal(err)
	}
	db, err := Open(w, Options{})
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	connected := make(chan error)
	go func() { connected <- db.PingContext(t.Context()) }()
	for done := false; !done; {
		select {
		case err := <-connected:
			if done = true; err != nil {
				t.Fatal(err)
			}
		default:
			w.Admit(time.Millisecond)
		}
	}
	// From here on, the owner admits no visits, and vast_systems needs none.
	if got := read(t, db, "SELECT position, name, phase, exclusive, reads, writes, calls, mean_seconds, "+
		"last_seconds FROM vast_systems"); !reflect.DeepEqual(got, []string{
		"1|fall|update|false|is_frozen|position|0||", "2|never|update|true|||0||"}) {
		t.Errorf("%q", got)
	}
	for range 3 {
		if err := s.Tick(); err != nil {
			t.Fatal(err)
		}
	}
	if got := read(t, db, "SELECT name, calls, total_seconds >= 3e-6, abs(mean_seconds * 3 - total_seconds) "+
		"< 1e-9, last_seconds > 0, p50_seconds > 0, p99_seconds > 0, max_seconds > 0 FROM vast_systems "+
		"WHERE calls > 0"); !reflect.DeepEqual(got, []string{"fall|3|1|1|1|1|1|1"}) {
		t.Errorf("%q", got)
	}
	got := read(t, db, "SELECT count(*) FROM vast_systems WHERE schedule = ?", int64(s.ID()))
	if got[0] != "2" {
		t.Error(got)
	}
	s.Close()
	if got := read(t, db, "SELECT count(*) FROM vast_systems"); got[0] != "0" {
		t.Error(got)
	}
	if err := errors.Join(db.Close(), w.Close()); err != nil {
		t.Error(err)
	}
}

func TestMemory(t *testing.T) {
	f := newFixture(t, 5000, Options{})
	f.addRoads(t)
	type sums struct{ reserved, committed int }
	want := map[string]sums{}
	err := f.w.Visit(t.Context(), func() bool {
		for _, a := range probe.Areas(f.w) {
			name := a.Kind.String()
			if a.Column != nil {
				name = a.Column.Name() + " " + name
			}
			s := want[name]
			want[name] = sums{s.reserved + a.Bytes, s.committed + a.Committed}
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	for sql, name := range map[string]string{
		"name = 'position' AND area = 'elements'":        "Position elements",
		"name = 'lives_in' AND area = 'elements'":        "LivesIn elements",
		"name = 'lives_in' AND area = 'target elements'": "LivesIn targets elements",
		"name = 'position2' AND area = 'store'":          "Position2 store",
		"name = 'roads' AND area = 'store'":              "Roads store",
		"name IS NULL AND area = 'generations'":          "generations",
		"name IS NULL AND area = 'live'":                 "live",
	} {
		var n, reserved, committed int
		if err := f.db.QueryRow("SELECT count(*), sum(reserved_bytes), sum(committed_bytes) FROM "+
			"vast_memory WHERE "+sql).Scan(&n, &reserved, &committed); err != nil {
			t.Fatal(sql, err)
		}
		if got := (sums{reserved, committed}); got != want[name] || committed == 0 {
			t.Errorf("%s: %v, want %v", sql, got, want[name])
		}
	}
	for _, text := range []string{
		"SELECT sum(resident_bytes) BETWEEN 40000 AND sum(committed_bytes) FROM vast_memory " +
			"WHERE name = 'position'",
		"SELECT count(*) = 0 FROM vast_memory WHERE resident_bytes > committed_bytes",
		"SELECT count(*) = 4999 FROM position WHERE (SELECT count(*) FROM vast_memory) > 0",
	} {
		if got := read(t, f.db, text); got[0] != "1" {
			t.Errorf("%s: %q", text, got)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.db.QueryContext(ctx, "SELECT * FROM vast_memory"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestCheckpoints(t *testing.T) {
	dir := t.TempDir()
	w := vast.NewWorld(vast.Options{})
	vast.NewColumn[Position](w)
	st, err := store.Open(dir, w, store.Options{Every: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(st.Recover(nil, nil), st.Close(), w.Close()); err != nil {
		t.Fatal(err)
	}
	files, err := store.Files(dir)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, f := range files {
		if f.Kind == store.FileCheckpoint {
			want = append(want, fmt.Sprintf("%d|%d|%v||%d|%s|", f.Number, f.Tick, f.Taken.UTC(), f.Bytes,
				f.Name))
		}
	}
	if len(want) == 0 || files[0].Base != 0 {
		t.Fatal(files)
	}
	db, _, err := OpenStored(dir, 0, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if got := read(t, db, "SELECT * FROM vast_checkpoints"); !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	var taken time.Time
	var recent bool
	err = db.QueryRow("SELECT taken, julianday('now') - julianday(taken) < 1 FROM vast_checkpoints").Scan(
		&taken, &recent)
	if err != nil || !recent || time.Since(taken) > time.Hour {
		t.Error(taken, recent, err)
	}
	f := newFixture(t, 5, Options{})
	if got := read(t, f.db, "SELECT * FROM vast_checkpoints"); got != nil {
		t.Errorf("without a store: %q", got)
	}
	lost, err := Open(f.w, Options{Store: dir + "/nothing"})
	if err != nil {
		t.Fatal(err)
	}
	defer lost.Close()
	if _, err := tryRead(lost, "SELECT * FROM vast_checkpoints"); err == nil ||
		!strings.Contains(err.Error(), "nothing") {
		t.Error(err)
	}
}
