package written_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/vastgo/vast/internal/childtest"
	"github.com/vastgo/vast/internal/longtest"
	"github.com/vastgo/vast/internal/seccomptest"
	"github.com/vastgo/vast/internal/written"
	"github.com/vastgo/vast/vm"
	"golang.org/x/sys/unix"
)

const block = 2 << 20

var page = os.Getpagesize() // size of a page that the kernel protects; package vm may use larger pages

func begin(tb testing.TB) *written.Watch {
	tb.Helper()
	w, err := written.New()
	if err != nil {
		if !errors.Is(err, errors.ErrUnsupported) {
			tb.Fatal(err)
		}
		tb.Skip(err)
	}
	tb.Cleanup(func() { must(tb, w.Close()) })
	return w
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

func reserve(tb testing.TB, bytes int, o vm.Options) *vm.Region {
	tb.Helper()
	o.Name = tb.Name()
	r, err := vm.Reserve(bytes, o)
	must(tb, err)
	tb.Cleanup(func() { must(tb, r.Close()) })
	return r
}

func view(r *vm.Region) []byte { return unsafe.Slice((*byte)(r.Base()), r.Size()) }

// changed calls Watch.Changed for n bytes at an offset in a region. It returns the numbers of the reported
// pages.
func changed(tb testing.TB, w *written.Watch, r *vm.Region, off, n int) (numbers []int, known bool) {
	tb.Helper()
	runs, known := w.Changed(unsafe.Add(r.Base(), off), n, nil)
	if !known && len(runs) > 0 {
		tb.Fatalf("Changed returns false and the runs %v, want no runs", runs)
	}
	last := -1
	for _, run := range runs {
		if run.Offset <= last || run.Bytes <= 0 || run.Offset+run.Bytes > n {
			tb.Fatalf("run %v of %v is empty, out of order or outside the %d bytes", run, runs, n)
		}
		last = run.Offset + run.Bytes
		for i := (off + run.Offset) / page; i*page < off+last; i++ {
			numbers = append(numbers, i)
		}
	}
	return numbers, known
}

// protectedRegion returns a region of small pages. Its first n bytes are committed, written and
// protected.
func protectedRegion(t *testing.T, w *written.Watch, n int) *vm.Region {
	t.Helper()
	r := reserve(t, max(n, 2*block), vm.Options{Pages: vm.PagesSmall})
	must(t, r.Commit(0, n))
	for i := 0; i < n; i += page {
		view(r)[i] = 1
	}
	changed(t, w, r, 0, n)
	w.Try(n/block + 2)
	w.Scan()
	w.Keep()
	for i := 0; i < n; i += page {
		if !w.Protected(uintptr(r.Base()) + uintptr(i)) {
			t.Fatalf("page %d is not protected", i/page)
		}
	}
	return r
}

// wants ends an interval and compares the pages that Changed reports with want.
func wants(t *testing.T, what string, w *written.Watch, r *vm.Region, bytes int, want ...int) {
	t.Helper()
	w.Scan()
	got, known := changed(t, w, r, 0, bytes)
	w.Keep()
	if !known || len(got) != len(want) {
		t.Fatalf("%s: pages %v (known: %v), want %v", what, got, known, want)
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("%s: pages %v, want %v", what, got, want)
		}
	}
}

func TestWrites(t *testing.T) {
	w := begin(t)
	const bytes = 2 * block
	r := protectedRegion(t, w, bytes)
	b := view(r)
	wants(t, "nothing", w, r, bytes)
	b[5*page] = 1 // the page holds this value already
	b[7*page-1] = 9
	wants(t, "two writes", w, r, bytes, 5, 6)
	wants(t, "nothing more", w, r, bytes)
	if b[5*page] != 1 || b[7*page-1] != 9 {
		t.Error("a write is lost")
	}

	// Without Keep, the pages of two intervals are reported.
	b[0] = 2
	w.Scan()
	b[page] = 2
	w.Scan()
	wants(t, "without Keep", w, r, bytes, 0, 1)

	// The kernel writes into the region.
	from, to, err := os.Pipe()
	must(t, err)
	_, err = to.Write(make([]byte, 2*page))
	must(t, errors.Join(err, to.Close()))
	n, err := from.Read(b[9*page+100 : 11*page])
	if must(t, errors.Join(err, from.Close())); n != 2*page-100 {
		t.Fatalf("%d bytes are read, want %d", n, 2*page-100)
	}
	wants(t, "read", w, r, bytes, 9, 10)

	// Changed is called for a part of the region.
	b[3*page], b[4*page], b[5*page] = 3, 3, 3
	w.Scan()
	runs, known := w.Changed(unsafe.Add(r.Base(), 3*page+10), page+10, nil)
	if want := (written.Run{0, page + 10}); !known || len(runs) != 1 || runs[0] != want {
		t.Errorf("a part: %v, want %v", runs, want)
	}
	w.Keep()

	childtest.Needed(t)
	b[2*page] = 3
	must(t, exec.Command(os.Args[0], "-test.run=^$").Run())
	b[8*page] = 3
	wants(t, "a child process", w, r, bytes, 2, 8)
}

