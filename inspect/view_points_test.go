package inspect

import (
	"database/sql/driver"
	"encoding/binary"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/vastgo/vast"
)

// points requests the points of a statement in the view plane.
func (f *fixture) points(t *testing.T, statement string) (places [][2]float32, ids []string, more bool) {
	t.Helper()
	status, body := f.do(t, "GET", prefix+"views/plane/points?q="+url.QueryEscape(statement), "", "")
	if status != http.StatusOK || string(body[:4]) != "vpts" {
		t.Fatalf("%s: %d %.200s", statement, status, body)
	}
	u := binary.LittleEndian.Uint32
	n := int(u(body[4:]))
	if len(body) != 16+16*n {
		t.Fatalf("%d bytes for %d points", len(body), n)
	}
	for i := range n {
		at, id := body[16+8*i:], body[16+8*n+8*i:]
		places = append(places, [2]float32{math.Float32frombits(u(at)), math.Float32frombits(u(at[4:]))})
		ids = append(ids, vast.EntityOf(uint64(u(id[4:]))<<32|uint64(u(id))).String())
	}
	return places, ids, u(body[8:]) == 1
}

func TestPointsOfStatement(t *testing.T) {
	s, db := newScripted(t)
	f := newFixture(t, Options{SQL: db})
	id := func(e vast.Entity) driver.Value { return int64(e.ID()) }
	dead := f.people[7]
	f.see(t, func() { f.w.Delete(dead) })
	s.answer("SELECT some", []string{"name", "Entity"},
		[]driver.Value{"a", id(f.london)}, []driver.Value{"b", id(dead)}, []driver.Value{"c", nil},
		[]driver.Value{"d", int64(0)}, []driver.Value{"e", int64(-1)},
		[]driver.Value{"f", int64(math.MinInt64)}, []driver.Value{"g", id(f.hostile)})
	places, ids, more := f.points(t, "SELECT some")
	if !slices.Equal(ids, []string{f.london.String(), f.hostile.String()}) || more ||
		!slices.Equal(places, [][2]float32{{1, 50}, {2, 50}}) {
		t.Errorf("got %v at %v, more: %v", ids, places, more)
	}
	s.answer("SELECT none", []string{"entity"})
	if _, ids, _ := f.points(t, "SELECT none"); len(ids) != 0 {
		t.Errorf("no rows give %v", ids)
	}
	s.answer("SELECT other", []string{"target"}, []driver.Value{int64(1)})
	s.answer("SELECT text", []string{"entity"}, []driver.Value{"17.3"})
	for statement, want := range map[string]string{"SELECT other": "AS entity", "SELECT text": "17.3",
		"SELECT unknown": "no answer"} {
		query := "views/plane/points?q=" + url.QueryEscape(statement)
		p := f.refused(t, http.StatusBadRequest, "GET", query, "", "")
		if !strings.Contains(p.Message, want) {
			t.Errorf("%s: %+v", statement, p)
		}
	}
	f.refused(t, http.StatusNotFound, "GET", "views/nothing/points?q=SELECT+some", "", "")
	if s.open() != 0 {
		t.Errorf("%d results are still open", s.open())
	}
}

func TestManyPoints(t *testing.T) {
	s, db := newScripted(t)
	f := newFixture(t, Options{SQL: db})
	rows := make([][]driver.Value, maxPoints+1)
	for i := range rows {
		rows[i] = []driver.Value{int64(f.people[i%len(f.people)].ID())}
	}
	s.answer("SELECT all", []string{"entity"}, rows[:maxPoints]...)
	if places, ids, more := f.points(t, "SELECT all"); len(ids) != maxPoints || more ||
		ids[maxPoints-1] != f.people[(maxPoints-1)%len(f.people)].String() ||
		places[maxPoints-1][0] != float32((maxPoints-1)%len(f.people)) {
		t.Errorf("%d points, more: %v", len(ids), more)
	}
	s.answer("SELECT more", []string{"entity"}, rows...)
	if _, ids, more := f.points(t, "SELECT more"); len(ids) != maxPoints || !more {
		t.Errorf("%d points, more: %v", len(ids), more)
	}
}
