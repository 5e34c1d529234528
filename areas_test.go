package vast

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/vastgo/vast/vm"
)

// checkAreas checks that a world's areas lie in its reservations, do not overlap, and that what is committed of the
// reservations is what areas say, page by page; and that slots and places belong together.
func checkAreas(t testing.TB, w *World) {
	t.Helper()
	areas, reservations := w.Areas(), w.Reservations()
	committed := make([]int, len(reservations))
	end, last := 0, 0
	for i, a := range areas {
		switch {
		case a.Reservation == -1:
			last = len(reservations)
			if a.Offset != 0 || a.Stride != 0 || a.Committed < 0 || a.Committed > a.Bytes {
				t.Fatalf("area %d has memory of its own, and is %+v", i, a)
			}
			continue
		case a.Reservation < last:
			t.Fatalf("area %d is out of order: %+v", i, a)
		case a.Reservation > last:
			last, end = a.Reservation, 0
		}
		if a.Offset < end || a.Bytes <= 0 || a.Offset+a.Bytes > reservations[last].Bytes() {
			t.Fatalf("area %d is %+v, the one before ends at %d", i, a, end)
		}
		end = a.Offset + a.Bytes
		if a.Committed < 0 || a.CommittedAt < a.Offset || a.CommittedAt+a.Committed > end {
			t.Fatalf("area %d is committed in part outside: %+v", i, a)
		}
		committed[last] += a.Committed
		checkPlaces(t, w, a)
	}
	for i, r := range reservations {
		runs, err := r.Pages(0, r.Bytes(), nil)
		if err != nil {
			t.Fatal(err)
		}
		// The areas' committed ranges, joined, must be the committed pages.
		var want, got [][2]int
		for _, a := range areas {
			if a.Reservation != i || a.Committed == 0 {
				continue
			}
			lo, hi := a.CommittedAt, a.CommittedAt+a.Committed
			if k := len(want); k > 0 && want[k-1][1] == lo {
				want[k-1][1] = hi
			} else {
				want = append(want, [2]int{lo, hi})
			}
		}
		for _, run := range runs {
			lo, hi := run.Offset, run.Offset+run.Bytes
			if run.State&vm.PageCommitted == 0 {
				continue
			}
			if k := len(got); k > 0 && got[k-1][1] == lo {
				got[k-1][1] = hi
			} else {
				got = append(got, [2]int{lo, hi})
			}
		}
		if !slices.Equal(got, want) || committed[i] != r.Committed() {
			t.Fatalf("of reservation %d are committed %v, %d bytes; by areas %v, %d bytes", i, got, r.Committed(), want, committed[i])
		}
	}
}

// checkPlaces checks some slots of an area.
func checkPlaces(t testing.TB, w *World, a Area) {
	t.Helper()
	if a.Stride == 0 {
		return
	}
	most := w.options.MaxEntities
	for _, slot := range []int{0, 1, 63, 64, 4095, 4096, most / 2, most - 1} {
		if slot >= most {
			continue
		}
		off, n := a.Place(slot)
		if n <= 0 || off < a.Offset || off+n > a.Offset+a.Bytes {
			t.Fatalf("slot %d lies at %d+%d of %+v", slot, off, n, a)
		}
		lo, hi := a.Slots(off, n)
		if lo != slot/a.Share*a.Share || hi != lo+a.Share {
			t.Fatalf("at %d+%d lie the slots [%d, %d) of %+v, among them should be %d alone with those beside it", off, n, lo, hi, a, slot)
		}
		if lo2, hi2 := a.Slots(off+n-1, 1); lo2 != lo || hi2 != hi {
			t.Fatalf("at the last byte of [%d, %d) lie the slots [%d, %d) of %+v", lo, hi, lo2, hi2, a)
		}
		// What lies in two places, or in a part of each.
		if lo2, hi2 := a.Slots(off-1, n+2); off > a.First && off-1 >= a.Offset && slot >= a.Share && (lo2 != lo-a.Share || hi2 != hi+a.Share) {
			t.Fatalf("around [%d, %d) lie the slots [%d, %d) of %+v", lo, hi, lo2, hi2, a)
		}
	}
}

