package vm

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// smaps reads the mappings that overlap a region from /proc/self/smaps. sum holds the sum of each field in
// bytes, and the number of mappings under the key "mappings". names holds the names of the mappings.
func smaps(tb testing.TB, r *Region) (sum map[string]int, names []string) {
	tb.Helper()
	f, err := os.Open("/proc/self/smaps")
	must(tb, err)
	defer f.Close()
	lo, hi := address(r.Base()), address(r.Base())+r.Size()
	sum = make(map[string]int)
	inside := false
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		line := lines.Text()
		var from, to int
		if n, _ := fmt.Sscanf(line, "%x-%x ", &from, &to); n == 2 {
			inside = from < hi && lo < to
			if inside {
				sum["mappings"]++
				if i := strings.IndexByte(line, '['); i >= 0 {
					names = append(names, line[i:])
				}
			}
		} else if name, rest, ok := strings.Cut(line, ":"); ok && inside {
			if kib, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(rest), " kB")); err == nil {
				sum[name] += kib << 10
			}
		}
	}
	must(tb, lines.Err())
	return sum, names
}

// tellsOfReserved reports whether mincore accepts inaccessible pages, as on Linux. Some kernels in user space
// return ENOMEM instead.
var tellsOfReserved = sync.OnceValue(func() bool {
	p, err := unix.MmapPtr(-1, 0, nil, uintptr(systemPage), unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return true
	}
	defer func() { _ = unix.MunmapPtr(p, uintptr(systemPage)) }()
	var present [1]byte
	return inCore(p, present[:]) == nil
})

// mincore returns how many bytes of a region's range are in memory. It makes its own system calls, one for
// each kernel page, so that it does not depend on the code under test.
func mincore(tb testing.TB, r *Region, off, n int) int {
	tb.Helper()
	count := 0
	for ; n > 0; off, n = off+systemPage, n-systemPage {
		var present [1]byte
		_, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(r.m.at(off)), uintptr(systemPage),
			uintptr(unsafe.Pointer(&present)))
		if errno == unix.ENOMEM && !tellsOfReserved() {
			continue
		}
		if errno != 0 {
			tb.Fatal(errno)
		}
		count += int(present[0]&1) * systemPage
	}
	return count
}

// resident checks that the package, mincore and smaps agree on a region's memory.
func resident(t *testing.T, what string, r *Region, want int) {
	t.Helper()
	got, err := r.Resident()
	must(t, err)
	seen := mincore(t, r, 0, r.Size())
	sum, _ := smaps(t, r)
	if got != want || seen != want || sum["Rss"] != want {
		t.Errorf("%s: Resident says %d, mincore %d, smaps %d; want %d", what, got, seen, sum["Rss"], want)
	}
}

func TestMemoryComesAndGoes(t *testing.T) {
	p := PageSize()
	for _, pages := range []Pages{PagesAuto, PagesSmall} {
		r := open(t, onlyOS(t), 512*p, Options{Pages: pages})
		resident(t, "reserved", r, 0)
		must(t, r.Commit(0, 300*p))
		resident(t, "committed", r, 0)
		fill(r, 10*p, 100*p)
		resident(t, "100 pages touched", r, 100*p)
		must(t, r.Discard(20*p, 50*p))
		resident(t, "50 of them discarded", r, 50*p)
		must(t, r.Decommit(0, 20*p))
		resident(t, "10 more decommitted", r, 40*p)
		if err := r.Populate(0, 300*p); errors.Is(err, errors.ErrUnsupported) {
			fill(r, 20*p, 280*p)
		} else {
			must(t, err)
		}
		resident(t, "populated", r, 280*p)
		must(t, r.Protect(20*p, 280*p, NoAccess))
		if tellsOfReserved() {
			resident(t, "protected", r, 280*p)
		}
		must(t, r.Discard(0, 512*p))
		resident(t, "discarded", r, 0)
		must(t, r.Protect(20*p, 280*p, ReadWrite))
		fill(r, 20*p, 280*p)
		must(t, r.Decommit(0, 512*p))
		resident(t, "decommitted", r, 0)
		must(t, r.Commit(0, 512*p))
		fill(r, 0, 512*p)
		resident(t, "committed and touched", r, 512*p)
		must(t, r.Close())
		if n := mincore(t, r, 0, r.Size()); n != 0 {
			t.Errorf("a closed region has %d bytes in memory", n)
		}
	}
}

