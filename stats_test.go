package vast

import (
	"testing"
	"unsafe"

	"github.com/vastgo/vast/vm"
)

func TestStatsOfColumns(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 1 << 14, Pages: vm.PagesSmall})
	c, rare, sparse := NewColumn[uint64](w), NewColumn[[3]uint64](w),
		NewSparseColumn[[3]uint64](w).Named("sparse")
	if s := w.Stats(); s.Columns[0].Density() != 1 || s.Committed != 0 {
		t.Errorf("a world without entities: %+v", s)
	}
	if r, err := w.ResidentStats(); err != nil || len(r.Columns) != 3 || !vm.ReadFacts().HeapStandIn &&
		r.Total() != 0 {
		t.Errorf("the resident memory of a world without entities: %+v, %v", r, err)
	}
	a := w.Archetype(c)
	a.NewN(4096, func(r Run) {
		for i := range c.Slice(r) {
			c.Slice(r)[i] = 1
		}
	})
	for i, e := range entitiesOf(w.Query(c)) {
		if i%128 == 5 {
			rare.Add(e, [3]uint64{1})
			sparse.Add(e, [3]uint64{1})
		} else if i >= 64 && i%64 > 15 {
			w.Delete(e)
		}
	}
	s := w.Stats()
	living := 64 + 63*16
	for i, col := range probed.Columns(w) {
		if got := probed.StatsOf(col); got != s.Columns[i] {
			t.Errorf("column %d by itself: %+v, want %+v", i, got, s.Columns[i])
		}
	}
	if got := s.Columns[0]; got.Entities != living || got.Slots != 4096 ||
		got.Density() != float64(living)/4096 {
		t.Errorf("the column of all entities: %+v", got)
	}
	if got := s.Columns[1]; got.Entities != 32 || got.Slots != 32*64 || got.Density() != 1./64 ||
		got.Committed < 4096*24 ||
		got.Reserved < 1<<14*24 {
		t.Errorf("the rare column: %+v", got)
	}
	if got := s.Archetypes[0]; got.Entities != living || got.Slots != 4096 || got.Extents != 1 ||
		got.Fill() != float64(living)/4096 {
		t.Errorf("the archetype: %+v", got)
	}
	sum := 0
	for _, cs := range s.Columns {
		sum += cs.Committed
	}
	if s.Committed < sum || s.Reserved < s.Committed || sparse.pool.pool.Committed() == 0 ||
		s.Columns[2].Committed <= sparse.pool.pool.Committed() {
		t.Errorf("%d bytes committed, %d of them by columns: %+v", s.Committed, sum, s)
	}
	r, err := w.ResidentStats()
	total, err2 := w.Resident()
	if err != nil || err2 != nil || total != r.Total() || total > s.Committed || r.Control < 4096*4 ||
		r.Columns[0] < 4096*8 {
		t.Errorf("%+v in memory, %d in all, %d committed: %v, %v", r, total, s.Committed, err, err2)
	}
	for range 2 {
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	s = w.Stats()
	r, err = w.ResidentStats()
	if s.Reserved != 0 || s.Committed != 0 || s.Columns[2].Committed != 0 || s.Columns[0].Slots != 0 ||
		r.Total() != 0 || err != nil {
		t.Errorf("a closed world: %+v, %+v", s, r)
	}
}

// TestResidentOfLinks: the links of a relation, the notes of a tracker and the bits of a group are in memory.
func TestResidentOfLinks(t *testing.T) {
	if vm.ReadFacts().HeapStandIn {
		t.Skip("the system does not say which pages are in memory")
	}
	const n = 100_000
	w := NewWorld(Options{MaxEntities: 1 << 18, Pages: vm.PagesSmall})
	defer w.Close()
	c := NewColumn[uint64](w)
	w.Archetype(c).NewN(n, nil)
	resident := func() int {
		t.Helper()
		total, err := w.Resident()
		if err != nil {
			t.Fatal(err)
		}
		return total
	}
	before := resident()
	child := NewRelation(w, "childOf", RelationOptions{})
	es := entitiesOf(w.Query(c))
	for _, e := range es[1:] {
		child.Set(e, es[0])
	}
	linked := resident()
	if got, want := linked-before, n*(8+int(unsafe.Sizeof(link{}))); got < want {
		t.Errorf("the links add %d bytes in memory, want at least %d for targets and links", got, want)
	}
	tracker := NewTracker(w, c)
	defer tracker.Close()
	for _, e := range es {
		c.Set(e, 1)
	}
	if got := resident() - linked; got < n/8 {
		t.Errorf("the notes of a tracker add %d bytes in memory, want at least %d", got, n/8)
	}
}