// TestAltered: pages whose contents change by other means than writing are reported.
func TestAltered(t *testing.T) {
	w := begin(t)
	p := vm.PageSize()
	const bytes = block
	r := protectedRegion(t, w, bytes)
	all := func(vmPages ...int) (numbers []int) { // numbers of the system's pages, which may be smaller
		for _, i := range vmPages {
			for k := range p / page {
				numbers = append(numbers, i*p/page+k)
			}
		}
		return numbers
	}
	must(t, r.Discard(p, 2*p))
	wants(t, "discard", w, r, bytes, all(1, 2)...)
	view(r)[2*p] = 1
	wants(t, "a write to a discarded page", w, r, bytes, 2*p/page)

	must(t, r.Decommit(3*p, p))
	must(t, r.Commit(3*p, p))
	wants(t, "decommitted and committed", w, r, bytes, all(3)...)
	view(r)[3*p] = 1
	wants(t, "a write to a committed page", w, r, bytes, 3*p/page)

	must(t, r.MovePages(r, bytes, 4*p, 2*p))
	must(t, r.MovePages(r, 4*p, bytes, 2*p))
	wants(t, "moved and moved back", w, r, bytes, all(4, 5)...)
	view(r)[5*p] = 1
	wants(t, "a write to a moved page", w, r, bytes, 5*p/page)
	wants(t, "nothing more", w, r, bytes)

	must(t, r.Discard(0, bytes)) // also frees the page tables
	w.Scan()
	if got, _ := changed(t, w, r, 0, bytes); len(got) != bytes/page {
		t.Errorf("%d of %d discarded pages are reported", len(got), bytes/page)
	}
}

// TestClosedRegions: a new region at the addresses of a closed region is reported as written.
func TestClosedRegions(t *testing.T) {
	w := begin(t)
	for _, recycle := range []bool{false, true} {
		var base unsafe.Pointer
		for i := range 3 {
			r, err := vm.Reserve(4*block, vm.Options{Name: t.Name(), Pages: vm.PagesSmall, Recycle: recycle})
			must(t, err)
			same := r.Base() == base
			base = r.Base()
			must(t, r.Commit(0, vm.PageSize()))
			view(r)[0] = byte(i)
			if runs, _ := w.Changed(base, 1, nil); len(runs) != 1 {
				t.Errorf("a new region (recycled: %v, the same addresses: %v) has the runs %v, want one",
					recycle, same, runs)
			}
			w.Try(8)
			w.Scan()
			w.Keep()
			w.Scan()
			if runs, _ := w.Changed(base, 1, nil); len(runs) != 0 || !w.Protected(uintptr(base)) {
				t.Errorf("nothing was written (recycled: %v, the same addresses: %v): runs %v, protected: %v",
					recycle, same, runs, w.Protected(uintptr(base)))
			}
			must(t, r.Close())
		}
		if _, known := w.Changed(base, 1, nil); known {
			t.Error("Changed returns true for a closed region")
		}
	}
	w.Scan()
	if protected, loose := w.Blocks(); protected+loose != 0 {
		t.Errorf("%d blocks of closed regions still count", protected+loose)
	}
}

