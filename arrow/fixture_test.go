package vastarrow

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/probe"
)

type position struct{ X, Y float64 }

type body struct {
	Mass  float32
	Kind  uint8
	Alive bool
	Count int16
	Home  vast.Entity
	Parts [2]struct{ Size int32 }
	Color [3]uint8
	Wait  time.Duration
}

type health int32

type note struct {
	Text string
	Tags []string
	At   time.Time
}

type rare struct{ A, B uint64 }

// fixture is a world with columns of different kinds.
type fixture struct {
	*vast.World
	position vast.Column[position]
	body     vast.Column[body]
	health   vast.Column[health]
	note     vast.HeapColumn[note]
	rare     vast.SparseColumn[rare]
	tag      vast.Tag
	parent   vast.Relation
	names    *vast.Names
}

func newFixture(t testing.TB) *fixture {
	w := vast.NewWorld(vast.Options{MaxEntities: 1 << 16})
	t.Cleanup(func() { w.Close() })
	return &fixture{
		World:    w,
		position: vast.NewColumn[position](w),
		body:     vast.NewColumn[body](w),
		health:   vast.NewColumn[health](w),
		note:     vast.NewHeapColumn[note](w),
		rare:     vast.NewSparseColumn[rare](w),
		tag:      vast.NewTag(w, "sick"),
		parent:   vast.NewRelation(w, "parent", vast.RelationOptions{}),
		names:    w.Names(),
	}
}

func (f *fixture) columns() []vast.AnyColumn {
	return []vast.AnyColumn{f.position, f.body, f.health, f.note, f.rare, f.tag, f.parent, f.names}
}

// fill makes n entities. All have a position and a body. The other components belong to some of the entities.
func (f *fixture) fill(t testing.TB, n int) {
	var first vast.Entity
	for i, s := range f.Archetype(f.position, f.body).NewEach(n) {
		e := s.Entity()
		if i == 0 {
			first = e
		}
		*f.position.At(s) = position{float64(i) / 3, -float64(i)}
		*f.body.At(s) = body{Mass: float32(i) / 7, Kind: uint8(i), Alive: i%3 == 0, Count: int16(-i),
			Home: first, Color: [3]uint8{1, uint8(i), 255}, Wait: time.Duration(i) << 40}
		f.body.At(s).Parts[1].Size = int32(i) * -70000
	}
	all := slices.Collect(f.Query(f.position).All())
	for i, e := range all {
		if i%2 == 0 {
			f.health.Add(e, health(i)-5)
		}
		if i%5 == 1 {
			f.note.Add(e, note{Text: fmt.Sprintf("a \"quoted\" text, %d\nü", i), Tags: []string{"x", "y,z"},
				At: time.Unix(int64(i), 123456000).UTC()})
		}
		if i%7 == 0 {
			f.rare.Add(e, rare{math.MaxUint64 - uint64(i), uint64(i)})
		}
		if i%3 == 2 {
			f.tag.Add(e)
		}
		if i > 0 && i%4 != 0 {
			f.parent.Set(e, all[i/2])
		}
		if i%10 == 3 {
			if _, err := f.names.Set(e, fmt.Sprintf("entity %d", i)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// dump describes all entities in descending order of position.Y. Where a component refers to an entity, dump
// writes the entity's number in this order, so that dumps of two worlds can be compared.
func (f *fixture) dump() string {
	all := slices.Collect(f.Query().All())
	slices.SortFunc(all, func(a, b vast.Entity) int {
		return int(f.position.Get(b).Y - f.position.Get(a).Y)
	})
	index := map[vast.Entity]int{}
	for i, e := range all {
		index[e] = i
	}
	at := func(e vast.Entity) int {
		if i, ok := index[e]; ok {
			return i
		}
		return -1
	}
	var b strings.Builder
	for i, e := range all {
		fmt.Fprint(&b, i)
		for _, col := range probe.ComponentsOf(f.World, e) {
			v, _ := probe.Value(col, e)
			text := ""
			switch {
			case col.Name() == "parent":
				target, _ := f.parent.Target(e)
				text = fmt.Sprint(at(target))
			case v.Type() == entityType:
			case v.Type() == probe.Describe(f.body).Type:
				v := v.Interface().(body)
				home := at(v.Home)
				v.Home = vast.Entity{}
				text = fmt.Sprint(home, v)
			default:
				text = fmt.Sprintf("%+v", v)
			}
			fmt.Fprintf(&b, " %s=%s", col.Name(), text)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func mustEntities(t testing.TB, q vast.Query, cols ...vast.AnyColumn) Source {
	t.Helper()
	s, err := Entities(q, cols...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func mustWrite(t testing.TB, f Format, s Source) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(context.Background(), &b, f, s); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
