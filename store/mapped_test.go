package store_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/longtest"
	"github.com/vastgo/vast/internal/mapped"
	"github.com/vastgo/vast/store"
	"github.com/vastgo/vast/vm"
)

// mappedBytes returns how many bytes of the files of a folder are mapped, or 0 on systems without /proc.
func mappedBytes(t *testing.T, dir string) (n int) {
	t.Helper()
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(maps)) {
		if !strings.Contains(line, dir+string(filepath.Separator)) {
			continue
		}
		var lo, hi int
		var access string
		if _, err := fmt.Sscanf(line, "%x-%x %s", &lo, &hi, &access); err != nil || access != "rw-p" {
			t.Fatalf("the mapping %q is not private and writable: %v", line, err)
		}
		n += hi - lo
	}
	return n
}

// mustMap checks that at least n bytes of the files of a folder are mapped. On a system that cannot map
// files, it checks that no bytes are mapped.
func mustMap(t *testing.T, dir string, n int) {
	t.Helper()
	have := mappedBytes(t, dir)
	if mapped.Supported() != nil {
		n = 0
		if have > 0 {
			t.Errorf("%d bytes are mapped on a system that cannot map files", have)
		}
	}
	if have < n {
		t.Errorf("%d bytes are mapped, want at least %d", have, n)
	}
}

// TestMappedMoments: mapped moments and read moments of a town are equal worlds. Some moments are chains, and
// the last moment is one file.
func TestMappedMoments(t *testing.T) {
	defer store.PlaceFrom(mapped.PageSize)()
	n := liveOn(t, 4, 0)
	n.st.LongChains(5)
	steps, ticks := 6000, 12
	if !longtest.Enabled() {
		steps, ticks = 2500, 7
	}
	n.live(3, steps)
	n.st.Changed()
	for tick := 1; tick <= ticks; tick++ {
		if err := errors.Join(n.st.Tick(n.tick), n.st.Checkpoint()); err != nil {
			t.Fatal(err)
		}
		if tick > 3 && tick%3 == 0 { // the chains have several lengths
			n.compareMoments(t, uint64(tick))
		}
	}
	if err := n.st.Close(); err != nil {
		t.Fatal(err)
	}
	if err := store.Compact(n.dir); err != nil {
		t.Fatal(err)
	}
	n.compareMoments(t, uint64(ticks))
	files, err := store.Verify(n.dir, true)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if f.Err != nil {
			t.Errorf("%s: %v", f.Name, f.Err)
		}
	}
}

