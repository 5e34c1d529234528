package vm

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unsafe"
)

// keeping returns the operating system's backend. It skips a test if the system does not recycle regions.
// Close of a recycled region keeps its pages for the next region.
func keeping(t *testing.T) backend {
	t.Helper()
	backend := onlyOS(t)
	if !recycles(backend, Options{Recycle: true}) {
		t.Skip("this system does not recycle regions")
	}
	return backend
}

func carved(t *testing.T, r *Region, pages int, private bool) *Span {
	t.Helper()
	s, err := r.carve(pages*PageSize(), 0, private)
	must(t, err)
	return &s
}

// mustBeZero checks that the committed part of a span is zero, and writes to each of its pages.
func mustBeZero(t *testing.T, s *Span) {
	t.Helper()
	b := unsafe.Slice((*byte)(s.Base()), s.Committed())
	for i, v := range b {
		if v != 0 {
			t.Fatalf("byte %d of new memory is %d", i, v)
		}
	}
	for i := 0; i < len(b); i += PageSize() {
		b[i], b[i+PageSize()-1] = 1, 2
	}
}

// TestRecycle: the pages of a closed region fault, except for private pages. The next region of the same size
// and options has the same address, and its pages are zero.
func TestRecycle(t *testing.T) {
	backend, p := keeping(t), PageSize()
	limit := NewLimit(1 << 20)
	var base unsafe.Pointer
	for round := range 4 {
		r := open(t, backend, 1<<30, Options{Limit: limit, Recycle: true})
		if round > 0 && r.Base() != base {
			t.Fatalf("round %d is at %p, the region before was at %p", round, r.Base(), base)
		}
		base = r.Base()
		public, private := carved(t, r, 100, false), carved(t, r, 100, true)
		if end := private.Offset() + private.Size(); end != r.Size() || public.Offset() != 0 {
			t.Errorf("the public part is at %d, the private part ends at %d", public.Offset(), end)
		}
		if r.Committed() != 0 || !faults(func() { writeAt(public.Base(), 0) }) {
			t.Errorf("round %d: a page is usable before it is committed", round)
		}
		for _, s := range []*Span{public, private} {
			must(t, s.CommitTo(p+1, 0))
			if s.Committed() != 2*p {
				t.Errorf("round %d: %d bytes are committed for %d", round, s.Committed(), p+1)
			}
			mustBeZero(t, s)
		}
		if r.Committed() != 4*p || limit.Used() != 4*p {
			t.Errorf("%d bytes are committed, the limit counts %d", r.Committed(), limit.Used())
		}
		must(t, r.Close())
		f, ok := panicOf(func() { Do(func() { writeAt(public.Base(), p) }) }).(*Fault)
		if !ok || !f.Closed || !strings.Contains(f.ClosedAt, "recycle_linux_test.go:") {
			t.Errorf("after Close an access panics with %v", f)
		}
		if faults(func() { writeAt(private.Base(), 0) }) {
			t.Error("a private page faults after Close")
		}
		if limit.Used() != 0 || strings.Contains(fmt.Sprint(Snapshot(false)), t.Name()) {
			t.Errorf("%d bytes are used, %v", limit.Used(), Snapshot(false))
		}
		if kept := ReadUsage().Kept; kept < 4*p || kept > maxKept {
			t.Errorf("%d bytes are kept", kept)
		}
	}
}

// TestRecycleSteps: with Options.Recycle, a span or a seam begins with the needed pages. Each growth makes it
// four times as large, up to the usual step. In the next region, the first CommitTo of a span or a seam
// commits all kept pages.
func TestRecycleSteps(t *testing.T) {
	backend, p := keeping(t), PageSize()
	if 16*p > minStep {
		t.Skip("a step is only a few pages here")
	}
	for round, want := range []string{"[1 4 16] [1 4 16]", "[16] [16]", "[16] [16]"} {
		r := open(t, backend, 1<<30, Options{Recycle: true})
		span, under := carved(t, r, 1000, false), carved(t, r, 1000, true)
		seam := under.Seam(500*p+256, 8, 64)
		var spans, seams []int
		for need := 1; need < 15*p; need++ {
			must(t, span.CommitTo(need, 0))
			must(t, seam.CommitTo(need))
			if n := span.Committed() / p; !slices.Contains(spans, n) {
				spans = append(spans, n)
			}
			if n := (seam.Above() + 256) / p; !slices.Contains(seams, n) {
				seams = append(seams, n)
			}
			writeAt(span.Base(), need-1)
			writeAt(seam.Base(), need-1)
			writeAt(seam.Base(), -(need-1)/8-1)
		}
		if got := fmt.Sprint(spans, seams); got != want {
			t.Errorf("round %d: span and seam grow to %s pages, want %s", round, got, want)
		}
		must(t, r.Close())
	}
}