// TestLockedPages: Discard and Decommit give locked pages back, although the kernel refuses the usual advice
// for them.
func TestLockedPages(t *testing.T) {
	p := PageSize()
	r := open(t, onlyOS(t), 4*p, Options{})
	must(t, r.Commit(0, 4*p))
	if err := unix.Mlock(bytesAt(r.Base(), 4*p)); err != nil {
		t.Skip("locking memory is not allowed:", err)
	}
	view(r)[0], view(r)[p] = 5, 6
	must(t, r.Discard(0, p))
	if got := view(r)[0]; got != 0 {
		t.Errorf("a discarded page holds %d", got)
	}
	must(t, r.Decommit(p, p))
	if r.Committed() != 3*p || mincore(t, r, p, p) != 0 || !faults(func() { sink = view(r)[p] }) {
		t.Errorf("a decommitted page is still committed, in memory or usable")
	}
	must(t, r.Commit(p, p))
	if got := view(r)[p]; got != 0 {
		t.Errorf("a page committed again holds %d", got)
	}
}

// hugeMachine returns the size of a huge page. It skips the test if the kernel has no huge pages on request,
// or only huge pages above 4 MiB.
func hugeMachine(tb testing.TB) (size int) {
	size = HugePageSize()
	if size == 0 || size > 4<<20 {
		tb.Skipf("huge-page mode %s, size %d", HugeMode(), size)
	}
	return size
}

func TestHugePages(t *testing.T) {
	backend, huge := onlyOS(t), hugeMachine(t)
	count := func(r *Region) int {
		sum, _ := smaps(t, r)
		return sum["AnonHugePages"] / huge
	}
	size := 8 * huge

	r := open(t, backend, size, Options{Name: "huge asked"})
	must(t, r.Huge(huge/2, 4*huge)) // contains three whole huge pages
	must(t, r.Commit(0, size))
	fill(r, 0, size)
	if n := count(r); n != 3 {
		t.Errorf("three huge pages were requested, and there are %d", n)
	}

	r = open(t, backend, size, Options{Name: "huge everywhere", Pages: PagesHuge})
	must(t, r.Commit(0, size))
	fill(r, 0, size)
	if n := count(r); n != 8 {
		t.Errorf("PagesHuge: %d huge pages, want 8", n)
	}

	r = open(t, backend, size, Options{Name: "huge never", Pages: PagesSmall})
	must(t, r.Huge(0, size))
	must(t, r.Commit(0, size))
	fill(r, 0, size)
	must(t, r.Collapse(0, size))
	if n := count(r); n != 0 {
		t.Errorf("PagesSmall: %d huge pages", n)
	}

	r = open(t, backend, size, Options{Name: "huge later"})
	must(t, r.Commit(0, size))
	fill(r, 0, size)
	if n := count(r); n != 0 {
		t.Errorf("PagesAuto without a request: %d huge pages", n)
	}
	collapsed := collapsedByKernel()
	must(t, r.Huge(0, size))
	n := count(r)
	if collapsedByKernel() != collapsed {
		t.Skip("the kernel's khugepaged has made huge pages")
	}
	if n != 0 {
		t.Errorf("Huge itself made %d huge pages, want 0", n)
	}
	must(t, r.Collapse(huge, 2*huge))
	if n := count(r); n != 2 && collapsedByKernel() == collapsed {
		t.Errorf("Collapse of two huge pages made %d (a kernel before 6.1 has no MADV_COLLAPSE)", n)
	}
	for i, b := range view(r) {
		if want := byte(1); i%systemPage == 0 && b != want || i%systemPage != 0 && b != 0 {
			t.Fatalf("byte %d is %d after Collapse", i, b)
		}
	}
}