// TestAreasOfEverything makes a world with all that has memory, and looks for known values where areas say that they are.
func TestAreasOfEverything(t *testing.T) {
	for _, pages := range []vm.Pages{vm.PagesAuto, vm.PagesSmall, vm.PagesHuge, vm.PagesHeap} {
		w := NewWorld(Options{Name: t.Name(), MaxEntities: 1 << 18, Pages: pages})
		defer w.Close()
		if w.Areas() != nil || len(w.Reservations()) != 0 {
			t.Error("a world without columns has areas")
		}
		c, empty, tag := NewColumn[[3]uint64](w), NewColumn[struct{}](w), NewTag(w, "tag")
		sparse, heap := NewSparseColumn[[4]uint64](w), NewHeapColumn[string](w)
		relation, edges := NewRelation(w, "childOf", RelationOptions{}), NewEdges[int](w, "roads", EdgesOptions{})
		a := w.Archetype(c, empty)
		w.Archetype(tag).NewN(100, nil)
		a.NewN(200_000, nil)
		es := entitiesOf(w.Query(c))
		tracker := w.Track(c)
		for i, e := range es[:5000] {
			c.Set(e, [3]uint64{uint64(i), 1, 2})
			switch i % 5 {
			case 0:
				sparse.Add(e, [4]uint64{})
			case 1:
				heap.Add(e, "heap")
			case 2:
				relation.Set(e, es[i-1])
			case 3:
				edges.Add(e, es[i-3], 7)
			}
		}
		commands := w.NewCommands()
		commands.Delete(es[0])
		checkAreas(t, w)
		kinds := make(map[AreaKind]int)
		for _, a := range w.Areas() {
			kinds[a.Kind]++
			checkContents(t, w, a, es)
		}
		columns := 9 // with the relation's and the edges' two each
		want := map[AreaKind]int{AreaElements: columns - 2, AreaPresence: columns, AreaSummaries: columns + 1, AreaGenerations: 1,
			AreaOwners: 1, AreaLive: 1, AreaLinks: 1, AreaLevels: 2, AreaWritten: 1, AreaMarks: 6, AreaMarkGenerations: 1,
			AreaStore: 2, AreaCommands: 1, AreaHeap: 1}
		for k := range AreaHeap + 1 {
			if kinds[k] != want[k] {
				t.Errorf("%v: %d areas of %v, want %d", pages, kinds[k], k, want[k])
			}
		}
		// All that vm counts under the world's name is told of.
		total := 0
		for _, a := range w.Areas() {
			if a.Kind != AreaHeap {
				total += a.Committed
			}
		}
		for _, p := range vm.Snapshot(false).Purposes {
			if p.Purpose == t.Name() && p.Committed != total {
				t.Errorf("%v: areas have %d bytes committed, vm counts %d", pages, total, p.Committed)
			}
		}
		if _, err := w.Apply(commands); err != nil {
			t.Fatal(err)
		}
		w.DeleteAll(w.Query(c).Without(sparse))
		checkAreas(t, w)
		if err := w.Trim(); err != nil {
			t.Fatal(err)
		}
		checkAreas(t, w)
		tracker.Close()
		checkAreas(t, w)
		w.Reset()
		if err := w.Trim(); err != nil {
			t.Fatal(err)
		}
		checkAreas(t, w)
		reservations := w.Reservations()
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if w.Areas() != nil || reservations[0].Committed() != 0 {
			t.Error("a closed world has areas")
		}
	}
}

// checkContents reads what an area says of some entities, by way of the reservation.
func checkContents(t *testing.T, w *World, a Area, es []Entity) {
	t.Helper()
	if a.Reservation < 0 || a.Stride == 0 {
		return
	}
	r := w.Reservations()[a.Reservation]
	for _, e := range es[:200] {
		slot := int(e.Slot())
		off, n := a.Place(slot)
		var got []byte
		var at uintptr
		r.Look(off, n, func(off int, b []byte) { got, at = slices.Clone(b), uintptr(unsafe.Pointer(&b[0])) })
		if at != r.Address()+uintptr(off) {
			t.Fatalf("the bytes at %d are at %#x, the reservation at %#x", off, at, r.Address())
		}
		var want uint64
		switch {
		case a.Kind == AreaElements && a.Column.Name() == "" && n == 24:
			want = *(*uint64)(unsafe.Add(a.Column.column().base, slot*24))
			if p := uintptr(unsafe.Add(a.Column.column().base, slot*24)); p != at {
				t.Fatalf("the element of slot %d is at %#x, not at %#x", slot, p, at)
			}
		case a.Kind == AreaPresence:
			want = w.Presence(a.Column, slot/64)
		case a.Kind == AreaLive:
			want = w.Presence(nil, slot/64)
		case a.Kind == AreaGenerations:
			want = uint64(e.generation)
			got = append(got, 0, 0, 0, 0)
		case a.Kind == AreaOwners:
			want = w.owner(uint32(slot / 64)).extra
		case a.Kind == AreaSummaries:
			s := w.live
			if a.Column != nil {
				s = a.Column.column().set
			}
			want, _ = s.Block(uint(slot) / 4096)
		default:
			continue
		}
		if len(got) < 8 || binary.NativeEndian.Uint64(got) != want {
			t.Fatalf("the %v of slot %d are % x, want %#x", a.Kind, slot, got, want)
		}
	}
}

