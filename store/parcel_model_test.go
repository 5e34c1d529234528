package store_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/longtest"
	"github.com/vastgo/vast/internal/modeltest"
	"github.com/vastgo/vast/store"
)

// fleet is three towns and a model of their entities. Each entity is a ship, and its position.X is the number
// of the ship.
type fleet struct {
	*testing.T
	towns   [3]*town
	packers [3]*store.Packer
	ships   map[int]*vessel
	last    int // the number of the newest ship
}

// vessel is a ship in the model. Its fields name other ships by their numbers; 0 means no ship.
type vessel struct {
	town           int
	at             float64     // position.Y
	parent, aim    int         // the targets of childOf and aimsAt
	owner          int         // burden.Of
	loaded         bool        // whether the ship has a burden
	seen           map[int]int // diary.Seen; nil without a diary
	name           string
	parts, hunters []int          // the sources of childOf and aimsAt, in their order
	roads          map[int]uint16 // lengths of the roads to other ships
}

// playFleet decodes operations on ships from data. After each move of ships and at the end, it compares the
// towns with the model.
func playFleet(t *testing.T, data []byte) {
	f := &fleet{T: t, ships: make(map[int]*vessel)}
	for i := range f.towns {
		f.towns[i] = newTown(t, i%2 == 1)
		f.packers[i] = packer(t, f.towns[i].w, store.Options{})
	}
	for s := modeltest.NewStream(data); s.More(); {
		f.step(s)
	}
	f.check()
}

func (f *fleet) numbers(town int) (all []int) {
	for n, s := range f.ships {
		if s.town == town {
			all = append(all, n)
		}
	}
	slices.Sort(all)
	return all
}

func (f *fleet) entities(town int) map[int]vast.Entity {
	n := f.towns[town]
	all := make(map[int]vast.Entity)
	for e := range n.w.Query(n.position).All() {
		all[int(n.position.Get(e).X)] = e
	}
	return all
}

func (f *fleet) step(s *modeltest.Stream) {
	in := s.Below(len(f.towns))
	n, all := f.towns[in], f.numbers(in)
	if len(all) < 3 || len(all) < 60 && s.Below(4) == 0 {
		for range 1 + s.Below(5) {
			f.last++
			ship := &vessel{town: in, at: float64(s.Byte()), roads: make(map[int]uint16)}
			e := n.walkers.New()
			if s.Below(2) == 0 {
				n.w.Delete(e)
				e, ship.loaded = n.carriers.New(), true
			}
			n.position.Set(e, position{float64(f.last), ship.at})
			f.ships[f.last] = ship
		}
		return
	}
	entities := f.entities(in)
	a, b := all[s.Below(len(all))], all[s.Below(len(all))]
	ship, e, other := f.ships[a], entities[a], entities[b]
	switch s.Below(9) {
	case 0:
		if ship.loaded {
			ship.owner = b
			n.burden.Get(e).Of = other
		}
	case 1:
		if ship.parent != b && !f.below(b, a) {
			f.unlink(a)
			ship.parent = b
			f.ships[b].parts = append(f.ships[b].parts, a)
			n.childOf.Set(e, other)
		}
	case 2:
		if old := ship.aim; old != b {
			if old != 0 {
				f.ships[old].hunters = without(f.ships[old].hunters, a)
			}
			ship.aim = b
			f.ships[b].hunters = append(f.ships[b].hunters, a)
			n.aimsAt.Set(e, other)
		}
	case 3:
		ship.roads[b] = uint16(a)
		n.roads.Add(e, other, uint16(a))
	case 4:
		ship.seen = map[int]int{a: 1, b: 2}
		n.diary.Add(e, diary{Seen: map[vast.Entity]int{e: 1, other: 2}})
		if a == b {
			ship.seen = map[int]int{a: n.diary.Get(e).Seen[e]}
		}
	case 5:
		ship.name = fmt.Sprint("ship ", a)
		if _, err := n.names.Set(e, ship.name); err != nil {
			f.Fatal(err)
		}
	case 6:
		f.drop(f.subtree(a)) // childOf has Cascade
		n.w.Delete(e)
	default:
		roots := []int{a}
		if b != a {
			roots = append(roots, b)
		}
		if s.Below(4) > 0 {
			roots = f.closed(roots)
		}
		f.move(in, s.Below(len(f.towns)), roots, entities)
	}
}

func without(list []int, n int) []int {
	return slices.DeleteFunc(slices.Clone(list), func(m int) bool { return m == n })
}

// below reports whether ship a is ship b or lies below ship b.
func (f *fleet) below(a, b int) bool {
	for ; a != 0; a = f.ships[a].parent {
		if a == b {
			return true
		}
	}
	return false
}

func (f *fleet) subtree(a int) []int {
	all := []int{a}
	for i := 0; i < len(all); i++ {
		all = append(all, f.ships[all[i]].parts...)
	}
	return all
}

func (f *fleet) unlink(a int) {
	if p := f.ships[a].parent; p != 0 {
		f.ships[p].parts = without(f.ships[p].parts, a)
	}
	f.ships[a].parent = 0
}