// TestNotWatchable: Changed returns false for memory that cannot be watched.
func TestNotWatchable(t *testing.T) {
	w := begin(t)
	array := new([100]byte)
	if _, known := w.Changed(unsafe.Pointer(array), 100, nil); known {
		t.Error("Changed returns true for Go heap memory")
	}
	heap := reserve(t, block, vm.Options{Pages: vm.PagesHeap})
	if _, known := w.Changed(heap.Base(), 100, nil); known {
		t.Error("Changed returns true for a region that is Go heap memory")
	}
	mirror, err := vm.ReserveMirror(block, vm.Options{Name: t.Name()})
	must(t, err)
	if _, known := w.Changed(mirror.Base(), 100, nil); known && mirror.Refused() == nil {
		t.Error("Changed returns true for a mirror")
	}
	must(t, mirror.Close())

	// Two watches of a process can watch different regions, but not the same region.
	r := protectedRegion(t, w, block)
	other := begin(t)
	if _, known := other.Changed(r.Base(), 100, nil); known {
		t.Error("two watches watch one region")
	}
	must(t, other.Close())
	view(r)[0] = 1
	wants(t, "after the end of another watch", w, r, block, 0)
	if _, known := w.Changed(r.Base(), r.Size()+1, nil); known {
		t.Error("Changed returns true for bytes beyond a region")
	}
	if runs, known := w.Changed(r.Base(), 0, nil); !known || len(runs) != 0 {
		t.Errorf("an empty range has the runs %v, known: %v", runs, known)
	}
	must(t, w.Close())
	if _, known := w.Changed(r.Base(), 100, nil); known {
		t.Error("Changed returns true after Close")
	}
	again := begin(t)
	if _, known := again.Changed(r.Base(), 100, nil); !known {
		t.Error("a region cannot be watched again after its watch was closed")
	}
}

// TestHugePages: after one write to a huge page, one small page is reported.
func TestHugePages(t *testing.T) {
	w := begin(t)
	if vm.HugePageSize() != block || vm.HugeMode() == "never" {
		t.Skipf("huge pages have %d bytes, mode %s", vm.HugePageSize(), vm.HugeMode())
	}
	r := reserve(t, 4*block, vm.Options{Pages: vm.PagesHuge})
	must(t, r.Commit(0, 4*block))
	b := view(r)
	for i := 0; i < len(b); i += page {
		b[i] = 1
	}
	if n, err := r.Pages(0, 4*block, nil); err != nil || len(n) != 1 || n[0].State&vm.PageHuge == 0 {
		t.Skipf("no huge pages are free: %v, %v", n, err)
	}
	changed(t, w, r, 0, len(b))
	w.Try(4)
	w.Scan()
	w.Keep()
	wants(t, "nothing", w, r, len(b))
	if n, _ := r.Pages(0, 4*block, nil); len(n) != 1 || n[0].State&vm.PageHuge == 0 {
		t.Errorf("the scan split huge pages: %v", n)
	}
	b[block+7*page] = 2
	wants(t, "a write", w, r, len(b), (block+7*page)/page)
	must(t, r.Collapse(0, len(b)))
	b[block+8*page] = 2
	w.Scan()
	if got, _ := changed(t, w, r, block+8*page, page); len(got) != 1 {
		t.Error("a write to a collapsed page is not reported")
	}
	must(t, r.Discard(2*block, block))
	w.Keep()
	w.Scan()
	if got, _ := changed(t, w, r, 2*block, block); len(got) != block/page {
		t.Errorf("%d of %d pages of a discarded huge page are reported", len(got), block/page)
	}
}

// model is the expected state of a region.
type model struct {
	r         *vm.Region
	exact     bool   // whether the kernel reports written pages only
	committed []bool // for each page of the system
	dirty     []bool // for each page: written since the kept scan (see Watch.Keep), and must be reported
	maybe     []bool // for each page: may be reported
	value     []byte // first byte of each page
}

func (m *model) each(off, n int, f func(i int)) {
	for i := off / page; i < (off+n)/page; i++ {
		f(i)
	}
}

// TestModel compares the reported pages with the written pages.
func TestModel(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for i := range longtest.Pick(4, 200) {
		runModel(t, rand.New(rand.NewPCG(seed, uint64(i))))
	}
}