func TestAreaOfHugeElements(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 4096})
	defer w.Close()
	c := NewColumn[[9000]byte](w)
	w.Archetype(c).NewN(200, nil)
	checkAreas(t, w)
}

// TestExtentsAndOccupied compares with a map of slots, in worlds of random archetypes.
func TestExtentsAndOccupied(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	for range 20 {
		w := NewWorld(Options{MaxEntities: 1 << 15})
		c, d := NewColumn[uint32](w), NewTag(w, "d")
		archetypes := []*Archetype{w.Archetype(), w.Archetype(c), w.Archetype(d, c)}
		has := make(map[int]*Archetype)
		for range 200 {
			switch rng.IntN(5) {
			case 0:
				a := archetypes[rng.IntN(3)]
				if len(has) < 1<<14 {
					a.NewN(rng.IntN(700), func(r Run) {
						for i := range r.Len() {
							has[int(r.Entity(i).Slot())] = a
						}
					})
				}
			case 1, 2:
				e := archetypes[rng.IntN(3)].New()
				has[int(e.Slot())] = archetypes[len(w.extents[w.owner(e.slot/64).extent].archetype.columns)]
			case 3:
				lo := rng.IntN(1 << 15)
				for slot := lo; slot < lo+rng.IntN(1500); slot++ {
					if e, ok := w.At(slot); ok {
						w.Delete(e)
						delete(has, slot)
					}
				}
			}
		}
		var all []Extent
		next, entities := 0, 0
		for x := range w.Extents(0) {
			if x.First < next || x.Slots <= 0 || x.Slots%64 != 0 || x.First%64 != 0 {
				t.Fatalf("the extent %+v follows slot %d", x, next)
			}
			next = x.First + x.Slots
			n := 0
			for slot := x.First; slot < next; slot++ {
				if a := has[slot]; a != nil {
					n++
					if a != x.Archetype {
						t.Fatalf("slot %d belongs to archetype %d, not %d", slot, a.Number(), x.Archetype.Number())
					}
				}
			}
			if n != x.Entities || n != w.Occupied(nil, x.First, next) {
				t.Fatalf("%+v holds %d entities", x, n)
			}
			entities += n
			all = append(all, x)
		}
		if entities != len(has) || entities != w.Len() {
			t.Fatalf("extents hold %d entities of %d", entities, len(has))
		}
		for range 20 {
			lo, hi := rng.IntN(1<<15), rng.IntN(1<<15+5000)
			i := slices.IndexFunc(all, func(x Extent) bool { return x.First+x.Slots > lo/64*64 })
			for x := range w.Extents(lo) {
				if i < 0 || x != all[i] {
					t.Fatalf("from %d on the first extent is %+v", lo, x)
				}
				break
			}
			counts := [3]int{}
			for slot := lo; slot < hi; slot++ {
				if a := has[slot]; a != nil {
					counts[0]++
					for i := range a.Columns() {
						counts[1+i]++ // c comes first
					}
				}
			}
			if got := [3]int{w.Occupied(nil, lo, hi), w.Occupied(c, lo, hi), w.Occupied(d, lo, hi)}; got != counts {
				t.Fatalf("in [%d, %d) are %v, want %v", lo, hi, got, counts)
			}
			slot := rng.IntN(1 << 15)
			e, alive := w.At(slot)
			if got := w.Presence(nil, slot/64)>>(slot%64)&1 != 0; got != alive || alive && w.Uses(slot) != e.Generation() ||
				c.Has(e) != (w.Presence(c, slot/64)>>(slot%64)&1 != 0) {
				t.Fatalf("slot %d: %t, uses %d", slot, got, w.Uses(slot))
			}
		}
		if w.Presence(c, -1) != 0 || w.Presence(nil, math.MaxInt) != 0 || w.Uses(-1) != 0 || w.Uses(math.MaxInt) != 0 {
			t.Error("what lies outside the world is not zero")
		}
		checkAreas(t, w)
		w.Close()
		if w.Occupied(nil, 0, 1<<15) != 0 || w.Presence(c, 0) != 0 {
			t.Error("a closed world holds entities")
		}
		for range w.Extents(0) {
			t.Error("a closed world has extents")
		}
	}
}
