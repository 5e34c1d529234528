package vastsql

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vastgo/vast"
)

type Road struct {
	Lanes  uint8
	Length float64
	To     vast.Entity
	Stops  [3]int16
}

// addRoads adds edges of several kinds between the entities of a fixture. Each living entity i gets roads to
// the entities i/2 and i/3, if they live. Each tenth entity also gets a road to itself.
func (f *fixture) addRoads(t testing.TB) (roads vast.Edges[Road], n int) {
	t.Helper()
	err := f.w.Visit(t.Context(), func() bool {
		roads = vast.NewEdges[Road](f.w, "Roads", vast.EdgesOptions{Capacity: 1 << 16})
		vast.NewEdges[struct{}](f.w, "Knows", vast.EdgesOptions{Capacity: 1 << 10}).Add(f.entities[2],
			f.entities[3], struct{}{})
		vast.NewEdges[int32](f.w, "Owes", vast.EdgesOptions{Capacity: 1 << 10}).Add(f.entities[3],
			f.entities[2], -7)
		for i, e := range f.entities {
			for j, to := range []int{i / 2, i / 3, i} {
				if j == 2 && i%10 > 0 {
					continue
				}
				roads.Add(e, f.entities[to], Road{Lanes: uint8(i), Length: float64(i) / 2, To: f.entities[to],
					Stops: [3]int16{int16(j), int16(-i)}})
			}
		}
		n = roads.Len()
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return roads, n
}

func TestEdges(t *testing.T) {
	f := newFixture(t, 40, Options{MaxPause: time.Minute})
	roads, n := f.addRoads(t)
	id := func(i int) int64 { return int64(f.entities[i].ID()) }
	in := func(i int) (n int) {
		err := f.w.Visit(t.Context(), func() bool {
			n = roads.CountSources(f.entities[i])
			return true
		})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	for _, c := range []struct {
		text string
		args []any
		want []string
	}{
		{"SELECT name FROM pragma_table_info('roads')", nil, []string{"source", "target", "lanes", "length",
			"to", "stops.0", "stops.1", "stops.2"}},
		{"SELECT name FROM pragma_table_info('knows')", nil, []string{"source", "target"}},
		{"SELECT count(*), count(source), sum(lanes >= 0) FROM roads", nil,
			[]string{fmt.Sprint(n, "|", n, "|", n)}},
		{"SELECT source = ?, target = ?, value FROM owes", []any{id(3), id(2)}, []string{"1|1|-7"}},
		{"SELECT count(*) FROM knows WHERE source = ?", []any{id(2)}, []string{"1"}},
		{"SELECT count(*) FROM knows WHERE source = ?", []any{id(3)}, nil},
		{"SELECT lanes, length, \"stops.1\" FROM roads WHERE source = ? AND target = ?", []any{id(9), id(4)},
			[]string{"9|4.5|-9"}},
		{"SELECT count(*) FROM roads WHERE target = ?", []any{id(0)}, []string{fmt.Sprint(in(0))}},
		{"SELECT sum(lanes), max(length) FROM roads WHERE source = ? AND lanes > 3", []any{id(10)},
			[]string{"30|5"}},
		{"SELECT lanes FROM roads WHERE target = ? AND lanes > 5 ORDER BY lanes DESC", []any{id(4)},
			[]string{"14", "13", "12", "9", "8"}},
		{"SELECT count(*) FROM roads WHERE target = 0 OR source = 0.5", nil, []string{"0"}},
		{"SELECT count(*) FROM roads WHERE target <> \"to\"", nil, []string{"0"}},
		// The joins look up more often than scansBeforeSort.
		{"SELECT count(*), sum(r.lanes) FROM position p JOIN roads r ON r.source = p.entity", nil,
			read(t, f.db, "SELECT count(*), sum(lanes) FROM roads")},
		{"SELECT count(*) FROM position p LEFT JOIN roads r ON r.target = p.entity WHERE target NOT NULL",
			nil, []string{fmt.Sprint(n)}},
		{"WITH RECURSIVE reach(e) AS (SELECT ? UNION SELECT target FROM reach JOIN roads ON source = e) " +
			"SELECT count(*) FROM reach", []any{id(30)}, []string{"8"}},
	} {
		want := c.want
		if want == nil {
			want = []string{"0"}
		}
		if got := read(t, f.db, c.text, c.args...); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %q, want %q", c.text, got, want)
		}
	}
}

// TestEdgesOfOneEntity compares look-ups, which read only the edges of one entity, with reads of the whole
// table.
func TestEdgesOfOneEntity(t *testing.T) {
	f := newFixture(t, 40, Options{MaxPause: time.Minute})
	f.addRoads(t)
	all := read(t, f.db, "SELECT source, target, lanes, \"to\" FROM roads")
	for i, e := range f.entities {
		for end, column := range []string{"source", "target"} {
			text := "SELECT source, target, lanes, \"to\" FROM roads AS r WHERE r." + column + " = ?"
			var want []string
			for _, row := range all {
				if strings.Split(row, "|")[end] == fmt.Sprint(int64(e.ID())) {
					want = append(want, row)
				}
			}
			got := read(t, f.db, text, int64(e.ID()))
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("entity %d, %s: %q, want %q", i, text, got, want)
			}
		}
	}
}

// TestLooksUpEdges checks which statements read only the edges of one entity.
func TestLooksUpEdges(t *testing.T) {
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	vast.NewEdges[Road](w, "Roads", vast.EdgesOptions{Capacity: 1 << 10})
	vast.NewColumn[Position](w)
	s := &schema{}
	for !s.update(w, time.Now().Add(time.Second), func() []*table { return nil }) {
	}
	for text, want := range map[string]bool{
		"SELECT * FROM roads WHERE target = 5":                                    true,
		"SELECT count(*) FROM Roads r WHERE (5 = r.\"target\") AND lanes > 3":     true,
		"SELECT target, count(*) FROM roads WHERE source = ? GROUP BY target":     true,
		"SELECT * FROM roads WHERE target = 5 OR lanes = 3":                       false,
		"SELECT * FROM roads WHERE target IN (5, 6)":                              false,
		"SELECT * FROM roads WHERE target = source":                               false,
		"SELECT * FROM roads WHERE target > 5":                                    false,
		"SELECT * FROM roads WHERE target = 5 AND lanes IN (1, 2)":                false,
		"SELECT * FROM roads a, roads b WHERE a.target = 5":                       false,
		"SELECT * FROM roads WHERE target = (SELECT 5)":                           false,
		"SELECT * FROM roads WHERE target = 5 UNION SELECT 1":                     false,
		"SELECT * FROM position WHERE target = 5":                                 false,
		"SELECT * FROM roads":                                                     false,
		"SELECT * FROM temp.roads WHERE target = 5":                               false,
		"WITH x AS (VALUES (1)) SELECT * FROM roads WHERE target = 5":             false,
		"nonsense about roads":                                                    false,
		"SELECT * FROM roads WHERE target = 5 AND lanes = 7 AND NOT length > 2.5": false,
	} {
		if got := looksUpEdges(rewrite(text, s).single, s); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}

// TestEdgesLimits reads all edges, which exceed MaxCopyBytes, and the edges of one entity, which do not. Then
// it reads all edges and all entities with a MaxPause of one nanosecond, which each of these reads exceeds.
func TestEdgesLimits(t *testing.T) {
	f := newFixture(t, 400, Options{MaxCopyBytes: 2000, MaxPause: time.Minute})
	f.addRoads(t)
	var limit *LimitError
	if _, err := tryRead(f.db, "SELECT sum(length) FROM roads"); !errors.As(err, &limit) ||
		limit.Option != "MaxCopyBytes" {
		t.Error(err)
	}
	for _, text := range []string{"SELECT count(*) FROM roads WHERE source = ?",
		"SELECT count(*) FROM roads WHERE target = ?"} {
		if _, err := tryRead(f.db, text, int64(f.entities[50].ID())); err != nil {
			t.Error(text, err)
		}
	}
	slow, err := Open(f.w, Options{MaxPause: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Close()
	for _, text := range []string{"SELECT sum(length) FROM roads", "SELECT count(*) FROM roads",
		"SELECT 1 FROM roads LIMIT 1", "SELECT name FROM entities",
		"SELECT components FROM entities"} {
		if _, err := tryRead(slow, text); !errors.As(err, &limit) || limit.Option != "MaxPause" {
			t.Errorf("%s: %v", text, err)
		}
	}
	// The count of the edges exceeds MaxPause before the copy can exceed MaxCopyBytes.
	slower, err := Open(f.w, Options{MaxPause: 1, MaxCopyBytes: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer slower.Close()
	if _, err := tryRead(slower, "SELECT sum(length) FROM roads"); !errors.As(err, &limit) ||
		limit.Option != "MaxPause" {
		t.Error(err)
	}
}