func runModel(t *testing.T, rng *rand.Rand) {
	w := begin(t)
	defer func() { must(t, w.Close()) }()
	p := vm.PageSize()
	const size = 4 * block
	make1 := func(i int) *model {
		o := vm.Options{Name: t.Name(), Pages: []vm.Pages{vm.PagesSmall, vm.PagesHuge, vm.PagesAuto}[i%3]}
		r, err := vm.Reserve(size, o)
		must(t, err)
		if o.Pages == vm.PagesAuto {
			must(t, r.Huge(0, 2*block))
		}
		n := size / page
		return &model{r, o.Pages == vm.PagesSmall, make([]bool, n), make([]bool, n), make([]bool, n),
			make([]byte, n)}
	}
	var all []*model
	for i := range 3 {
		all = append(all, make1(i))
	}
	defer func() {
		for _, m := range all {
			must(t, m.r.Close())
		}
	}()
	kept, reported, clean := false, 0, 0
	for range 400 {
		i := rng.IntN(len(all))
		m := all[i]
		off := rng.IntN(size/p) * p
		n := min(size-off, (1+rng.IntN(1<<rng.IntN(10)))*p)
		altered := func(m *model, off, n int, committed, moved bool) {
			m.each(off, n, func(i int) {
				m.committed[i], m.dirty[i], m.maybe[i] = committed, true, true
				if !moved {
					m.value[i] = 0
				}
			})
		}
		switch rng.IntN(20) {
		case 0, 1, 2:
			must(t, m.r.Commit(off, n))
			m.each(off, n, func(i int) {
				if !m.committed[i] {
					altered(m, i*page, page, true, false)
				}
			})
		case 3:
			must(t, m.r.Decommit(off, n))
			altered(m, off, n, false, false)
		case 4:
			must(t, m.r.Discard(off, n))
			m.each(off, n, func(i int) {
				if m.committed[i] {
					altered(m, i*page, page, true, false)
				}
			})
		case 5: // move committed pages to uncommitted pages
			to := all[rng.IntN(len(all))]
			toOff := rng.IntN(size/p) * p
			n = min(n, size-toOff)
			fits := to != m || off+n <= toOff || toOff+n <= off
			m.each(off, n, func(i int) { fits = fits && m.committed[i] })
			to.each(toOff, n, func(i int) { fits = fits && !to.committed[i] })
			if !fits {
				continue
			}
			must(t, m.r.MovePages(to.r, toOff, off, n))
			for k := range n / page {
				to.value[toOff/page+k] = m.value[off/page+k]
			}
			altered(m, off, n, false, false)
			altered(to, toOff, n, true, true)
		case 6:
			if m.r.Collapse(off, n) != nil {
				t.Fatal("Collapse fails")
			}
		case 7:
			if rng.IntN(4) > 0 {
				continue
			}
			must(t, m.r.Close())
			*m = *make1(i)
			m.each(0, size, func(i int) { m.dirty[i], m.maybe[i] = true, true })
		case 8, 9, 10, 11:
			w.Try(1 + rng.IntN(12))
			wasProtected := make(map[*model][]bool)
			for _, m := range all {
				for b := range size / block {
					protected := w.Protected(uintptr(m.r.Base()) + uintptr(b*block))
					wasProtected[m] = append(wasProtected[m], protected)
				}
			}
			w.Scan()
			for _, m := range all {
				got := make([]bool, size/page)
				for lo := 0; lo < size/page; {
					if !m.committed[lo] {
						lo++
						continue
					}
					hi := lo
					for hi < size/page && m.committed[hi] {
						hi++
					}
					numbers, known := changed(t, w, m.r, lo*page, (hi-lo)*page)
					if !known {
						t.Fatal("Changed returns false for committed pages")
					}
					for _, i := range numbers {
						got[i] = true
					}
					lo = hi
				}
				for i := range got {
					exact := m.exact && wasProtected[m][i*page/block] &&
						w.Protected(uintptr(m.r.Base())+uintptr(i*page))
					if !exact {
						m.maybe[i] = true
					}
					if !m.committed[i] {
						continue
					}
					if m.dirty[i] && !got[i] {
						t.Fatalf("page %d of %v: written and not reported (exact: %v)", i, m.r.Base(), exact)
					}
					if got[i] && !m.maybe[i] {
						t.Fatalf("page %d of %v: reported and not written", i, m.r.Base())
					}
					if exact {
						if got[i] {
							reported++
						} else {
							clean++
						}
					}
				}
			}
			if kept = rng.IntN(4) > 0; kept {
				w.Keep()
				for _, m := range all {
					clear(m.dirty)
					clear(m.maybe)
				}
			}
		default:
			for range 1 + rng.IntN(1<<rng.IntN(9)) {
				i := rng.IntN(size / page)
				if rng.IntN(2) == 0 {
					i = off/page + rng.IntN(n/page)
				}
				if m.committed[i] {
					m.value[i] = byte(rng.Uint32())
					view(m.r)[i*page] = m.value[i]
					m.dirty[i], m.maybe[i] = true, true
				}
			}
		}
	}
	for _, m := range all {
		for i, committed := range m.committed {
			if got := byte(0); committed {
				if got = view(m.r)[i*page]; got != m.value[i] {
					t.Fatalf("page %d of %v holds %d, want %d", i, m.r.Base(), got, m.value[i])
				}
			}
		}
	}
	if clean == 0 || reported == 0 {
		t.Errorf("pages of protected blocks: %d reported, %d not reported, want more than 0", reported, clean)
	}
}

