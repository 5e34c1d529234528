package vm

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/vastgo/vast/internal/fault"
	"github.com/vastgo/vast/internal/mapped"
)

// fileOfPages returns a file of n pages. Each byte of page i is i+1.
func fileOfPages(t *testing.T, n int) *os.File {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "pages"))
	must(t, err)
	t.Cleanup(func() { must(t, f.Close()) })
	for i := range n {
		_, err := f.Write(bytes.Repeat([]byte{byte(i + 1)}, pageSize))
		must(t, err)
	}
	return f
}

// mapPages maps n pages of f, from page filePage on, over pages of r, from page regionPage on.
func mapPages(t *testing.T, r *Region, regionPage, n int, f *os.File, filePage int) {
	t.Helper()
	r.m.mu.Lock()
	defer r.m.mu.Unlock()
	done, err := r.m.mapFile(regionPage*pageSize, n*pageSize, f.Fd(), int64(filePage*pageSize))
	must(t, err)
	if !done {
		t.Fatal("the file cannot be mapped")
	}
}

// mustBe checks the first and the last byte of pages of a region. want[i] is the byte of page first+i.
func mustBe(t *testing.T, what string, r *Region, first int, want ...byte) {
	t.Helper()
	for i, w := range want {
		page := view(r)[(first+i)*pageSize : (first+i+1)*pageSize]
		if page[0] != w || page[pageSize-1] != w {
			t.Errorf("%s: page %d holds %d and %d, want %d", what, first+i, page[0], page[pageSize-1], w)
		}
	}
}

func TestPagesOfFiles(t *testing.T) {
	f := fileOfPages(t, 8)
	before, err := os.ReadFile(f.Name())
	must(t, err)
	for _, backend := range []backend{onlyOS(t), injected{onlyOS(t)}} {
		r := open(t, backend, 64*pageSize, Options{Limit: NewLimit(64 * pageSize)})
		must(t, r.Commit(0, 16*pageSize))
		fill(r, 0, 16*pageSize)
		mapPages(t, r, 2, 6, f, 1)
		mustBe(t, "mapped", r, 2, 2, 3, 4, 5, 6, 7)
		if b := view(r); b[pageSize] != 1 || b[8*pageSize] != 1 || r.Committed() != 16*pageSize {
			t.Error("pages beside the file have changed")
		}
		stamp(r, 2*pageSize, pageSize, 99)
		mustBe(t, "written", r, 2, 99, 3)

		must(t, r.Discard(2*pageSize, 2*pageSize))
		mustBe(t, "discarded", r, 2, 0, 0, 4)
		must(t, r.Decommit(4*pageSize, pageSize))
		must(t, r.Commit(4*pageSize, pageSize))
		mustBe(t, "decommitted", r, 4, 0, 5)
		must(t, r.Discard(0, 16*pageSize)) // the range also has anonymous pages
		mustBe(t, "discarded", r, 1, 0, 0, 0, 0, 0, 0, 0, 0)
		if len(r.m.moved) != 0 || r.m.files.bytes != 0 {
			t.Errorf("moved pieces %v and pages of files %v, want none", r.m.moved, r.m.files)
		}
		if r.Committed() != 16*pageSize {
			t.Errorf("%d bytes are committed", r.Committed())
		}
	}
	after, err := os.ReadFile(f.Name())
	must(t, err)
	if !bytes.Equal(before, after) {
		t.Error("the file has changed")
	}
}

func TestPagesOfFilesMove(t *testing.T) {
	f := fileOfPages(t, 8)
	r, to := open(t, onlyOS(t), 64*pageSize, Options{}), open(t, onlyOS(t), 64*pageSize, Options{})
	must(t, r.Commit(0, 12*pageSize))
	mapPages(t, r, 2, 8, f, 0)
	stamp(r, 0, 2*pageSize, 50)
	stamp(r, 5*pageSize, pageSize, 55)
	must(t, r.MovePages(to, 20*pageSize, 0, 12*pageSize))
	mustBe(t, "moved", to, 20, 50, 51, 1, 2, 3, 55, 5, 6, 7, 8, 0, 0)
	must(t, r.Commit(0, 12*pageSize))
	mustBe(t, "the old place", r, 0, make([]byte, 12)...)
	must(t, to.Discard(20*pageSize, 12*pageSize))
	mustBe(t, "discarded", to, 20, make([]byte, 12)...)
	if r.m.files.bytes+to.m.files.bytes != 0 {
		t.Errorf("pages of files %v and %v, want none", r.m.files, to.m.files)
	}
}

func TestPagesOfFilesGoWithTheirRegion(t *testing.T) {
	f := fileOfPages(t, 8)
	for _, recycle := range []bool{false, true} {
		r := open(t, onlyOS(t), 16*pageSize, Options{Recycle: recycle, Name: "goes"})
		must(t, r.Commit(0, 16*pageSize))
		mapPages(t, r, 0, 8, f, 0)
		base := r.Base()
		must(t, r.Close())
		found := false
		for i := 0; i < 1000 && !found; i++ { // a new region may get the addresses of another closed region
			next := open(t, onlyOS(t), 16*pageSize, Options{Recycle: recycle, Name: "goes"})
			must(t, next.Commit(0, 16*pageSize))
			mustBe(t, "a later region", next, 0, make([]byte, 16)...)
			found = next.Base() == base
		}
		if !found {
			t.Error("no later region has the same addresses: the test shows nothing")
		}
	}
}

