package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/crashtest"
	"github.com/vastgo/vast/internal/longtest"
	"github.com/vastgo/vast/sched"
	"github.com/vastgo/vast/store"
)

// lived is a town that has made some ticks. Its folder got a checkpoint after every fifth tick.
type lived struct {
	*kept
	dir   string
	saved map[uint64][]byte // the world after each tick
}

func liveOn(t *testing.T, keep, ticks int) *lived {
	t.Helper()
	o := optionsOfKept()
	o.Keep = keep
	dir := t.TempDir()
	n := &lived{openKept(t, dir, o), dir, make(map[uint64][]byte)}
	n.saved[0] = n.kept.saved(t)
	for tick := 1; tick <= ticks; tick++ {
		if tick%3 == 0 {
			n.record(t, uint64(tick))
		}
		if err := n.st.Tick(n.tick); err != nil {
			t.Fatal(err)
		}
		n.saved[uint64(tick)] = n.kept.saved(t)
		if tick%5 == 0 {
			if err := n.st.Checkpoint(); err != nil {
				t.Fatal(err)
			}
		}
	}
	n.flush(t)
	return n
}

// flush waits until the records of all ticks are on the disk.
func (n *lived) flush(t *testing.T) {
	t.Helper()
	if err := n.st.Wait(context.Background(), n.record(t, 7)); err != nil {
		t.Fatal(err)
	}
}

func (n *lived) openAt(t *testing.T, tick uint64, replay bool) *kept {
	t.Helper()
	k := &kept{town: newTown(t, false)}
	k.clock = vast.SetResource(k.w, clock{})
	var err error
	if k.st, err = store.OpenAt(n.dir, k.w, tick, optionsOfKept()); err != nil {
		t.Fatalf("tick %d: %v", tick, err)
	}
	t.Cleanup(func() { k.st.Close() })
	if replay {
		err = k.st.Recover(k.apply, k.tick)
	} else {
		err = k.st.Recover(nil, nil)
	}
	if err != nil {
		t.Fatalf("tick %d: %v", tick, err)
	}
	return k
}

func TestOpenAt(t *testing.T) {
	n := liveOn(t, 3, 33)
	for _, closed := range []bool{false, true} {
		if closed {
			if err := n.st.Close(); err != nil { // takes a checkpoint, and removes the oldest one
				t.Fatal(err)
			}
		}
		before := listing(t, n.dir)
		first := uint64(20)
		if closed {
			first = 25
		}
		step := uint64(longtest.Pick(5, 1))
		for tick := first; tick <= 33; tick += step {
			k := n.openAt(t, tick, true)
			if k.st.LastTick() != tick || !bytes.Equal(k.saved(t), n.saved[tick]) {
				t.Fatalf("opened at tick %d: the last tick is %d, or the world differs from the saved world",
					tick, k.st.LastTick())
			}
		}
		for tick, want := range map[uint64]uint64{first: first, 29: 25, 30: 30, 32: 30, 33: 30, 99: 30} {
			if closed && tick >= 33 {
				want = 33
			}
			k := n.openAt(t, tick, false)
			if k.st.LastTick() != want || !bytes.Equal(k.saved(t), n.saved[want]) {
				t.Errorf("opened at tick %d: the last tick is %d, want %d; or the world differs", tick,
					k.st.LastTick(), want)
			}
		}
		if k := n.openAt(t, 99, true); k.st.LastTick() != 33 || !bytes.Equal(k.saved(t), n.saved[33]) {
			t.Errorf("the last tick is %d, want 33; or the world differs", k.st.LastTick())
		}
		w := newTown(t, false)
		_, err := store.OpenAt(n.dir, w.w, 3, optionsOfKept())
		mustSay(t, err, "the oldest checkpoint that is kept is of tick ")
		if now := listing(t, n.dir); closed && now != before {
			t.Errorf("OpenAt or Recover has changed the folder from\n%s\nto\n%s", before, now)
		}
	}
}

