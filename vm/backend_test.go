package vm

import (
	"errors"
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"github.com/vastgo/vast/internal/modeltest"
)

// osWorks reports whether tests can use the operating system's backend, even if the build's default is the
// heap. The tests keep addresses in an int, for which 32 bits are too few.
var osWorks = (osBackend{}).reuses() && strconv.IntSize == 64

// backends returns the backends of this machine.
func backends() map[string]backend {
	all := map[string]backend{"heap": heapBackend{}}
	if osWorks {
		all["os"] = osBackend{}
	}
	return all
}

func eachBackend(t *testing.T, test func(t *testing.T, backend backend)) {
	for name, backend := range backends() {
		t.Run(name, func(t *testing.T) { test(t, backend) })
	}
}

// onlyOS returns the operating system's backend, or skips the test.
func onlyOS(tb testing.TB) backend {
	if !osWorks {
		tb.Skip("this system has no address space to reserve")
	}
	return osBackend{}
}

// open reserves a region, and closes the region when the test ends. The default of o.Name is the test's name.
func open(tb testing.TB, backend backend, bytes int, o Options) *Region {
	tb.Helper()
	if o.Name == "" {
		o.Name = tb.Name()
	}
	var made origin
	made.record()
	r, err := reserveOn(backend, bytes, o, made)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { must(tb, r.Close()) })
	return r
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// hugeReservations skips the test, which reserves terabytes, if reserved addresses take memory. Emulators
// keep data for each page, and the system kills an emulated process that reserves many addresses.
func hugeReservations(tb testing.TB) {
	tb.Helper()
	inMemory := func() (n int) {
		b, _ := os.ReadFile("/proc/self/statm") // without this file, the result is 0
		_, _ = fmt.Sscan(string(b), new(int), &n)
		return n * systemPage
	}
	before := inMemory()
	bytes := maxHeapRegion // 4 GiB on 64-bit systems
	backend := onlyOS(tb)
	p, err := backend.reserve(bytes, pageSize)
	must(tb, err)
	taken := inMemory() - before
	must(tb, backend.release(p, bytes))
	if taken > bytes/1000 {
		tb.Skipf("reserving %s takes %s of memory here", Bytes(bytes), Bytes(taken))
	}
}

func view(r *Region) []byte { return unsafe.Slice((*byte)(r.Base()), r.Size()) }

// fill writes the first byte of each page of a range.
func fill(r *Region, off, n int) {
	for b := view(r)[off : off+n]; len(b) > 0; b = b[systemPage:] {
		b[0] = 1
	}
}

// populate returns nil if the system does not support Populate.
func populate(r *Region, off, n int) error {
	err := r.Populate(off, n)
	if errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}

func faults(f func()) (faulted bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if v := recover(); v != nil {
			if _, ok := v.(interface{ Addr() uintptr }); !ok {
				panic(v)
			}
			faulted = true
		}
	}()
	f()
	return false
}

// sink keeps reads from being optimized away.
var sink byte