// compareMoments opens the moment of the last tick with OpenAt and LoadMoment, both mapped and read, and
// compares the worlds.
func (n *lived) compareMoments(t *testing.T, tick uint64) {
	t.Helper()
	before := mappedBytes(t, n.dir)
	k := n.openAt(t, tick, false)
	mustMap(t, n.dir, before+mapped.PageSize)
	if got := k.dump(); got != n.dump() {
		t.Errorf("tick %d: %s", tick, difference(got, n.dump()))
	}
	var worlds [2][]byte
	for i, begin := range []func() (stop func()){func() func() { return func() {} }, store.Read} {
		stop := begin()
		w, _, err := store.LoadMoment(n.dir, 0, vast.Options{})
		stop()
		if err != nil {
			t.Fatal(err)
		}
		worlds[i] = saveWorld(t, w, store.Options{})
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
	if equalBytes && !bytes.Equal(worlds[0], worlds[1]) {
		t.Errorf("tick %d: LoadMoment gives different worlds for mapped and for read elements", tick)
	}
	stop := store.Read()
	other := n.openAt(t, tick, false)
	stop()
	k.collect()
	other.collect()
	for seed := range uint64(2) {
		k.live(seed, 500)
		other.live(seed, 500)
		if err := errors.Join(k.w.Trim(), other.w.Trim()); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(k.saved(t), other.saved(t)) {
			t.Fatalf("the worlds of tick %d differ after more operations", tick)
		}
	}
	if err := errors.Join(k.st.Close(), k.w.Close()); err != nil {
		t.Error(err)
	}
	if now := mappedBytes(t, n.dir); now != before {
		t.Errorf("%d bytes are mapped after Close, want %d", now, before)
	}
}

// field has 100 bytes, so that pages begin inside of fields.
type field [100]byte

// herd is a world with components of two sizes, and its store.
type herd struct {
	w       *vast.World
	st      *store.Store
	columns []vast.Column[field]
	numbers vast.Column[uint32]
}

// newHerd makes a herd without entities. If reversed is true, herd.numbers is the first column instead of the
// last.
func newHerd(t *testing.T, reversed bool) *herd {
	h := &herd{w: vast.NewWorld(vast.Options{Name: "herd", MaxEntities: 1 << 17})}
	t.Cleanup(func() {
		if err := h.w.Close(); err != nil {
			t.Error(err)
		}
	})
	if reversed {
		h.numbers = vast.NewColumn[uint32](h.w)
	}
	for i := range 3 {
		h.columns = append(h.columns, vast.NewColumn[field](h.w).Named(fmt.Sprint("field ", i)))
	}
	if !reversed {
		h.numbers = vast.NewColumn[uint32](h.w)
	}
	return h
}

func (h *herd) fill(n int) {
	next := uint32(0)
	h.w.Archetype(h.columns[0], h.columns[1], h.columns[2], h.numbers).NewN(n, func(run vast.Run) {
		for i := range h.numbers.Slice(run) {
			next++
			h.numbers.Slice(run)[i] = next
			for k, c := range h.columns {
				binary.LittleEndian.PutUint32(c.Slice(run)[i][50*(k%2):], next+uint32(k))
			}
		}
	})
}

// herdIn returns a folder with a herd of n entities.
func herdIn(t *testing.T, n int) string {
	t.Helper()
	dir := t.TempDir()
	h := newHerd(t, false)
	var err error
	if h.st, err = store.Open(dir, h.w, store.Options{Every: time.Hour}); err != nil {
		t.Fatal(err)
	}
	h.fill(n)
	if err := errors.Join(h.st.Recover(nil, nil), h.st.Close()); err != nil {
		t.Fatal(err)
	}
	return dir
}

// wholeFile returns the path of the file that holds the complete herd. The folder also has a delta.
func wholeFile(dir string) string { return filepath.Join(dir, "checkpoint-00000001") }

func openHerd(t *testing.T, dir string, reversed bool) *herd {
	t.Helper()
	h := newHerd(t, reversed)
	var err error
	if h.st, err = store.OpenAt(dir, h.w, 1<<40, store.Options{}); err != nil {
		t.Fatal(err)
	}
	return h
}

const herdSize = 8_000 // entities; each column of fields has 800 KB

// TestMappedLongRuns: long columns are mapped, and their padding is less than 1 %.
func TestMappedLongRuns(t *testing.T) {
	dir := herdIn(t, herdSize)
	h := openHerd(t, dir, false)
	mustMap(t, dir, herdSize*3*98) // 98 % of the fields
	for e := range h.w.Query().All() {
		n := *h.numbers.Get(e)
		for k, c := range h.columns {
			var want field
			binary.LittleEndian.PutUint32(want[50*(k%2):], n+uint32(k))
			if *c.Get(e) != want {
				t.Fatalf("%v: %v, want %v", e, *c.Get(e), want)
			}
		}
	}
	info, err := os.Stat(wholeFile(dir))
	if err != nil {
		t.Fatal(err)
	}
	if whole := saveWorld(t, h.w, store.Options{}); info.Size() > int64(len(whole))*101/100 {
		t.Errorf("the file has %d bytes, which is more than 1 %% above the %d bytes that Save writes",
			info.Size(), len(whole))
	}
}

// TestMappedWorldChanges: a program can change a mapped world like any other world. New components are zero,
// also after Trim. The files do not change.
func TestMappedWorldChanges(t *testing.T) {
	dir := herdIn(t, herdSize)
	before := listing(t, dir)
	for _, trim := range []bool{false, true} {
		for seed := range uint64(3) {
			if !longtest.Enabled() && seed != 1 {
				continue
			}
			h := openHerd(t, dir, false)
			r := rand.New(rand.NewPCG(seed, 5))
			lo := r.Uint32N(herdSize / 2)
			hi := lo + r.Uint32N(herdSize/2)
			var gone []vast.Entity
			for e := range h.w.Query().All() {
				if n := *h.numbers.Get(e); n >= lo && n < hi || seed == 2 {
					gone = append(gone, e)
				}
			}
			for _, e := range gone {
				h.w.Delete(e)
			}
			live := herdSize - len(gone)
			if trim {
				if err := h.w.Trim(); err != nil {
					t.Fatal(err)
				}
			}
			for e := range h.w.Query().All() {
				h.columns[1].Get(e)[3] = 7
			}
			// The new entities get the free slots, and slots after the last used slot.
			born := h.w.Archetype(h.columns[0], h.columns[1], h.columns[2], h.numbers)
			born.NewN(herdSize+herdSize/2-live, func(run vast.Run) {
				for i := range run.Len() {
					for _, c := range h.columns {
						if c.Slice(run)[i] != (field{}) || h.numbers.Slice(run)[i] != 0 {
							t.Fatalf("seed %d, trim %t: a new component is not zero", seed, trim)
						}
					}
				}
			})
			kept := 0
			for e := range h.w.Query().All() {
				n := *h.numbers.Get(e)
				if n == 0 {
					continue
				}
				kept++
				var want field
				binary.LittleEndian.PutUint32(want[50:], n+1)
				want[3] = 7
				if *h.columns[1].Get(e) != want {
					t.Fatalf("seed %d, trim %t: %v, want %v", seed, trim, *h.columns[1].Get(e), want)
				}
			}
			if kept != live {
				t.Errorf("seed %d, trim %t: %d old entities remain, want %d", seed, trim, kept, live)
			}
			if err := h.w.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if after := listing(t, dir); after != before {
		t.Errorf("the files have changed from\n%s\nto\n%s", before, after)
	}
	mustMap(t, dir, 0)
}

// TestMappedMomentsStay: a mapped moment does not change when a program replaces or removes the files.
func TestMappedMomentsStay(t *testing.T) {
	dir := herdIn(t, herdSize)
	h := openHerd(t, dir, false)
	writer := newHerd(t, false)
	st, err := store.Open(dir, writer.w, store.Options{Every: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	for e := range writer.w.Query().All() {
		*writer.columns[2].Get(e) = field{9}
	}
	if err := errors.Join(st.Recover(nil, nil), st.Checkpoint(), st.Close()); err != nil {
		t.Fatal(err)
	}
	for e := range h.w.Query().All() {
		if got := binary.LittleEndian.Uint32(h.columns[2].Get(e)[:]); got != *h.numbers.Get(e)+2 {
			t.Fatalf("%v has %d, want %d", e, got, *h.numbers.Get(e)+2)
		}
	}
}

// TestOtherColumnsAreRead: a column is read instead of mapped if its number or its type differs from that in
// the file. In a column with another number, the elements have other offsets in their pages.
func TestOtherColumnsAreRead(t *testing.T) {
	dir := herdIn(t, herdSize)
	h := openHerd(t, dir, true)
	for e := range h.w.Query().All() {
		if got := binary.LittleEndian.Uint32(h.columns[1].Get(e)[50:]); got != *h.numbers.Get(e)+1 {
			t.Fatalf("%v has %d, want %d", e, got, *h.numbers.Get(e)+1)
		}
	}
	w := vast.NewWorld(vast.Options{MaxEntities: 1 << 17})
	defer w.Close()
	first := vast.NewColumn[field](w).Named("field 0")
	vast.NewColumn[field](w).Named("field 1")
	vast.NewColumn[field](w).Named("field 2")
	wide := vast.NewColumn[uint64](w).Named("uint32")
	before := mappedBytes(t, dir)
	if _, err := store.OpenAt(dir, w, 1<<40, store.Options{}); err != nil {
		t.Fatal(err)
	}
	mustMap(t, dir, before+herdSize*3*98)
	for e := range w.Query().All() {
		if got := binary.LittleEndian.Uint32(first.Get(e)[:]); uint64(got) != *wide.Get(e) || got == 0 {
			t.Fatalf("%v has %d in field 0, want the number %d", e, got, *wide.Get(e))
		}
	}
}

// TestCutFiles: OpenAt of a truncated file returns an error and causes no memory fault.
func TestCutFiles(t *testing.T) {
	dir := herdIn(t, herdSize)
	path := wholeFile(dir)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 1))
	size := info.Size()
	for range 20 {
		size = 1 + r.Int64N(size-1)
		if err := os.Truncate(path, size); err != nil {
			t.Fatal(err)
		}
		h := newHerd(t, false)
		if _, err := store.OpenAt(dir, h.w, 1<<40, store.Options{}); err == nil {
			t.Fatalf("a file of %d bytes was opened", size)
		}
		if size < 1<<20 {
			break
		}
	}
	mustMap(t, dir, 0)
}

// TestFileThatIsCutLater: reading a mapped page of a file that was truncated afterwards is a memory fault.
// The fault names the column and the cause.
func TestFileThatIsCutLater(t *testing.T) {
	if err := mapped.Supported(); err != nil {
		t.Skip(err)
	}
	dir := herdIn(t, herdSize)
	h := openHerd(t, dir, false)
	if err := os.Truncate(wholeFile(dir), 1<<20); err != nil {
		t.Fatal(err)
	}
	defer func() {
		var fault *vm.Fault
		if err, _ := recover().(error); !errors.As(err, &fault) ||
			!strings.Contains(err.Error(), `column field 2 of world "herd"`) ||
			!strings.Contains(err.Error(), "comes from a file that was truncated or cannot be read") {
			t.Errorf("the fault says %v", err)
		}
	}()
	vm.Do(func() {
		sum := byte(0)
		for e := range h.w.Query().All() {
			sum += h.columns[2].Get(e)[1]
		}
		t.Error("reading the truncated pages causes no fault, and gives the sum", sum)
	})
}

// TestDamageInMappedElements: Verify and Open find damage in mapped elements, but OpenAt does not.
func TestDamageInMappedElements(t *testing.T) {
	if err := mapped.Supported(); err != nil {
		t.Skip(err)
	}
	dir := herdIn(t, herdSize)
	path := wholeFile(dir)
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	file, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(file, binary.LittleEndian.AppendUint32(nil, 3_001+1)) // in a mapped column
	if _, err := f.WriteAt([]byte{file[at] ^ 1}, int64(at)); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	openHerd(t, dir, false)
	files, err := store.Verify(dir, false)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(files, func(f store.File) bool {
		return f.Name == filepath.Base(path) && f.Err != nil && strings.Contains(f.Err.Error(), "damaged")
	}) {
		t.Errorf("Verify returned %v", files)
	}
	h := newHerd(t, false)
	_, err = store.Open(dir, h.w, store.Options{})
	mustSay(t, err, "is damaged")
}

// TestRefusedMappings: if the system cannot map files, OpenAt reads them.
func TestRefusedMappings(t *testing.T) {
	dir := herdIn(t, herdSize)
	defer store.Read()()
	h := openHerd(t, dir, false)
	if n := mappedBytes(t, dir); n != 0 {
		t.Errorf("%d bytes are mapped", n)
	}
	if n := h.w.Len(); n != herdSize {
		t.Errorf("the world has %d entities, want %d", n, herdSize)
	}
}
