package vast

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/vastgo/vast/vm"
)

func init() {
	children["leaked worlds"] = leakedWorlds
	children["address space"] = limitedAddressSpace
	children["data"] = limitedData
}

func mappings() int {
	b, err := os.ReadFile("/proc/self/maps")
	mustNot(err)
	return strings.Count(string(b), "\n")
}

func TestThousandWorlds(t *testing.T) {
	n, o := 1000, Options{}
	if vm.HeapStandIn() {
		n, o.MaxEntities = 50, 256 // the stand-in takes memory for all slots
	}
	before := mappings()
	worlds := make([]*World, n)
	columns := make([][8]Column[uint64], n)
	for i := range worlds {
		w := NewWorld(o)
		worlds[i] = w
		var set []AnyColumn
		for k := range columns[i] {
			columns[i][k] = NewColumn[uint64](w)
			set = append(set, columns[i][k])
		}
		w.Archetype(set[:4]...).NewN(100, nil)
		e := w.Archetype(set[4:]...).New()
		*columns[i][7].Get(e) = uint64(i)
	}
	during := mappings()
	t.Logf("%d mappings before, %d with %d worlds: %.1f for each world", before, during, n,
		float64(during-before)/float64(n))
	if most := vm.ReadFacts().MaxMappings; during > most*4/5 {
		t.Errorf("the process has %d mappings, want at most four fifths of the limit %d", during, most)
	}
	for i, w := range worlds {
		sum := uint64(0)
		for e := range w.Query(columns[i][7]).All() {
			sum += *columns[i][7].Get(e)
		}
		if w.Len() != 101 || sum != uint64(i) || w.Query(columns[i][0]).Count() != 100 {
			t.Fatalf("world %d has %d entities, want 101; the sum is %d; %d entities have column 0, want 100",
				i, w.Len(), sum, w.Query(columns[i][0]).Count())
		}
	}
	for _, w := range worlds {
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	// The addresses of closed worlds stay reserved, with at most one mapping for each world. The pages of up
	// to 16 closed worlds stay in memory, and keep their mappings.
	if after := mappings(); after > before+n+100+16*(during-before)/n {
		t.Errorf("%d mappings are left after Close, %d before Close", after, during)
	}
}

func TestLeakedWorlds(t *testing.T) { contentChild(t, "leaked worlds") }

// leakedWorlds drops worlds without Close. vm must report the worlds and must not give their memory back.
func leakedWorlds() {
	n, o := 1000, Options{Name: "dropped"}
	if vm.HeapStandIn() {
		n, o.MaxEntities = 50, 256
	}
	var leaks atomic.Int64
	vm.OnLeak(func(l vm.Leak) {
		if l.Purpose == "dropped" && strings.Contains(l.Made, "world_linux_test.go") {
			leaks.Add(1)
		}
	})
	var kept []*uint64
	for i := range n {
		w := NewWorld(o)
		pos, vel, id := NewColumn[position](w), NewColumn[velocity](w), NewColumn[uint64](w)
		a := w.Archetype(pos, vel, id)
		a.NewN(100, nil)
		e := a.New()
		*id.Get(e) = uint64(i)
		kept = append(kept, id.Get(e))
		if i%100 == 0 {
			runtime.GC()
		}
	}
	for range 100 {
		if runtime.GC(); leaks.Load() >= int64(n) {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	must(leaks.Load() >= int64(n)*9/10, "vm reports %d leaks, want nearly %d", leaks.Load(), n)
	for i, p := range kept {
		must(*p == uint64(i), "element %d of a dropped world is %d", i, *p)
	}
	fmt.Printf("%d dropped worlds, %d leaks reported, %d mappings\n", n, leaks.Load(), mappings())
}

func setLimit(which, bytes int) {
	mustNot(unix.Setrlimit(which, &unix.Rlimit{Cur: uint64(bytes), Max: uint64(bytes)}))
}

// refusal checks that f fails with a *vm.Error that wraps want and names the limit.
func refusal(f func() error, want error, limit string) {
	var err error
	if v := panicOf(func() { err = f() }); v != nil {
		err, _ = v.(error)
		must(err != nil, "panic: %v", v)
	}
	e, _ := err.(*vm.Error)
	must(e != nil && e.Unwrap() == want && strings.Contains(e.Detail, limit),
		"got %v, want an error that wraps %v and names %s", err, want, limit)
}

func TestKernelLimits(t *testing.T) {
	if vm.ReadFacts().HeapStandIn {
		t.Skip("memory is Go's heap in this build")
	}
	t.Run("address space", func(t *testing.T) { contentChild(t, "address space") })
	t.Run("data", func(t *testing.T) { contentChild(t, "data") })
}

const mib = 1 << 20

func limitedAddressSpace() {
	other := NewWorld(Options{Name: "other", MaxEntities: 1 << 20})
	for range 4 {
		anotherColumn[position](other)
	}
	// In a world of 2^20 slots, a column of 64-byte elements takes about 66 MiB of addresses, and the world's
	// own arrays take about 7 MiB. 33 MiB stay free for Go's runtime, which ends the process if it gets no
	// addresses.
	setLimit(unix.RLIMIT_AS, vm.ReadUsage().AddressSpace+9*66*mib+33*mib+7*mib)
	// In a default world, a column of 64-byte elements needs 1 GiB of addresses and does not fit.
	huge := NewWorld(Options{Name: "huge"})
	refusal(func() error { NewColumn[[8]uint64](huge); return nil }, vm.ErrAddressSpace, "RLIMIT_AS")
	must(len(huge.Stats().Columns) == 0, "a refused column was made")
	mustNot(huge.Close())

	w := NewWorld(Options{Name: "limited", MaxEntities: 1 << 20})
	var cs []Column[[8]uint64]
	makeColumns := func() error {
		for range 1000 {
			cs = append(cs, NewColumn[[8]uint64](w))
		}
		return nil
	}
	refusal(makeColumns, vm.ErrAddressSpace, "RLIMIT_AS")
	n := len(cs)
	must(n >= 4 && n <= 10 && len(w.Stats().Columns) == n, "made %d columns, want 4 to 10; Stats counts %d",
		n, len(w.Stats().Columns))
	refusal(makeColumns, vm.ErrAddressSpace, "RLIMIT_AS")
	must(len(w.Stats().Columns) == n, "a refused column was made")
	a := w.Archetype(cs[0], cs[n-1])
	mustNot(a.Grow(20_000))
	a.NewN(20_000, func(r Run) { cs[n-1].Slice(r)[0] = [8]uint64{7} })
	must(a.Len() == 20_000 && cs[n-1].Len() == 20_000, "%d entities, want 20000", a.Len())
	mustNot(other.Close())
	c := NewColumn[[8]uint64](w)
	for e := range w.Query(cs[0]).All() {
		must(c.Get(e) == nil, "a new column has entities")
	}
	first := entitiesOf(w.Query())[0]
	must(*c.Add(first, [8]uint64{9}) == [8]uint64{9} && *cs[n-1].Get(first) == [8]uint64{7}, "wrong values")
	w.checkInvariants()
	mustNot(w.Close())
	fmt.Printf("%d columns under RLIMIT_AS\n", n)
}

func limitedData() {
	other := NewWorld(Options{Name: "other", MaxEntities: 1 << 20, Pages: vm.PagesSmall})
	NewColumn[[8]uint64](other)
	mustNot(other.Archetype(other.columns[0].asAny()).Grow(1 << 20)) // 64 MiB
	w := NewWorld(Options{Name: "limited", MaxEntities: 1 << 22, Pages: vm.PagesSmall})
	c, d := NewColumn[[8]uint64](w), NewColumn[[8]uint64](w).Named("d")
	a := w.Archetype(c, d)
	a.NewN(1000, nil)
	// At each refusal the limit leaves at least 20 MiB for Go's runtime.
	setLimit(unix.RLIMIT_DATA, vm.ReadUsage().Data+180*mib)
	before := w.Stats()
	for range 3 {
		// The first column fits, and the second does not. The refusal must give back the memory of the first.
		refusal(func() error { return a.Grow(1_500_000) }, vm.ErrDataLimit, "RLIMIT_DATA")
		refusal(func() error { a.NewN(1_500_000, nil); return nil }, vm.ErrDataLimit, "RLIMIT_DATA")
		after := w.Stats()
		must(after.Committed <= before.Committed && after.Slots == before.Slots && after.Entities == 1000 &&
			a.Len() == 1000 && c.Len() == 1000,
			"a refusal changed the world:\n%+v\n%+v", after, before)
	}
	w.checkInvariants()
	mustNot(a.Grow(700_000))
	a.NewN(700_000, nil)
	must(a.Len() == 701_000 && c.Len() == 701_000, "%d entities, want 701000", a.Len())
	refusal(func() error { return a.Grow(1_000_000) }, vm.ErrDataLimit, "RLIMIT_DATA")
	mustNot(other.Close())
	mustNot(a.Grow(300_000))
	a.NewN(300_000, nil)
	must(a.Len() == 1_001_000 && w.Query(c, d).Count() == 1_001_000, "%d entities, want 1001000", a.Len())
	w.checkInvariants()
	mustNot(w.Close())
}

// smaps returns the number of bytes in memory and the number of bytes on huge pages, over all mappings that
// overlap [lo, hi).
func smaps(t *testing.T, lo, hi uintptr) (resident, huge int) {
	t.Helper()
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	inside := false
	for s := bufio.NewScanner(f); s.Scan(); {
		var from, to uintptr
		var kib int
		if n, _ := fmt.Sscanf(s.Text(), "%x-%x ", &from, &to); n == 2 {
			inside = from < hi && to > lo
		}
		if !inside {
			continue
		}
		if n, _ := fmt.Sscanf(s.Text(), "Rss: %d kB", &kib); n == 1 {
			resident += kib << 10
		}
		if n, _ := fmt.Sscanf(s.Text(), "AnonHugePages: %d kB", &kib); n == 1 {
			huge += kib << 10
		}
	}
	return resident, huge
}

func elements(c *column, n int) (lo, hi uintptr) {
	return uintptr(c.base), uintptr(c.base) + uintptr(n*c.bytes)
}

func TestHugePages(t *testing.T) {
	if vm.HugePageSize() == 0 || vm.HugeMode() == "never" || vm.ReadFacts().HeapStandIn {
		t.Skip("no huge pages on this system")
	}
	const n = 1 << 20
	create := map[string]func(a *Archetype, touch func(Run)){
		"NewN": func(a *Archetype, touch func(Run)) { a.NewN(n, touch) },
		"New": func(a *Archetype, touch func(Run)) {
			for range n {
				slot := a.New().Slot()
				touch(Run{start: slot, n: 1})
			}
		},
	}
	for name, newAll := range create {
		t.Run(name, func(t *testing.T) {
			w := NewWorld(Options{})
			defer w.Close()
			pos, vel, sparse := NewColumn[position](w), NewColumn[velocity](w), NewColumn[[3]uint64](w)
			small := w.Archetype(pos)
			small.NewN(1000, nil)
			newAll(w.Archetype(pos, vel), func(r Run) {
				p, v := pos.Slice(r), vel.Slice(r)
				for i := range p {
					p[i].X, v[i].Y = 1, 2
				}
			})
			for _, c := range []*column{pos.c, vel.c} {
				lo, hi := elements(c, n)
				resident, huge := smaps(t, lo, hi)
				t.Logf("%s: %d KiB resident, %d KiB on huge pages", c.name, resident>>10, huge>>10)
				if huge < n*16*3/4 {
					t.Errorf("%s: %d KiB of %d KiB are on huge pages, want three quarters", c.name, huge>>10,
						n*16>>10)
				}
				if resident > n*16*5/4 {
					t.Errorf("%s: %d KiB are resident, want at most five quarters of %d KiB", c.name,
						resident>>10, n*16>>10)
				}
			}
			for i, e := range entitiesOf(w.Query(vel)) {
				if i%100_000 == 0 {
					sparse.Add(e, [3]uint64{1, 2})
				}
			}
			lo, hi := elements(sparse.c, n)
			if resident, huge := smaps(t, lo, hi); resident > 1<<20 || huge != 0 || sparse.Len() != 11 {
				t.Errorf("a column of %d entities, want 11, takes %d KiB, want at most 1024; %d KiB are on "+
					"huge pages, want 0", sparse.Len(), resident>>10, huge>>10)
			}
		})
	}
}
