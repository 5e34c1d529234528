package probe_test

import (
	"encoding/binary"
	"slices"
	"testing"
	"unsafe"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/group"
	"github.com/vastgo/vast/internal/probetest"
	"github.com/vastgo/vast/probe"
	"github.com/vastgo/vast/vm"
)

// TestAreasOfEverything makes a world with every kind of area, counts the areas of each kind, and compares
// the bytes of some areas with the data of the world.
func TestAreasOfEverything(t *testing.T) {
	for _, pages := range []vm.Pages{vm.PagesAuto, vm.PagesSmall, vm.PagesHuge, vm.PagesHeap} {
		w := vast.NewWorld(vast.Options{Name: t.Name(), MaxEntities: 1 << 18, Pages: pages})
		defer w.Close()
		if probe.Areas(w) != nil || len(probe.Reservations(w)) != 0 {
			t.Error("a world without columns has areas or reservations")
		}
		c, empty, tag := vast.NewColumn[[3]uint64](w), vast.NewColumn[struct{}](w), vast.NewTag(w, "tag")
		sparse, heap := vast.NewSparseColumn[uint64](w), vast.NewHeapColumn[string](w)
		relation := vast.NewRelation(w, "childOf", vast.RelationOptions{})
		edges := vast.NewEdges[uint64](w, "roads", vast.EdgesOptions{})
		a := w.Archetype(c, empty)
		w.Archetype(tag).NewN(100, nil)
		a.NewN(200_000, nil)
		es := slices.Collect(w.Query(c).All())
		tracker := vast.NewTracker(w, c)
		for i, e := range es[:5000] {
			c.Set(e, [3]uint64{uint64(i), 1, 2})
			switch i % 5 {
			case 0:
				sparse.Add(e, 0)
			case 1:
				heap.Add(e, "heap")
			case 2:
				relation.Set(e, es[i-1])
			case 3:
				edges.Add(e, es[i-3], 7)
			}
		}
		matches := group.New(w.Query(c))
		commands := vast.NewCommands(w, vast.CommandsOptions{})
		commands.Delete(es[0])
		probetest.CheckAreas(t, w)
		kinds, compared := make(map[probe.AreaKind]int), make(map[probe.AreaKind]int)
		for _, a := range probe.Areas(w) {
			kinds[a.Kind]++
			compared[a.Kind] += compareContents(t, w, c, a, es[:200])
		}
		columns := 9 // the relation and the edges have two columns each
		want := map[probe.AreaKind]int{probe.AreaElements: columns - 2, probe.AreaPresence: columns,
			probe.AreaSummaries: columns + 1, probe.AreaGenerations: 1, probe.AreaOwners: 1,
			probe.AreaLive: 1, probe.AreaLinks: 1, probe.AreaLevels: 2, probe.AreaWritten: 1,
			probe.AreaMarks: 6, probe.AreaMarkGenerations: 1, probe.AreaGroups: 2, probe.AreaStore: 2,
			probe.AreaCommands: 1, probe.AreaHeap: 1}
		for k := range probe.AreaHeap + 1 {
			if kinds[k] != want[k] {
				t.Errorf("%v: %d areas of %v, want %d", pages, kinds[k], k, want[k])
			}
		}
		for _, k := range []probe.AreaKind{probe.AreaElements, probe.AreaPresence, probe.AreaSummaries,
			probe.AreaGenerations, probe.AreaOwners, probe.AreaLive} {
			if compared[k] == 0 {
				t.Errorf("%v: the contents of %v were not compared", pages, k)
			}
		}
		// The areas cover all memory that vm counts under the world's name.
		total := 0
		for _, a := range probe.Areas(w) {
			if a.Kind != probe.AreaHeap {
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
		probetest.CheckAreas(t, w)
		if err := w.Trim(); err != nil {
			t.Fatal(err)
		}
		probetest.CheckAreas(t, w)
		tracker.Close()
		matches.Close()
		probetest.CheckAreas(t, w)
		w.Reset()
		if err := w.Trim(); err != nil {
			t.Fatal(err)
		}
		probetest.CheckAreas(t, w)
		reservations := probe.Reservations(w)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if probe.Areas(w) != nil || reservations[0].Committed() != 0 {
			t.Error("a closed world has areas or committed memory")
		}
	}
}

// compareContents reads the bytes of an area for some entities through the reservation, and compares the
// bytes with the data of the world. It returns the number of compared bytes.
func compareContents(t *testing.T, w *vast.World, c vast.Column[[3]uint64], a probe.Area, es []vast.Entity) (
	compared int) {
	t.Helper()
	if a.Reservation < 0 || a.Stride == 0 {
		return 0
	}
	r := probe.Reservations(w)[a.Reservation]
	for _, e := range es {
		slot := int(e.Slot())
		off, n := a.Place(slot)
		var got []byte
		var at uintptr
		r.Look(off, n, func(off int, b []byte) { got, at = slices.Clone(b), uintptr(unsafe.Pointer(&b[0])) })
		if at != r.Address()+uintptr(off) {
			t.Fatalf("the bytes at offset %d have the address %#x, want %#x", off, at,
				r.Address()+uintptr(off))
		}
		var want []byte
		switch a.Kind {
		case probe.AreaElements:
			if probe.Describe(a.Column).ID != probe.Describe(c).ID {
				return 0
			}
			for _, v := range c.Get(e) {
				want = binary.NativeEndian.AppendUint64(want, v)
			}
			if p := uintptr(unsafe.Pointer(c.Get(e))); p != at {
				t.Fatalf("the area has the element of slot %d at %#x, want %#x", slot, at, p)
			}
		case probe.AreaPresence, probe.AreaLive:
			want = binary.NativeEndian.AppendUint64(nil, probe.Presence(w, a.Column, slot/64))
		case probe.AreaGenerations:
			want = binary.NativeEndian.AppendUint32(nil, uint32(e.ID()>>32))
		case probe.AreaOwners:
			// The element of a word begins with a mask of columns. A column's bit is set if an entity of the
			// word gained the component after its birth.
			var gained uint64
			for x := range probe.Extents(w, slot) {
				for _, col := range probe.Columns(w) {
					born := slices.Contains(probe.ColumnsOf(x.Archetype), col)
					if !born && probe.Presence(w, col, slot/64) != 0 {
						gained |= 1 << (probe.Describe(col).ID % 64)
					}
				}
				break
			}
			want = binary.NativeEndian.AppendUint64(nil, gained)
		case probe.AreaSummaries:
			var occupied uint64
			for i := range 64 {
				if probe.Presence(w, a.Column, slot/4096*64+i) != 0 {
					occupied |= 1 << i
				}
			}
			want = binary.NativeEndian.AppendUint64(nil, occupied)
		default:
			return 0
		}
		if len(got) < len(want) || !slices.Equal(got[:len(want)], want) {
			t.Fatalf("the bytes of slot %d in the area of %v are % x, want % x", slot, a.Kind, got, want)
		}
		compared += len(want)
	}
	return compared
}

func TestAreaOfHugeElements(t *testing.T) {
	w := vast.NewWorld(vast.Options{MaxEntities: 4096})
	defer w.Close()
	c := vast.NewColumn[[9000]byte](w)
	w.Archetype(c).NewN(200, nil)
	probetest.CheckAreas(t, w)
}

func TestKindsAreNamed(t *testing.T) {
	seen := make(map[string]bool)
	for k := range probe.AreaHeap + 1 {
		seen[k.String()] = true
	}
	if len(seen) != int(probe.AreaHeap)+1 || !seen["mark generations"] ||
		(probe.AreaHeap+1).String() != "AreaKind(15)" {
		t.Errorf("the kinds are named %v, and the next kind %v", seen, probe.AreaHeap+1)
	}
	if probe.StorageSparse.String() != "sparse" || probe.StorageShared.String() != "shared" ||
		probe.Storage(5).String() != "Storage(5)" {
		t.Errorf("the storages are named %v, %v and %v", probe.StorageSparse, probe.StorageShared,
			probe.Storage(5))
	}
}
