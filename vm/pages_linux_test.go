package vm

import (
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// needsScan skips the rest of a test if scanPages cannot scan the region: the kernel lacks PAGEMAP_SCAN,
// /proc is missing, or the pages of the kernel are smaller than the pages of this build.
func needsScan(t *testing.T, r *Region) {
	t.Helper()
	if pageSize != systemPage {
		t.Skipf("the kernel has pages of %d bytes, this build %d", systemPage, pageSize)
	}
	if done := scanPages(r.Base(), r.Size(), func(int, int, PageState) {}); done != r.Size() {
		t.Skipf("the kernel has no PAGEMAP_SCAN: %d of %d bytes", done, r.Size())
	}
}

// TestPagesAgreeWithTheKernel compares Region.Pages and pagesInCore with the kernel's mincore and smaps.
func TestPagesAgreeWithTheKernel(t *testing.T) {
	p := PageSize()
	const pages = 3 * 16 << 10 // several batches
	r := open(t, onlyOS(t), pages*p, Options{Pages: PagesSmall})
	must(t, r.Commit(100*p, (pages-200)*p))
	for i := 100; i < pages-100; i += 1 + i%7 + i%3000 {
		fill(r, i*p, p)
	}
	fill(r, (16<<10-50)*p, 100*p) // across the border of two batches
	compare := func(what string, got []PageState, flags PageState) {
		t.Helper()
		total := 0
		for i, s := range got {
			want := PageState(0)
			if i >= 100 && i < pages-100 {
				want = PageCommitted
				var in [1]byte
				if _, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(r.m.at(i*p)), uintptr(systemPage),
					uintptr(unsafe.Pointer(&in))); errno != 0 {
					t.Fatal(errno)
				}
				if in[0]&1 != 0 {
					want |= PageResident
					total += p
				}
			}
			if s&flags != want&flags {
				t.Fatalf("%s: page %d is %v, want %v", what, i, s, want)
			}
		}
		if sum, _ := smaps(t, r); total != sum["Rss"] || total == 0 {
			t.Errorf("%s: %d bytes are resident, smaps says %d", what, total, sum["Rss"])
		}
	}
	compare("Pages", pagesOf(t, r, 0, r.Size()), PageCommitted|PageResident|PageHuge|PageZero|PageSwapped)
	older := make([]PageState, pages)
	must(t, pagesInCore(r.m.at(100*p), (pages-200)*p, func(off, n int, s PageState) {
		for i := off / p; i < (off+n)/p; i++ {
			older[100+i] = s
		}
	}))
	compare("mincore", older, PageResident)
	needsScan(t, r)
	// A page that was only read is the kernel's page of zeros.
	must(t, r.Discard(200*p, 2*p))
	sink = view(r)[200*p]
	got := pagesOf(t, r, 200*p, 2*p)
	if got[0] != PageCommitted|PageResident|PageZero || got[1] != PageCommitted {
		t.Errorf("a page that was only read is %v, an untouched page %v", got[0], got[1])
	}
}

func TestPagesSayWhichAreHuge(t *testing.T) {
	backend, huge := onlyOS(t), hugeMachine(t)
	r := open(t, backend, 8*huge, Options{})
	needsScan(t, r)
	must(t, r.Huge(2*huge, 3*huge))
	must(t, r.Commit(0, r.Size()))
	fill(r, huge, 6*huge)
	count := 0
	for i, s := range pagesOf(t, r, 0, r.Size()) {
		off := i * PageSize()
		if resident := off >= huge && off < 7*huge; resident != (s&PageResident != 0) || s&PageHuge != 0 &&
			s&PageResident == 0 {
			t.Fatalf("the page at %s is %v", Bytes(off), s)
		}
		if s&PageHuge != 0 {
			count += PageSize()
		}
	}
	if sum, _ := smaps(t, r); count != sum["AnonHugePages"] || count > 3*huge {
		t.Errorf("%s are huge, smaps says %s", Bytes(count), Bytes(sum["AnonHugePages"]))
	}
}

func TestPagesCostNoMemory(t *testing.T) {
	r := open(t, onlyOS(t), 64<<20, Options{})
	must(t, r.Commit(0, r.Size()))
	for range 3 {
		pagesOf(t, r, 0, r.Size())
	}
	resident(t, "after three calls of Pages", r, 0)
}
