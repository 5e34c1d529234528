package vastsql

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/store"
)

func TestOpenStored(t *testing.T) {
	dir := t.TempDir()
	w := vast.NewWorld(vast.Options{})
	positions := vast.NewColumn[Position](w)
	st, err := store.Open(dir, w, store.Options{Every: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	w.Archetype(positions).NewN(3000, func(r vast.Run) {
		for i := range r.Len() {
			positions.Slice(r)[i] = Position{float32(i % 2), 1}
		}
	})
	if err := errors.Join(st.Recover(nil, nil), st.Close(), w.Close()); err != nil {
		t.Fatal(err)
	}
	db, report, err := OpenStored(dir, 0, Options{})
	if err != nil || len(report.Dropped) > 0 {
		t.Fatal(err, report)
	}
	if got := read(t, db, "SELECT x, count(*), sum(y) FROM position GROUP BY x"); !reflect.DeepEqual(got,
		[]string{"0|1500|1500", "1|1500|1500"}) {
		t.Error(got)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	if _, _, err := OpenStored(dir, 99, Options{}); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// TestOneMoment runs statements on several goroutines while the owner moves units from one column to another.
// Each statement must see the sum of one moment, which is always 5000.
func TestOneMoment(t *testing.T) {
	type Left struct{ N int64 }
	type Right struct{ N int64 }
	w := vast.NewWorld(vast.Options{})
	left, right := vast.NewColumn[Left](w), vast.NewSparseColumn[Right](w)
	var list []vast.Entity
	for range 500 {
		e := w.Archetype(left).New()
		right.Add(e, Right{})
		left.Set(e, Left{10})
		list = append(list, e)
	}
	db, err := Open(w, Options{MaxPause: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var owner, readers sync.WaitGroup
	owner.Go(func() {
		for tick := 0; ctx.Err() == nil; tick++ {
			e := list[tick%len(list)]
			if left.Get(e).N > 0 {
				left.Set(e, Left{left.Get(e).N - 1})
				right.Set(e, Right{right.Get(e).N + 1})
			}
			w.Admit(time.Millisecond)
		}
	})
	for r := range 4 {
		readers.Go(func() {
			for i := range 50 {
				text := []string{
					"SELECT (SELECT sum(n) FROM left) + (SELECT sum(n) FROM right)",
					"SELECT sum(l.n + r.n) FROM left l JOIN right r USING (entity)",
					"SELECT sum(n) FROM (SELECT n FROM left UNION ALL SELECT n FROM right)",
				}[(r+i)%3]
				got, err := tryRead(db, text)
				if err != nil || !reflect.DeepEqual(got, []string{"5000"}) {
					t.Error(text, got, err)
					return
				}
			}
		})
	}
	readers.Wait()
	cancel()
	owner.Wait()
	if err := errors.Join(db.Close(), w.Close()); err != nil {
		t.Error(err)
	}
}

// TestCancelledStatement cancels statements that wait for the world, and statements that run.
func TestCancelledStatement(t *testing.T) {
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	vast.NewColumn[Position](w)
	db, err := Open(w, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := db.QueryContext(ctx, "SELECT x FROM position"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the owner admits no visit: %v", err)
	}
	f := newFixture(t, 5, Options{})
	ctx, cancel = context.WithCancel(t.Context())
	rows, err := f.db.QueryContext(ctx, "WITH RECURSIVE c(i) AS (SELECT x FROM position UNION ALL "+
		"SELECT i+1 FROM c) SELECT i FROM c")
	if err != nil {
		t.Fatal(err)
	}
	if !rows.Next() {
		t.Fatal(rows.Err())
	}
	cancel()
	for rows.Next() {
	}
	if !errors.Is(rows.Err(), context.Canceled) {
		t.Error(rows.Err())
	}
	if err := rows.Close(); err != nil {
		t.Error(err)
	}
	if got := read(t, f.db, "SELECT count(*) FROM position"); fmt.Sprint(got) != "[4]" {
		t.Error(got)
	}
}