// TestRefused: if the kernel or a sandbox refuses a call, the error of New names the call and the reason.
func TestRefused(t *testing.T) {
	if vm.HeapStandIn() {
		t.Skip("regions are Go heap memory")
	}
	for name, c := range map[string]struct {
		rule seccomptest.Rule
		text string
	}{
		"userfaultfd": {seccomptest.Rule{Call: unix.SYS_USERFAULTFD, Errno: unix.EPERM},
			"userfaultfd: operation not permitted (seccomp?)"},
		"no userfaultfd": {seccomptest.Rule{Call: unix.SYS_USERFAULTFD, Errno: unix.ENOSYS},
			"userfaultfd: function not implemented (Linux 6.7 or later is needed)"},
		"an old userfaultfd": {seccomptest.Rule{Call: unix.SYS_IOCTL, Argument: 2, Value: 0xC018AA3F,
			Errno: unix.EINVAL}, "UFFDIO_API: invalid argument (Linux 6.7 or later is needed)"},
		"no PAGEMAP_SCAN": {seccomptest.Rule{Call: unix.SYS_IOCTL, Argument: 2, Value: 0xC0606610,
			Errno: unix.ENOTTY}, "PAGEMAP_SCAN: inappropriate ioctl for device"},
		"no files": {seccomptest.Rule{Call: unix.SYS_USERFAULTFD, Errno: unix.EMFILE}, "raise RLIMIT_NOFILE"},
	} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			seccomptest.Child(t, func(t *testing.T) {
				w, err := written.New()
				if w != nil || err == nil || !strings.Contains(err.Error(), c.text) {
					t.Errorf("%v, want %q", err, c.text)
				}
				if errors.Is(err, errors.ErrUnsupported) == (c.rule.Errno == unix.EMFILE) {
					t.Errorf("the error %v wraps ErrUnsupported: %v", err, c.rule.Errno == unix.EMFILE)
				}
				if got := written.Supported(); got == nil || got.Error() != err.Error() {
					t.Errorf("Supported: %v, want %v", got, err)
				}
			}, c.rule)
		})
	}
}

// TestRefusedLater: if the kernel refuses later calls, all pages count as written.
func TestRefusedLater(t *testing.T) {
	if vm.HeapStandIn() {
		t.Skip("regions are Go heap memory")
	}
	seccomptest.Child(t, func(t *testing.T) {
		w := begin(t)
		r := protectedRegion(t, w, block)
		wants(t, "nothing", w, r, block)
		if err := seccomptest.Refuse(seccomptest.Rule{Call: unix.SYS_IOCTL, Argument: 2, Value: 0xC0606610,
			Errno: unix.EPERM}); err != nil {
			t.Skip(err)
		}
		for range 3 {
			w.Scan()
			w.Keep()
			if got, known := changed(t, w, r, 0, block); !known || len(got) != block/page {
				t.Errorf("Changed returns %v and %d pages, want true and all %d", known, len(got), block/page)
			}
		}
		if _, loose := w.Blocks(); loose != 1 {
			t.Errorf("%d loose blocks, want 1", loose)
		}
	})
}