func TestSteps(t *testing.T) {
	p := PageSize()
	type step struct {
		do        string
		off, n    int
		committed string // the pages: '.' Reserved, '0' Committed and zero, or the page's bytes
	}
	steps := []step{
		{"start", 0, 0, "........"},
		{"commit", 2 * p, 2 * p, "..00...."},
		{"fill a", 2 * p, 2 * p, "..aa...."},
		{"commit", 2 * p, 2 * p, "..aa...."},      // committed pages do not change
		{"commit", p + 5, 1, ".0aa...."},          // rounds outward
		{"commit", 5*p - 1, 2, ".0aa00.."},        // rounds outward
		{"commit", 3 * p, 0, ".0aa00.."},          // no bytes
		{"commit", 0, 8 * p, "00aa0000"},          // commits the pages of two gaps
		{"fill b", 0, 8 * p, "bbbbbbbb"},          //
		{"decommit", p + 1, p - 2, "bbbbbbbb"},    // rounds inward: no whole page
		{"decommit", p - 1, 2, "bbbbbbbb"},        // rounds inward: no whole page
		{"decommit", p + 1, 2 * p, "bb.bbbbb"},    // rounds inward: one whole page
		{"discard", p, 3 * p, "b0.0bbbb"},         // discards committed pages; page 2 stays Reserved
		{"discard", 4*p + 1, p - 1, "b0.0bbbb"},   // rounds inward: no whole page
		{"discard", 4*p + 1, 2*p - 1, "b0.0b0bb"}, // rounds inward: one whole page
		{"decommit", 0, 8 * p, "........"},        //
		{"decommit", 0, 8 * p, "........"},        // no page is committed
		{"commit", 0, 8 * p, "00000000"},          // pages that are committed again are zero
		{"fill c", 0, p, "c0000000"},              //
		{"populate", 0, 8 * p, "c0000000"},        // changes no content
		{"huge", 0, 8 * p, "c0000000"},            //
		{"collapse", 0, 8 * p, "c0000000"},        //
		{"read-only", 0, 8 * p, "c0000000"},       //
		{"read-write", 0, 8 * p, "c0000000"},      //
		{"fill d", 7 * p, p, "c000000d"},          //
		{"decommit", 7 * p, p, "c000000."},        // the last page
		{"commit", 8*p - 1, 1, "c0000000"},        //
		{"discard", 8 * p, 0, "c0000000"},         // an empty range may begin at the end of the region
		{"decommit", 0, p, ".0000000"},            // the first page
	}
	eachBackend(t, func(t *testing.T, backend backend) {
		for _, pages := range []Pages{PagesAuto, PagesSmall, PagesHuge} {
			limit := NewLimit(8 * p)
			r := open(t, backend, 8*p-3, Options{Limit: limit, Pages: pages})
			if r.Size() != 8*p {
				t.Fatalf("size %d, want %d: rounded up to pages", r.Size(), 8*p)
			}
			b := view(r)
			for i, s := range steps {
				var err error
				switch do := s.do; do {
				case "start":
				case "commit":
					err = r.Commit(s.off, s.n)
				case "decommit":
					err = r.Decommit(s.off, s.n)
				case "discard":
					err = r.Discard(s.off, s.n)
				case "populate":
					err = populate(r, s.off, s.n)
				case "huge":
					err = r.Huge(s.off, s.n)
				case "collapse":
					err = r.Collapse(s.off, s.n)
				case "read-only":
					err = r.Protect(s.off, s.n, ReadOnly)
				case "read-write":
					err = r.Protect(s.off, s.n, ReadWrite)
				default:
					for k := range b[s.off : s.off+s.n] {
						b[s.off+k] = do[len(do)-1]
					}
				}
				if err != nil {
					t.Fatalf("%v, step %d %s: %v", pages, i, s.do, err)
				}
				committed := 0
				for page, want := range []byte(s.committed) {
					if want == '.' {
						continue
					}
					committed += p
					if want == '0' {
						want = 0
					}
					for k, got := range b[page*p : (page+1)*p] {
						if got != want {
							t.Fatalf("%v, step %d %s: byte %d of page %d is %#x, want %#x", pages, i, s.do, k,
								page, got, want)
						}
					}
				}
				if r.Committed() != committed || limit.Used() != committed {
					t.Fatalf("%v, step %d %s: %d bytes committed, %d counted against the limit, want %d",
						pages, i, s.do, r.Committed(), limit.Used(), committed)
				}
				n, err := r.Resident()
				if err != nil || n > committed {
					t.Fatalf("%v, step %d %s: %d bytes are resident, and %d are committed: %v", pages, i,
						s.do, n, committed, err)
				}
			}
			must(t, r.Close())
			if limit.Used() != 0 || r.Committed() != 0 {
				t.Fatalf("after Close, %d bytes count against the limit, and %d are committed", limit.Used(),
					r.Committed())
			}
		}
	})
}

func TestReserveSizes(t *testing.T) {
	eachBackend(t, func(t *testing.T, backend backend) {
		for _, bytes := range []int{0, -1, -PageSize(), maxReserve + 1, math.MaxInt, math.MinInt} {
			r, err := reserveOn(backend, bytes, Options{Name: "sizes"}, origin{})
			var e *Error
			if r != nil || !errors.Is(err, ErrSize) || !errors.As(err, &e) || e.Bytes != bytes ||
				e.Op != "reserve" {
				t.Errorf("Reserve(%d) gave %v, %v; want ErrSize", bytes, r, err)
			}
		}
		if _, err := reserveOn(backend, maxReserve, Options{}, origin{}); !errors.Is(err, ErrAddressSpace) {
			t.Errorf("Reserve(%d) gave %v, want ErrAddressSpace", maxReserve, err)
		}
		for _, bytes := range []int{1, PageSize(), PageSize() + 1} {
			r := open(t, backend, bytes, Options{})
			if want := roundUp(bytes, PageSize()); r.Size() != want || address(r.Base())%PageSize() != 0 {
				t.Errorf("Reserve(%d): size %d at %p, want %d at a page", bytes, r.Size(), r.Base(), want)
			}
		}
	})
}

func TestReserveAlignsToHugePages(t *testing.T) {
	backend := onlyOS(t)
	huge := HugePageSize()
	if huge == 0 {
		t.Skip("no huge pages")
	}
	for range 8 {
		open(t, backend, PageSize(), Options{}) // moves the next free address off a border of huge pages
		if r := open(t, backend, 3*huge+PageSize(), Options{}); address(r.Base())%huge != 0 {
			t.Errorf("base %p is not a multiple of %d", r.Base(), huge)
		}
	}
}