func TestPagesOfFilesAreCounted(t *testing.T) {
	f := fileOfPages(t, 60)
	r := open(t, onlyOS(t), 64*pageSize, Options{})
	must(t, r.Commit(0, 64*pageSize))
	for i := range 20 {
		mapPages(t, r, 2+3*i, 2, f, 3*i+i%2)
	}
	sum, _ := smaps(t, r)
	if counted := r.m.mappings; counted < sum["mappings"] || counted > sum["mappings"]+2 || counted < 40 {
		t.Errorf("%d mappings are counted, the kernel shows %d", counted, sum["mappings"])
	}
	mapPages(t, r, 2, 59, f, 1) // replaces all mappings of the loop
	mustBe(t, "mapped again", r, 2, 2, 3, 4, 5)
	sum, _ = smaps(t, r)
	if counted := r.m.mappings; counted != 3 || sum["mappings"] != 3 {
		t.Errorf("%d mappings are counted, the kernel shows %d", counted, sum["mappings"])
	}
	must(t, r.Decommit(0, 64*pageSize))
	if r.m.mappings != 1 || r.m.borders != 0 {
		t.Errorf("%d mappings and %d borders are counted", r.m.mappings, r.m.borders)
	}
}

func TestRefusedFiles(t *testing.T) {
	f := fileOfPages(t, 8)
	backend := injected{onlyOS(t)}
	r := open(t, backend, 16*pageSize, Options{})
	must(t, r.Commit(0, 8*pageSize))
	fill(r, 0, 8*pageSize)
	try := func(what string, want bool, file uintptr) {
		t.Helper()
		done, err := files{}.Map(uintptr(r.Base()), 4*pageSize, file, 0)
		if done != want || err != nil {
			t.Errorf("%s: mapped %t, %v", what, done, err)
		}
		if b := view(r); !want && (b[0] != 1 || b[pageSize-1] != 0 || r.m.files.bytes != 0) {
			t.Errorf("%s: the pages have changed", what)
		}
	}
	stop := fault.Inject(func(op string) error {
		if op == "map" {
			return errFaulty
		}
		return nil
	})
	try("a call that fails", false, f.Fd())
	stop()
	device, err := os.Open("/dev/null")
	must(t, err)
	try("a device that cannot be mapped", false, device.Fd())
	must(t, device.Close())
	w := watchable{r.m}
	w.Lock()
	n := &notes{r: r}
	w.SetWatcher(n)
	w.Unlock()
	try("a region that is watched", false, f.Fd())
	w.Lock()
	w.SetWatcher(nil)
	w.Unlock()
	can := mapped.Supported() == nil
	try("a region", can, f.Fd())
	if can && (watches{}).Watchable(uintptr(r.Base())) != nil {
		t.Error("a region with pages of files can be watched")
	}
	m, err := mirrorOn(onlyOS(t), pageSize, Options{Name: t.Name()}, origin{})
	must(t, err)
	if done, err := (files{}).Map(uintptr(m.Base()), pageSize, f.Fd(), 0); done || err != nil {
		t.Errorf("a mirror: mapped %t, %v", done, err)
	}
	must(t, m.Close())
}

// TestStubbornFiles refuses new mappings over pages of files: Discard, Decommit and Close fail, and MovePages
// clears the old pages. If the system maps new pages but does not commit them, Discard fails, and the old
// bytes are lost.
func TestStubbornFiles(t *testing.T) {
	f := fileOfPages(t, 8)
	r := open(t, injected{onlyOS(t)}, 64*pageSize, Options{})
	must(t, r.Commit(0, 8*pageSize))
	mapPages(t, r, 0, 8, f, 0)
	refuse := func(op string) (stop func()) {
		return fault.Inject(func(o string) error {
			if o == op {
				return errFaulty
			}
			return nil
		})
	}
	stop := refuse("reset")
	if r.Discard(0, 2*pageSize) == nil || r.Decommit(2*pageSize, pageSize) == nil || r.Close() == nil {
		t.Error("Discard, Decommit or Close succeeds although reset fails")
	}
	mustBe(t, "refused", r, 0, 1, 2, 3, 4, 5, 6, 7, 8)
	must(t, r.MovePages(r, 20*pageSize, 0, 4*pageSize))
	stop()
	mustBe(t, "moved", r, 20, 1, 2, 3, 4)
	must(t, r.Commit(0, 4*pageSize))
	mustBe(t, "the old place", r, 0, 0, 0, 0, 0, 5)
	stop = refuse("commit")
	if r.Discard(4*pageSize, pageSize) == nil {
		t.Error("Discard succeeds although commit fails")
	}
	stop()
	must(t, r.Commit(0, 8*pageSize))
	mustBe(t, "lost", r, 4, 0, 6)
}