// collapsedByKernel returns how many huge pages khugepaged has made since the system was started. khugepaged
// makes huge pages in the background.
func collapsedByKernel() string {
	const path = "/sys/kernel/mm/transparent_hugepage/khugepaged/pages_collapsed"
	b, _ := os.ReadFile(path) // a kernel without the file has no khugepaged
	return string(b)
}

func TestSparseRegionStaysSmall(t *testing.T) {
	backend, huge := onlyOS(t), hugeMachine(t)
	r := open(t, backend, 32*huge, Options{})
	must(t, r.Commit(0, r.Size()))
	for i := range 32 {
		fill(r, i*huge+i*PageSize(), PageSize())
	}
	resident(t, "a page in each of 32 huge pages", r, 32*PageSize())
}

func TestMappingsOfSpans(t *testing.T) {
	p := PageSize()
	const spans = 20
	r := open(t, onlyOS(t), spans*1024*p, Options{Pages: PagesSmall})
	for i := range spans {
		s, err := r.Carve(1024*p, 0)
		must(t, err)
		for need := p; need < 512*p; need += 50 * p {
			must(t, s.CommitTo(need, p))
		}
		if sum, _ := smaps(t, r); sum["mappings"] > 2*(i+1) {
			t.Fatalf("%d mappings for %d spans", sum["mappings"], i+1)
		}
		must(t, s.DecommitTo(100*p))
	}
	sum, _ := smaps(t, r)
	if sum["mappings"] != 2*spans {
		t.Errorf("%d mappings for %d spans, want two each", sum["mappings"], spans)
	}
	must(t, r.Decommit(0, r.Size()))
	if sum, _ := smaps(t, r); sum["mappings"] != 1 {
		t.Errorf("%d mappings with nothing committed, want 1", sum["mappings"])
	}
}

func TestNames(t *testing.T) {
	long := strings.Repeat("long ", 40)
	for purpose, want := range map[string]string{
		"ships":           "vast: ships",
		"a[b]\\c$d`e~ !":  "vast: a_b__c_d_e~ !",
		"größe\n\x00\x7f": "vast: gr____e___",
		long:              ("vast: " + long)[:79],
	} {
		if got := printableName("vast: " + purpose); got != want {
			t.Errorf("%q is called %q, want %q", purpose, got, want)
		}
		r := open(t, onlyOS(t), 3*PageSize(), Options{Name: purpose})
		must(t, r.Commit(PageSize(), 1))
		_, names := smaps(t, r)
		if len(names) == 0 {
			continue // a kernel without CONFIG_ANON_VMA_NAME
		}
		for _, name := range names {
			if name != "[anon:"+want+"]" {
				t.Errorf("the mapping of %q is called %q, want %q", purpose, name, want)
			}
		}
		must(t, r.Close())
		if _, names := smaps(t, r); slices.Contains(names, "[anon:"+want+"]") {
			t.Errorf("a closed region is still called %q", names)
		}
	}
}

func TestUsage(t *testing.T) {
	p := PageSize()
	backend := onlyOS(t)
	before := ReadUsage()
	r := open(t, backend, 1<<30, Options{Pages: PagesSmall})
	must(t, r.Commit(0, 256<<20))
	after := ReadUsage()
	if grown := after.Data - before.Data; grown < 256<<20 || grown > 320<<20 {
		t.Errorf("committing 256 MiB changed Data by %s", Bytes(grown))
	}
	if after.AddressSpace <= 0 || after.CommitCharge <= 0 {
		t.Errorf("usage %+v", after)
	}
	for off := 0; off < 200*p; off += 2 * p {
		must(t, r.Decommit(off, p))
	}
	// The holes make 199 more mappings. Go's runtime may change the number of its own mappings at any time.
	if more := ReadUsage().Mappings - after.Mappings; more < 180 || more > 220 {
		t.Errorf("a hundred holes made %d more mappings, want about 199", more)
	}
}