// TestRecycleRandom opens and closes regions with a few sequences of parts. Committed pages are zero at first
// and hold the bytes that were written. Uncommitted pages and pages of closed regions fault, except for
// private pages.
func TestRecycleRandom(t *testing.T) {
	backend, p := keeping(t), PageSize()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	layouts := [][]bool{{false, true, false, true, false}, {false, true, false, false, false},
		{true, true, false}}
	limit := NewLimit(1 << 30)
	for range 400 {
		r := open(t, backend, 1<<26, Options{Limit: limit, Recycle: true, Name: "recycled"})
		layout := layouts[rnd.IntN(len(layouts))]
		var parts []*Span
		for _, private := range layout[:1+rnd.IntN(len(layout))] {
			parts = append(parts, carved(t, r, 8+8*len(parts), private))
		}
		contents := make([][]byte, len(parts))
		for range 20 {
			k := rnd.IntN(len(parts))
			s := parts[k]
			n := rnd.IntN(s.Size() + 1)
			if rnd.IntN(4) == 0 {
				must(t, s.DecommitTo(n))
				contents[k] = contents[k][:s.Committed()]
			} else {
				must(t, s.CommitTo(n, 0))
				contents[k] = append(contents[k], make([]byte, s.Committed()-len(contents[k]))...)
			}
			b := unsafe.Slice((*byte)(s.Base()), s.Committed())
			if !slices.Equal(b, contents[k]) {
				t.Fatal("the contents are wrong")
			}
			for i := rnd.IntN(p); i < len(b); i += p {
				b[i]++
				contents[k][i]++
			}
			if off := s.Committed(); off < s.Size() && !layout[k] &&
				!faults(func() { writeAt(s.Base(), off) }) {
				t.Fatalf("page %d is usable, %d are committed", off/p, s.Committed()/p)
			}
		}
		total := 0
		for _, s := range parts {
			total += s.Committed()
		}
		if r.Committed() != total || limit.Used() != total {
			t.Fatalf("%d bytes are committed, the region counts %d, the limit %d", total, r.Committed(),
				limit.Used())
		}
		must(t, r.Close())
		for k, s := range parts {
			if !layout[k] && !faults(func() { writeAt(s.Base(), rnd.IntN(s.Size())) }) {
				t.Fatal("a closed region is usable")
			}
		}
	}
	if limit.Used() != 0 {
		t.Errorf("%d bytes are used", limit.Used())
	}
}

// TestRecycleOtherParts: a region that carves another part than its predecessor gets none of the
// predecessor's pages in this part and in later parts.
func TestRecycleOtherParts(t *testing.T) {
	backend, p := keeping(t), PageSize()
	first := open(t, backend, 1<<30, Options{Recycle: true})
	public, private := carved(t, first, 10, false), carved(t, first, 10, true)
	must(t, public.CommitTo(p, 0))
	must(t, private.CommitTo(p, 0))
	mustBeZero(t, public)
	mustBeZero(t, private)
	must(t, first.Close())
	r := open(t, backend, 1<<30, Options{Recycle: true})
	if r.Base() != first.Base() {
		t.Fatal("the region is not recycled")
	}
	carved(t, r, 10, false)
	if faults(func() { writeAt(private.Base(), 0) }) {
		t.Error("the private page was given back before the region carved a different part")
	}
	carved(t, r, 11, true)
	if !faults(func() { writeAt(private.Base(), 0) }) {
		t.Error("a private page of the closed region is usable")
	}
	must(t, r.Commit(0, r.Size()/2))
	mustBeZero(t, &Span{region: r, base: r.Base(), committed: 100 * p})
	if _, names := smaps(t, r); len(names) > 0 && !strings.Contains(fmt.Sprint(names), t.Name()) {
		t.Errorf("the mappings of the region are called %q", names)
	}
}