func TestOpenAtKeepsNothing(t *testing.T) {
	n := liveOn(t, 2, 12)
	k := n.openAt(t, 11, true)
	if _, err := k.st.Record(nil); err == nil {
		t.Error("Record returned no error")
	}
	for name, f := range map[string]func(){
		"Tick":       func() { _ = k.st.Tick(k.tick) },
		"Checkpoint": func() { _ = k.st.Checkpoint() },
		"Changed":    func() { k.st.Changed() },
		"Recover":    func() { _ = k.st.Recover(nil, nil) },
	} {
		func() {
			defer func() {
				if v := fmt.Sprint(recover()); !strings.Contains(v, "OpenAt, and keeps nothing") {
					t.Errorf("%s: the panic is %q", name, v)
				}
			}()
			f()
		}()
	}
	if err := k.st.Close(); err != nil {
		t.Error(err)
	}
	if n.record(t, 1); n.st.Tick(n.tick) != nil {
		t.Error("the program that keeps the store cannot make another tick")
	}
}

func TestOpenAtRefusesTicksOfAnotherBuild(t *testing.T) {
	n := liveOn(t, 2, 12)
	k := &kept{town: newTown(t, false)}
	o := optionsOfKept()
	o.Build = "another"
	var err error
	if k.st, err = store.OpenAt(n.dir, k.w, 11, o); err != nil {
		t.Fatal(err)
	}
	defer k.st.Close()
	mustSay(t, k.st.Recover(k.apply, k.tick), `build "test" recorded tick 11, and this is build "another"`)
}

func TestOpenAtWithChangeOutsideOfTicks(t *testing.T) {
	n := liveOn(t, 3, 12)
	n.walkers.NewN(7, nil)
	if err := n.st.Tick(n.tick); err != nil { // first takes a checkpoint, which holds the change
		t.Fatal(err)
	}
	after := n.kept.saved(t)
	n.flush(t)
	if err := n.st.Checkpoint(); err != nil {
		t.Fatal(err)
	}
	if k := n.openAt(t, 11, true); k.st.LastTick() != 11 || !bytes.Equal(k.saved(t), n.saved[11]) {
		t.Errorf("the last tick is %d, want 11; or the world differs", k.st.LastTick())
	}
	if k := n.openAt(t, 13, true); k.st.LastTick() != 13 || !bytes.Equal(k.saved(t), after) {
		t.Errorf("the last tick is %d, want 13; or the world differs", k.st.LastTick())
	}
}

func TestOpenAtWithSchedule(t *testing.T) {
	dir := t.TempDir()
	type ship struct{ X uint64 }
	sums := make(map[uint64]uint64)
	run := func(open func(w *vast.World) *store.Store, more int) (last, x uint64) {
		w := vast.NewWorld(vast.Options{MaxEntities: 1000})
		defer w.Close()
		ships := vast.NewColumn[ship](w)
		st := open(w)
		defer st.Close()
		if st.New() {
			w.Archetype(ships).New()
		}
		s := sched.New(w, sched.Options{Seed: 5})
		defer s.Close()
		of := w.Query(ships)
		s.Add(sched.System{Name: "move", Writes: sched.Columns(ships), Run: func(c *sched.Context) {
			for e := range of.All() {
				r := c.Random(e)
				ships.Get(e).X = ships.Get(e).X*31 + c.Tick() + r.Uint64()
			}
		}})
		st.Attach(s)
		if err := st.Recover(func([]byte) {}, s.Tick); err != nil {
			t.Fatal(err)
		}
		last = st.LastTick()
		for range more {
			if err := s.Tick(); err != nil {
				t.Fatal(err)
			}
			for slot := range of.Slots() {
				x = ships.At(slot).X
			}
			last++
			if sums[last] == 0 {
				sums[last] = x
			} else if sums[last] != x {
				t.Errorf("tick %d computes %d instead of %d", last, x, sums[last])
			}
			if st.New() && st.LastTick() == 6 {
				if err := st.Checkpoint(); err != nil {
					t.Fatal(err)
				}
			}
		}
		for slot := range of.Slots() {
			x = ships.At(slot).X
		}
		return last, x
	}
	run(func(w *vast.World) *store.Store {
		st, err := store.Open(dir, w, store.Options{Every: time.Hour, Keep: 9, Build: "a"})
		if err != nil {
			t.Fatal(err)
		}
		return st
	}, 10)
	for _, tick := range []uint64{2, 6, 9} {
		last, x := run(func(w *vast.World) *store.Store {
			st, err := store.OpenAt(dir, w, tick, store.Options{Build: "a"})
			if err != nil {
				t.Fatal(err)
			}
			return st
		}, 0)
		if last != tick || x != sums[tick] {
			t.Errorf("opened at tick %d: the last tick is %d with the value %d, want the value %d", tick,
				last, x, sums[tick])
		}
		run(func(w *vast.World) *store.Store {
			st, err := store.OpenAt(dir, w, tick, store.Options{Build: "a"})
			if err != nil {
				t.Fatal(err)
			}
			return st
		}, 3)
	}
}