func TestUseAfterClose(t *testing.T) {
	eachBackend(t, func(t *testing.T, backend backend) {
		r := open(t, backend, 4*PageSize(), Options{Name: "ships"})
		s, err := r.Carve(PageSize(), 0)
		must(t, err)
		must(t, r.Close())
		must(t, r.Close())
		for name, use := range map[string]func(){
			"commit":   func() { _ = r.Commit(0, 1) },
			"decommit": func() { _ = r.Decommit(0, 1) },
			"discard":  func() { _ = r.Discard(0, 1) },
			"protect":  func() { _ = r.Protect(0, 0, ReadOnly) },
			"populate": func() { _ = r.Populate(0, 1) },
			"huge":     func() { _ = r.Huge(0, 1) },
			"collapse": func() { _ = r.Collapse(0, 1) },
			"carve":    func() { _, _ = r.Carve(1, 0) },
		} {
			want := "vm: " + name + " on a closed region (ships): a region must not be used after Close"
			if got := modeltest.PanicText(use); got != want {
				t.Errorf("%s panicked with %q, want %q", name, got, want)
			}
		}
		if got := modeltest.PanicText(func() { _ = s.CommitTo(1, 0) }); !strings.Contains(got,
			"closed region (ships)") {
			t.Errorf("growing a span of a closed region panicked with %q", got)
		}
		if n, err := r.Resident(); n != 0 || err != nil || r.Committed() != 0 {
			t.Errorf("a closed region has %d resident bytes (%v) and %d committed bytes", n, err,
				r.Committed())
		}
	})
}

func TestOffsetsOutside(t *testing.T) {
	const big = math.MaxInt
	eachBackend(t, func(t *testing.T, backend backend) {
		size := 4 * PageSize()
		r := open(t, backend, size, Options{})
		for _, c := range [][2]int{{-1, 1}, {0, -1}, {0, size + 1}, {size, 1}, {size + 1, 0}, {1, size},
			{big, 1}, {1, big}, {big, big},
			{-big - 1, -big - 1}} {
			for name, use := range map[string]func(off, n int) error{
				"commit": r.Commit, "decommit": r.Decommit, "discard": r.Discard, "populate": r.Populate,
				"huge":     r.Huge,
				"collapse": r.Collapse, "protect": func(off,
					n int) error {
					return r.Protect(off, n, ReadOnly)
				},
			} {
				if got := modeltest.PanicText(func() { _ = use(c[0], c[1]) }); !strings.Contains(got,
					"reaches outside a region of") ||
					!strings.Contains(got, name) {
					t.Errorf("%s(%d, %d) panicked with %q", name, c[0], c[1], got)
				}
			}
		}
		if r.Committed() != 0 {
			t.Errorf("%d bytes were committed by calls that panicked", r.Committed())
		}
	})
}

func TestProtectNeedsWholeCommittedPages(t *testing.T) {
	p := PageSize()
	eachBackend(t, func(t *testing.T, backend backend) {
		r := open(t, backend, 8*p, Options{})
		must(t, r.Commit(2*p, 2*p))
		for _, c := range [][2]int{{0, p}, {2 * p, 3 * p}, {p, 2 * p}, {2*p + 1, p}, {2 * p, p - 1}} {
			got := modeltest.PanicText(func() { _ = r.Protect(c[0], c[1], NoAccess) })
			if !strings.Contains(got, "whole committed pages") {
				t.Errorf("Protect(%d, %d) panicked with %q", c[0], c[1], got)
			}
		}
		must(t, r.Protect(2*p, 2*p, ReadWrite))
	})
}

func TestFaults(t *testing.T) {
	p := PageSize()
	r := open(t, onlyOS(t), 8*p, Options{})
	b := view(r)
	read := func(page int) bool { return faults(func() { sink = b[page*p] }) }
	write := func(page int) bool { return faults(func() { b[page*p] = 7 }) }
	expect := func(what string, page int, readFaults, writeFaults bool) {
		t.Helper()
		if read(page) != readFaults || write(page) != writeFaults {
			t.Errorf("%s page: reading faults: %v, want %v; writing faults: %v, want %v", what, read(page),
				readFaults, write(page), writeFaults)
		}
	}
	expect("a reserved", 0, true, true)
	must(t, r.Commit(0, 4*p))
	expect("a committed", 0, false, false)
	expect("the next", 4, true, true)
	must(t, r.Protect(p, p, ReadOnly))
	expect("a ReadOnly", 1, false, true)
	must(t, r.Protect(p, p, NoAccess))
	expect("a NoAccess", 1, true, true)
	expect("the page before a NoAccess", 0, false, false)
	expect("the page after a NoAccess", 2, false, false)
	if err := r.Populate(p, p); err == nil {
		t.Error("populating a NoAccess page gave no error")
	}
	must(t, r.Protect(p, p, ReadWrite))
	expect("a ReadWrite", 1, false, false)
	must(t, r.Protect(2*p, p, NoAccess))
	must(t, r.Decommit(2*p, p))
	expect("a decommitted", 2, true, true)
	must(t, r.Commit(2*p, p))
	expect("a formerly NoAccess", 2, false, false)
	must(t, r.Discard(0, 4*p))
	expect("a discarded", 0, false, false)
	must(t, r.Close())
	expect("a closed region's", 0, true, true)
}