// TestNotRecycled: no region reuses the pages of a closed region that has many committed pages, or protected,
// huge or moved pages. A region with another size, name or policy reuses no pages either.
func TestNotRecycled(t *testing.T) {
	backend, p := keeping(t), PageSize()
	const size = 1 << 30
	for what, change := range map[string]func(r *Region){
		"large":     func(r *Region) { must(t, r.Commit(0, maxKeptOfOne+p)) },
		"protected": func(r *Region) { must(t, r.Protect(0, p, ReadOnly)) },
		"huge":      func(r *Region) { r.m.dense.add(0, 1<<21) },
		"moved":     func(r *Region) { must(t, r.MovePages(r, 8*p, 0, p)) },
	} {
		r := open(t, backend, size, Options{Recycle: true, Name: what})
		must(t, r.Commit(0, p))
		fill(r, 0, p)
		change(r)
		before := keptPages.total()
		must(t, r.Close())
		if after := keptPages.total(); after != before {
			t.Errorf("%s: %d bytes are kept", what, after-before)
		}
	}
	r := open(t, backend, size, Options{Recycle: true})
	must(t, r.Commit(0, p))
	fill(r, 0, p)
	must(t, r.Close())
	for i, other := range []Options{{Name: "other"}, {Pages: PagesSmall}, {Pages: PagesHuge}} {
		other.Recycle = true
		if again := open(t, backend, size, other); again.Base() == r.Base() {
			t.Errorf("options %d: the region has the pages of another region", i)
		}
	}
	for _, o := range []Options{{}, {Recycle: true}} {
		if again := open(t, backend, size+p, o); again.Base() == r.Base() {
			t.Error("a larger region has the pages of another region")
		}
	}
	if again := open(t, backend, size, Options{Recycle: true}); again.Base() != r.Base() {
		t.Error("the region is not recycled")
	}
}

func TestKeptIsBounded(t *testing.T) {
	backend, p := keeping(t), PageSize()
	if 60*p > maxKeptOfOne {
		t.Skip("the numbers of this test are for pages of 4 KiB")
	}
	keptPages.flush()
	mappings := mappingsUsed.Load()
	for _, pages := range []int{1, 10, 60} {
		var regions []*Region
		for range 40 {
			r := open(t, backend, 1<<30, Options{Recycle: true})
			must(t, r.Commit(0, pages*p))
			fill(r, 0, pages*p)
			regions = append(regions, r)
		}
		for _, r := range regions {
			must(t, r.Close())
		}
		resident := 0
		for _, r := range regions {
			resident += mincore(t, r, 0, 64*p)
		}
		want := min(maxKeptRegions*pages*p, maxKept/(pages*p)*(pages*p))
		if kept := keptPages.total(); kept != want || resident != want {
			t.Errorf("%d pages: %d bytes are kept, %d are in memory, want %d", pages, kept, resident, want)
		}
	}
	if !keptPages.flush() || keptPages.flush() || keptPages.total() != 0 {
		t.Errorf("%d bytes are kept after flush", keptPages.total())
	}
	if after := mappingsUsed.Load(); after != mappings {
		t.Errorf("%d mappings are counted, %d before", after, mappings)
	}
}

type faultyKeeper struct{ *faulty }

func (faultyKeeper) keeps() bool { return true }

// untilReset is a key of the map faulty.fails. With this key, every commit fails until a reset succeeds.
const untilReset = "commit until reset"

func (f faultyKeeper) commit(p unsafe.Pointer, n int) error {
	if err := f.fails[untilReset]; err != nil {
		return err
	}
	return f.faulty.commit(p, n)
}

func (f faultyKeeper) reset(p unsafe.Pointer, n int) error {
	err := f.faulty.reset(p, n)
	if err == nil {
		delete(f.fails, untilReset)
	}
	return err
}

func (f faultyKeeper) protect(p unsafe.Pointer, n int, a Access) error {
	return f.did(fmt.Sprintf("protect %d", a), p, n)
}

func (f faultyKeeper) decommit(p unsafe.Pointer, n int) (bool, error) {
	clear(bytesOf(p, n))
	return f.faulty.decommit(p, n)
}