// leave removes the links and references of all other ships to the ships in gone. It also removes the link of
// a ship in gone to a parent that stays behind.
func (f *fleet) leave(gone []int) {
	for _, a := range gone {
		if p := f.ships[a].parent; p != 0 && !slices.Contains(gone, p) {
			f.unlink(a)
		}
		if aim := f.ships[a].aim; aim != 0 && !slices.Contains(gone, aim) {
			f.ships[aim].hunters = without(f.ships[aim].hunters, a)
		}
	}
	for n, s := range f.ships {
		stays := !slices.Contains(gone, n)
		for _, a := range gone {
			if stays {
				delete(s.roads, a)
				delete(s.seen, a)
				if s.aim == a {
					s.aim = 0
				}
				if s.owner == a {
					s.owner = 0
				}
			}
		}
		if !stays {
			s.hunters = slices.DeleteFunc(slices.Clone(s.hunters), func(h int) bool {
				return !slices.Contains(gone, h)
			})
		}
	}
}

func (f *fleet) drop(gone []int) {
	f.leave(gone)
	for _, a := range gone {
		delete(f.ships, a)
	}
}

func (f *fleet) leadsTo(ships []int) (all []int) {
	for _, a := range ships {
		s := f.ships[a]
		for _, to := range slices.Concat([]int{s.parent, s.aim, s.owner}, slices.Sorted(maps.Keys(s.roads)),
			slices.Sorted(maps.Keys(s.seen))) {
			if to != 0 {
				all = append(all, to)
			}
		}
	}
	return all
}

// leadsOut reports whether one of the moved ships links or refers to a ship that is not moved.
func (f *fleet) leadsOut(moved []int) bool {
	return slices.ContainsFunc(f.leadsTo(moved), func(to int) bool { return !slices.Contains(moved, to) })
}

// closed adds ships to roots until no link or reference leads out of their subtrees.
func (f *fleet) closed(roots []int) []int {
	for i := 0; i < len(roots); i++ {
		for _, to := range f.leadsTo(f.subtree(roots[i])) {
			if !slices.Contains(roots, to) {
				roots = append(roots, to)
			}
		}
	}
	return roots
}

// move moves ships with their subtrees from one town to another, or within one town.
func (f *fleet) move(from, to int, roots []int, entities map[int]vast.Entity) {
	var moved []int
	var given []vast.Entity
	for _, a := range roots {
		given = append(given, entities[a])
		for _, n := range f.subtree(a) {
			if !slices.Contains(moved, n) {
				moved = append(moved, n)
			}
		}
	}
	parcel, err := f.packers[from].Pack(nil, given)
	if out := f.leadsOut(moved); out != (err != nil) {
		f.Fatalf("roots %d: leadsOut is %v, but the error is %v", roots, out, err)
	}
	if err != nil {
		return
	}
	for _, e := range given {
		f.towns[from].w.Delete(e)
	}
	f.leave(moved)
	made := unpack(f, f.packers[to], parcel)
	for i, e := range made {
		if n := int(f.towns[to].position.Get(e).X); n != roots[i] || len(made) != len(roots) {
			f.Fatalf("root %d is ship %d, want %d", i, n, roots[i])
		}
	}
	for _, a := range moved {
		f.ships[a].town = to
	}
	f.check()
}

func (f *fleet) check() {
	for i, n := range f.towns {
		entities := f.entities(i)
		want := f.numbers(i)
		if !slices.Equal(slices.Sorted(maps.Keys(entities)), want) || n.w.Len() != len(want) {
			f.Fatalf("town %d has %d entities, want exactly the ships %v", i, n.w.Len(), want)
		}
		for a, e := range entities {
			if got := f.describe(n, e); !got.equal(f.ships[a]) {
				f.Fatalf("town %d, ship %d: the entity is %+v, want %+v", i, a, got, *f.ships[a])
			}
		}
	}
}

func (f *fleet) describe(n *town, e vast.Entity) *vessel {
	number := func(e vast.Entity) int {
		if p := n.position.Get(e); p != nil {
			return int(p.X)
		}
		return 0
	}
	s := &vessel{at: n.position.Get(e).Y, roads: make(map[int]uint16)}
	target, _ := n.childOf.Target(e)
	s.parent = number(target)
	target, _ = n.aimsAt.Target(e)
	s.aim = number(target)
	if b := n.burden.Get(e); b != nil {
		s.loaded, s.owner = true, number(b.Of)
	}
	if d := n.diary.Get(e); d != nil {
		s.seen = make(map[int]int)
		for of, v := range d.Seen {
			if n.w.Alive(of) {
				s.seen[number(of)] = v
			}
		}
	}
	s.name, _ = n.names.Of(e)
	for source := range n.childOf.Sources(e) {
		s.parts = append(s.parts, number(source))
	}
	for source := range n.aimsAt.Sources(e) {
		s.hunters = append(s.hunters, number(source))
	}
	for to, v := range n.roads.Targets(e) {
		s.roads[number(to)] = *v
	}
	return s
}

func (s *vessel) equal(o *vessel) bool {
	return s.at == o.at && s.parent == o.parent && s.aim == o.aim && s.owner == o.owner &&
		s.loaded == o.loaded && s.name == o.name && (s.seen == nil) == (o.seen == nil) &&
		maps.Equal(s.seen, o.seen) && maps.Equal(s.roads, o.roads) && slices.Equal(s.parts, o.parts) &&
		slices.Equal(s.hunters, o.hunters)
}

func TestParcelModel(t *testing.T) {
	n := longtest.Pick(4_000, 20_000)
	playFleet(t, modeltest.RandomBytes(t, n))
}

func FuzzParcelModel(f *testing.F) {
	f.Add([]byte("\x00\x00\x04\x10\x01\x20\x00\x30\x01\x00\x07\x00\x01\x07\x02"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) < 1<<12 {
			playFleet(t, data)
		}
	})
}