func TestScanAllocatesNothing(t *testing.T) {
	w := begin(t)
	r := protectedRegion(t, w, 8*block)
	var runs []written.Run
	n := 0
	interval := func() {
		for i := n; i < 8*block; i += 37 * page {
			view(r)[i] = 1
		}
		n += page
		w.Scan()
		runs, _ = w.Changed(r.Base(), 8*block, runs[:0])
		w.Keep()
	}
	for range 40 {
		interval()
	}
	if a := testing.AllocsPerRun(100, interval); a != 0 {
		t.Errorf("an interval makes %v allocations", a)
	}
}

// TestConcurrentRegions reserves, changes and closes regions while the watch scans.
func TestConcurrentRegions(t *testing.T) {
	w := begin(t)
	p := vm.PageSize()
	regions := make([]*vm.Region, 3)
	bases := make(chan unsafe.Pointer, 64)
	var group sync.WaitGroup
	for i := range regions {
		group.Go(func() {
			r := rand.New(rand.NewPCG(7, uint64(i)))
			for range longtest.Pick(60, 2000) {
				if regions[i] != nil {
					if err := regions[i].Close(); err != nil {
						t.Error(err)
					}
				}
				o := vm.Options{Name: t.Name(), Pages: vm.PagesSmall, Recycle: i == 0}
				one, err := vm.Reserve(128*p, o)
				if err != nil {
					t.Error(err)
					return
				}
				regions[i] = one
				for range 20 {
					off, n := r.IntN(64)*p, (1+r.IntN(20))*p
					if err := errors.Join(one.Commit(off, n), one.Commit(0, p)); err != nil {
						t.Error(err)
					}
					view(one)[off] = 1
					bases <- one.Base()
					if off > 0 && r.IntN(2) == 0 {
						if err := errors.Join(one.Discard(off, n), one.Decommit(off, n)); err != nil {
							t.Error(err)
						}
					}
				}
			}
		})
	}
	go func() {
		group.Wait()
		close(bases)
	}()
	var runs []written.Run
	for base := range bases {
		runs, _ = w.Changed(base, p, runs[:0])
		w.Try(6)
		w.Scan()
		w.Keep()
	}
	for _, r := range regions {
		changed(t, w, r, 0, p)
	}
	for range 3 {
		w.Try(6)
		w.Scan()
		w.Keep()
	}
	for i, r := range regions {
		if !w.Protected(uintptr(r.Base())) {
			t.Errorf("region %d is not protected", i)
		}
		wants(t, "nothing", w, r, p)
		view(r)[0] = 2
		w.Scan()
		if got, _ := changed(t, w, r, 0, p); len(got) == 0 {
			t.Errorf("region %d: a write is not reported", i)
		}
		w.Keep()
		must(t, r.Close())
	}
}

// TestDescriptors: all watches of a process share two file descriptors. The last watch closes them.
func TestDescriptors(t *testing.T) {
	open := func() (n int) {
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skip(err)
		}
		for _, e := range entries {
			if to, _ := os.Readlink("/proc/self/fd/" + e.Name()); strings.Contains(to, "userfaultfd") ||
				strings.HasSuffix(to, "/pagemap") {
				n++
			}
		}
		return n
	}
	first, second := begin(t), begin(t)
	for i, want := range []int{2, 2, 0} {
		if n := open(); n != want {
			t.Errorf("%d descriptors are open, want %d", n, want)
		}
		must(t, []*written.Watch{first, second, second}[i].Close())
	}
}

// TestDroppedWatch: after a watch becomes garbage without Close, writes to its region still work.
func TestDroppedWatch(t *testing.T) {
	if vm.HeapStandIn() {
		t.Skip("regions are Go heap memory")
	}
	seccomptest.Child(t, func(t *testing.T) {
		w, err := written.New()
		if err != nil {
			t.Skip(err)
		}
		r := reserve(t, block, vm.Options{})
		must(t, r.Commit(0, block))
		w.Changed(r.Base(), block, nil)
		w.Scan()
		w = nil
		for range 3 {
			runtime.GC()
			time.Sleep(time.Millisecond)
		}
		view(r)[0] = 1
	})
}