// TestRecycleFails: Close resets a region that cannot be kept. A kept region that cannot be reset stays kept.
// A kept page that cannot be committed stays uncommitted.
func TestRecycleFails(t *testing.T) {
	p := PageSize()
	f := faultyKeeper{&faulty{fails: make(map[string]error)}}
	keptPages.flush()
	t.Cleanup(func() {
		clear(f.fails)
		keptPages.flush()
	})
	calls := func(want ...string) {
		t.Helper()
		if !slices.Equal(f.calls, want) {
			t.Errorf("calls %q, want %q", f.calls, want)
		}
		f.calls = nil
	}
	limit := NewLimit(1 << 20)
	fresh := func() *Region {
		t.Helper()
		r, err := reserveOn(f, 16*p, Options{Name: "kept", Recycle: true, Limit: limit}, origin{})
		must(t, err)
		return r
	}
	r := fresh()
	carved(t, r, 4, false)
	carved(t, r, 4, true)
	must(t, r.Commit(0, 2*p))
	must(t, r.Commit(12*p, p))
	f.calls = nil
	f.fails["protect 2"] = errFaulty
	must(t, r.Close())
	advice := fmt.Sprintf("advise %t 0+2", HugeMode() == "always")
	calls(advice, "protect 2 0+2", "reset 0+16")
	if keptPages.total() != 0 {
		t.Error("a region that was reset is kept")
	}

	clear(f.fails)
	r = fresh()
	carved(t, r, 4, false)
	carved(t, r, 4, true)
	must(t, r.Commit(0, 2*p))
	must(t, r.Commit(12*p, p))
	view(r)[0], view(r)[12*p] = 1, 2
	f.calls = nil
	must(t, r.Close())
	calls(advice, "protect 2 0+2")
	f.fails["reset"] = errFaulty
	if keptPages.flush() || keptPages.total() != 3*p {
		t.Errorf("%d bytes are kept after a refusal", keptPages.total())
	}
	clear(f.fails)
	f.calls = nil

	r = fresh()
	carved(t, r, 4, false)
	carved(t, r, 4, true)
	f.fails["commit 0"] = errFaulty
	if err := r.Commit(0, 2*p); !errors.Is(err, errFaulty) || r.Committed() != 0 || limit.Used() != 0 {
		t.Errorf("%v: %d bytes are committed, %d used", err, r.Committed(), limit.Used())
	}
	calls("commit 0+2", "decommit 0+2")
	clear(f.fails)
	must(t, r.Commit(0, 2*p))
	must(t, r.Commit(12*p, p)) // needs no call, because the page is private
	calls("commit 0+2")
	if view(r)[0] != 0 || view(r)[12*p] != 0 {
		t.Error("the pages are not zero")
	}
	must(t, r.Close())

	// The next region carves other parts, but the system refuses the reset of the kept pages.
	r = fresh()
	f.calls = nil
	f.fails["reset"] = errFaulty
	carved(t, r, 4, true)
	calls("reset 0+16")
	must(t, r.Commit(12*p, 1)) // needs a call, because the region does not know which pages are accessible
	calls("commit 12+1")
	clear(f.fails)
	must(t, r.Close())
	calls("reset 0+16")
	if limit.Used() != 0 || keptPages.total() != 0 {
		t.Errorf("%d bytes are used, %d kept", limit.Used(), keptPages.total())
	}
}

// TestKeptMakesRoom: if a commit fails, Commit gives the kept pages back and tries again.
func TestKeptMakesRoom(t *testing.T) {
	p := PageSize()
	f := faultyKeeper{&faulty{fails: make(map[string]error)}}
	keptPages.flush()
	var regions []*Region
	for range 3 {
		r := open(t, f, 16*p, Options{Name: "kept", Recycle: true})
		must(t, r.Commit(0, 2*p))
		regions = append(regions, r)
	}
	for _, r := range regions {
		must(t, r.Close())
	}
	if keptPages.total() != 6*p {
		t.Fatalf("%d bytes are kept", keptPages.total())
	}
	r := open(t, f, 16*p, Options{Name: "other", Recycle: true})
	f.fails[untilReset] = errFaulty
	must(t, r.Commit(0, p))
	if keptPages.total() != 0 || r.Committed() != p {
		t.Errorf("%d bytes are kept, %d committed", keptPages.total(), r.Committed())
	}
	f.fails[untilReset] = errFaulty // no kept pages are left
	if err := r.Commit(p, p); !errors.Is(err, errFaulty) || r.Committed() != p {
		t.Errorf("%v, %d bytes are committed", err, r.Committed())
	}
	clear(f.fails)
	must(t, r.Close())
	keptPages.flush()
}