func TestLoadMomentWhileProgramReplacesCheckpoints(t *testing.T) {
	n := liveOn(t, 1, 5)
	length := time.Second
	if !longtest.Enabled() {
		length = 200 * time.Millisecond
	}
	var ended atomic.Bool
	done := make(chan error, 1)
	go func() {
		for !ended.Load() {
			if err := errors.Join(n.st.Tick(n.tick), n.st.Checkpoint()); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	read := 0
	for end := time.Now().Add(length); time.Now().Before(end); {
		w, _, err := store.LoadMoment(n.dir, 0, vast.Options{})
		if err != nil {
			if !errors.Is(err, fs.ErrNotExist) { // the program may remove the files during LoadMoment
				t.Error(err)
			}
			continue
		}
		read++
		if err := w.Close(); err != nil {
			t.Error(err)
		}
		files, err := store.Verify(n.dir, false)
		if err != nil {
			t.Error(err)
		}
		for _, f := range files {
			if f.Err != nil {
				t.Errorf("%s: %v", f.Name, f.Err)
			}
		}
	}
	ended.Store(true)
	if err := <-done; err != nil {
		t.Error(err)
	}
	if read == 0 {
		t.Error("LoadMoment read no checkpoint")
	}
}

func TestLoadMoment(t *testing.T) {
	n := liveOn(t, 4, 22)
	files, err := store.Files(n.dir)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, f := range files {
		if f.Kind != store.FileCheckpoint {
			continue
		}
		found++
		w, report, err := store.LoadMoment(n.dir, f.Number, vast.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(report.Dropped)+len(report.Converted)+len(report.Added) > 0 {
			t.Errorf("%+v", *report)
		}
		again := &kept{town: newTown(t, true)}
		again.clock = vast.SetResource(again.w, clock{})
		if _, err := store.Load(again.w, bytes.NewReader(saveWorld(t, w, resourcesOf(w))),
			optionsOfKept()); err != nil {
			t.Fatal(err)
		}
		if want := n.saved[f.Tick]; equalBytes && !bytes.Equal(documentOf(t, again),
			documentOfFile(t, want)) {
			t.Errorf("checkpoint %d differs from the world of tick %d", f.Number, f.Tick)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
	if found < 4 {
		t.Errorf("the folder has %d checkpoints, want at least 4", found)
	}
	_, _, err = store.LoadMoment(n.dir, 12345, vast.Options{})
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a checkpoint that does not exist: the error is %v", err)
	}
	_, _, err = store.LoadMoment(filepath.Join(n.dir, "lock"), 0, vast.Options{})
	mustSay(t, err, "and not the folder of a store")
	_, _, err = store.LoadMoment(t.TempDir(), 0, vast.Options{})
	mustSay(t, err, "no checkpoint that can be read")
}

func documentOf(t *testing.T, k *kept) []byte {
	t.Helper()
	return []byte(writeJSON(t, k.w, optionsOfKept()))
}

func documentOfFile(t *testing.T, file []byte) []byte {
	t.Helper()
	k := &kept{town: newTown(t, false)}
	vast.SetResource(k.w, clock{})
	load(t, k.town, file, optionsOfKept())
	return documentOf(t, k)
}

func TestVerify(t *testing.T) {
	n := liveOn(t, 3, 23)
	for _, name := range []string{"checkpoint-00000099.new", "notes.txt"} {
		if err := os.WriteFile(filepath.Join(n.dir, name), []byte("hello"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	mustBeSound(t, n.dir) // while a program has the folder open
	dir := crashtest.Copy(t, n.dir)
	kinds := mustBeSound(t, dir)
	if kinds[store.FileCheckpoint] < 3 || kinds[store.FileJournal] < 3 || kinds[store.FileUnfinished] != 1 ||
		kinds[store.FileUnknown] != 1 {
		t.Errorf("the numbers of files by kind are %v", kinds)
	}
	step := longtest.Pick(12007, 1499)
	files, err := store.Files(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if f.Kind != store.FileCheckpoint && f.Kind != store.FileJournal {
			continue
		}
		path := filepath.Join(dir, f.Name)
		good, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for at := 0; at < len(good); at += step {
			bad := bytes.Clone(good)
			bad[at] ^= 1 << (at % 8)
			mustBeBad(t, dir, f.Name, bad, fmt.Sprintf("byte %d changed", at))
		}
		mustBeBad(t, dir, f.Name, append(slices.Clone(good), bytes.Repeat([]byte{1}, 512)...),
			"bytes after the end")
		if f.Kind == store.FileCheckpoint {
			mustBeBad(t, dir, f.Name, good[:len(good)-1], "the last byte is missing")
			mustBeBad(t, dir, f.Name, nil, "empty")
		}
		if err := os.WriteFile(path, good, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	mustBeSound(t, dir)
}

func mustBeBad(t *testing.T, dir, name string, bytes []byte, what string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), bytes, 0o644); err != nil {
		t.Fatal(err)
	}
	files, err := store.Verify(dir, false)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(files, func(f store.File) bool { return f.Name == name && f.Err != nil }) {
		t.Errorf("%s: %s: Verify reports no error", name, what)
	}
}

// mustBeSound checks that Verify finds no error, and returns the number of files of each kind.
func mustBeSound(t *testing.T, path string) map[store.FileKind]int {
	t.Helper()
	kinds := make(map[store.FileKind]int)
	files, err := store.Verify(path, true)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if kinds[f.Kind]++; f.Err != nil {
			t.Errorf("%s: %v", f.Name, f.Err)
		}
	}
	return kinds
}

func TestVerifyReportsMissingFiles(t *testing.T) {
	n := liveOn(t, 3, 23)
	n.walkers.NewN(7, nil)
	if err := n.st.Tick(n.tick); err != nil {
		t.Fatal(err)
	}
	if err := n.st.Checkpoint(); err != nil {
		t.Fatal(err)
	}
	files, err := store.Files(n.dir)
	if err != nil {
		t.Fatal(err)
	}
	bases := make(map[uint64]bool)
	newest := uint64(0)
	for _, f := range files {
		bases[f.Base] = true
		newest = max(newest, f.Number)
	}
	errorWithout := func(f store.File) error {
		dir := crashtest.Copy(t, n.dir)
		if err := os.Remove(filepath.Join(dir, f.Name)); err != nil {
			t.Fatal(err)
		}
		files, err := store.Verify(dir, false)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if f.Err != nil {
				return f.Err
			}
		}
		return nil
	}
	last := store.File{}
	for _, f := range files {
		switch f.Kind {
		case store.FileJournal:
			last = f
		case store.FileCheckpoint:
			if bases[f.Number] && slices.ContainsFunc(files, func(g store.File) bool {
				return g.Base == f.Number && g.Number == newest
			}) {
				mustSay(t, errorWithout(f), f.Name+" is missing")
			}
		}
	}
	mustSay(t, errorWithout(last), last.Name)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "journal-00000001"), make([]byte, 512), 0o644); err != nil {
		t.Fatal(err)
	}
	files, err = store.Verify(dir, false)
	if err != nil || len(files) != 2 || files[1].Kind != store.FileMissing || files[1].Err == nil {
		t.Errorf("Verify returned %v and the error %v, want 2 files, the second one missing", files, err)
	}
	if _, err := store.Verify(filepath.Join(dir, "none"), false); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	mustBeSound(t, t.TempDir())
}

func TestVerifySavedWorld(t *testing.T) {
	n := newTown(t, false)
	n.live(3, 300)
	good := save(t, n, store.Options{})
	path := filepath.Join(t.TempDir(), "town.world")
	write := func(b []byte) error {
		t.Helper()
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
		files, err := store.Verify(path, true)
		if err != nil || len(files) != 1 || files[0].Kind != store.FileWorld || files[0].Name != path {
			t.Fatal(files, err)
		}
		return files[0].Err
	}
	if err := write(good); err != nil {
		t.Error(err)
	}
	mustSay(t, write(append(bytes.Clone(good), 0)), "1 bytes follow the end")
	mustSay(t, write(good[:len(good)-41]), "byte ")
	step := longtest.Pick(3331, 331)
	for at := 0; at < len(good); at += step {
		bad := bytes.Clone(good)
		bad[at] ^= 4
		if write(bad) == nil {
			t.Errorf("byte %d changed: Verify reports no error", at)
		}
	}
}

func TestCompact(t *testing.T) {
	n := liveOn(t, 3, 23)
	err := store.Compact(n.dir)
	mustSay(t, err, "is in use by process")
	dir := crashtest.Copy(t, n.dir)
	if err := store.Compact(dir); err != nil {
		t.Fatal(err)
	}
	kinds := mustBeSound(t, dir)
	if kinds[store.FileCheckpoint] != 1 || kinds[store.FileJournal] == 0 {
		t.Errorf("after Compact, the numbers of files by kind are %v", kinds)
	}
	files, err := store.Files(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if f.Kind == store.FileCheckpoint && (f.Base != 0 || f.Tick != 20) {
			t.Errorf("Compact left %+v, want only the complete checkpoint of tick 20", f)
		}
	}
	again := openKept(t, dir, optionsOfKept())
	// The journal holds ticks 21 to 23, too: liveOn has called flush.
	if last := again.st.LastTick(); last != 23 || !bytes.Equal(again.saved(t), n.saved[last]) {
		t.Errorf("the last tick is %d, want 23; or the world differs", last)
	}
	if err := again.st.Close(); err != nil {
		t.Fatal(err)
	}
	if err := store.Compact(dir); err != nil {
		t.Error(err)
	}
	if err := store.Compact(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	bad := crashtest.Copy(t, n.dir)
	files, err = store.Files(bad)
	if err != nil {
		t.Fatal(err)
	}
	newest := ""
	for _, f := range files {
		if f.Kind == store.FileCheckpoint {
			newest = filepath.Join(bad, f.Name)
		}
	}
	b, err := os.ReadFile(newest)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)-60] ^= 1
	if err := os.WriteFile(newest, b, 0o644); err != nil {
		t.Fatal(err)
	}
	before := listing(t, bad)
	if err := store.Compact(bad); err == nil {
		t.Error("Compact returned no error for a damaged checkpoint")
	}
	if now := listing(t, bad); now != before {
		t.Errorf("Compact has changed the folder from\n%s\nto\n%s", before, now)
	}
}
