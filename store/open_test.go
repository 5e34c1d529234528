package store_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/crashtest"
	"github.com/vastgo/vast/internal/longtest"
	"github.com/vastgo/vast/sched"
	"github.com/vastgo/vast/store"
)

// kept is a town that a store keeps. Ticks and inputs make random changes that a replay repeats.
type kept struct {
	*town
	st    *store.Store
	clock *clock
}

func optionsOfKept() store.Options {
	return store.Options{Every: time.Hour, Resources: []reflect.Type{reflect.TypeFor[clock]()}, Build: "test"}
}

func openKept(t *testing.T, dir string, o store.Options) *kept {
	t.Helper()
	k := &kept{town: newTown(t, false)}
	k.clock = vast.SetResource(k.w, clock{})
	var err error
	if k.st, err = store.Open(dir, k.w, o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { k.st.Close() })
	if k.st.New() {
		k.live(1, 100)
		k.clock.Note = "made"
	}
	k.collect()
	if err := k.st.Recover(k.apply, k.tick); err != nil {
		t.Fatal(err)
	}
	return k
}

// collect sets order to the living entities of the town. The method live changes entities of order.
func (k *kept) collect() {
	k.order = k.order[:0]
	for run := range k.w.Query().Runs() {
		for _, e := range run.All() {
			k.order = append(k.order, e)
		}
	}
}

func (k *kept) apply(input []byte) {
	k.collect()
	k.live(binary.LittleEndian.Uint64(input), 5)
}

func (k *kept) tick() error {
	k.clock.Tick++
	k.collect()
	k.live(uint64(k.clock.Tick), 20)
	return nil
}

func (k *kept) record(t *testing.T, seed uint64) uint64 {
	t.Helper()
	position, err := k.st.Record(binary.LittleEndian.AppendUint64(nil, seed))
	if err != nil {
		t.Fatal(err)
	}
	return position
}

// saved returns the bytes that Save writes for the world, or the dump of the world if Save may write
// different bytes for equal worlds.
func (k *kept) saved(t *testing.T) []byte {
	t.Helper()
	if !equalBytes {
		return []byte(k.dump())
	}
	var b bytes.Buffer
	o := store.Options{Resources: []reflect.Type{reflect.TypeFor[clock]()}}
	if err := store.Save(k.w, &b, o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestRecover copies the folder after some ticks, without Close, as if the process had died.
func TestRecover(t *testing.T) {
	dir := t.TempDir()
	a := openKept(t, dir, optionsOfKept())
	for tick := range 30 {
		if tick%3 == 0 {
			a.record(t, uint64(tick)*77)
		}
		if tick == 10 {
			if err := a.st.Checkpoint(); err != nil {
				t.Fatal(err)
			}
		}
		if err := a.st.Tick(a.tick); err != nil {
			t.Fatal(err)
		}
	}
	last := a.record(t, 4711) // no tick before the copy applies this input
	if err := a.st.Wait(context.Background(), last); err != nil {
		t.Fatal(err)
	}
	if got := a.st.Durable(); got != last+1 {
		t.Errorf("the inputs before position %d are durable, want position %d", got, last+1)
	}
	if got := a.st.DurableTick(); got != 30 {
		t.Errorf("tick %d is durable, want 30", got)
	}
	b := openKept(t, crashtest.Copy(t, dir), optionsOfKept())
	if got := b.st.LastTick(); got != 30 {
		t.Fatalf("tick %d is the last one, want 30", got)
	}
	if b.clock.Tick != 30 || b.clock.Note != "made" {
		t.Errorf("the clock is %+v", *b.clock)
	}
	for range 3 {
		if got, want := b.saved(t), a.saved(t); !bytes.Equal(got, want) {
			t.Fatalf("the world after recovery differs at tick %d", b.st.LastTick())
		}
		for _, k := range []*kept{a, b} {
			if err := k.st.Tick(k.tick); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestReopen(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "folder")
	var reference *kept
	for round := range 6 {
		a := openKept(t, dir, optionsOfKept())
		if a.st.New() != (round == 0) {
			t.Errorf("round %d: New returns %t", round, a.st.New())
		}
		for tick := range 5 {
			for _, k := range []*kept{a, reference} {
				if k == nil {
					continue
				}
				k.record(t, uint64(round*5+tick))
				if err := k.st.Tick(k.tick); err != nil {
					t.Fatal(err)
				}
			}
		}
		if reference != nil && !bytes.Equal(a.saved(t), reference.saved(t)) {
			t.Fatalf("round %d: the world differs from the world that was never closed", round)
		}
		if err := a.st.Close(); err != nil {
			t.Fatal(err)
		}
		if err := a.w.Close(); err != nil {
			t.Fatal(err)
		}
		if round == 0 {
			reference = openKept(t, crashtest.Copy(t, dir), optionsOfKept())
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, "checkpoint-*"))
	if err != nil || len(files) != 1 {
		t.Errorf("the folder has the checkpoints %q, want one; the error is %v", files, err)
	}
}

// waitDurable waits until all ticks so far are durable. The journal writes at once when it gets an input, and
// may hold ticks back for a second.
func waitDurable(t *testing.T, st *store.Store) {
	t.Helper()
	last := st.LastTick()
	position, err := st.Record(nil)
	if err == nil {
		err = st.Wait(t.Context(), position)
	}
	if err != nil || st.DurableTick() != last {
		t.Fatalf("tick %d is durable, want %d; error %v", st.DurableTick(), last, err)
	}
}

func TestRecoveredScheduleContinues(t *testing.T) {
	type drop struct{ Value uint64 }
	start := func(dir string, seed uint64) (*vast.World, *sched.Schedule, *store.Store, func() uint64) {
		w := vast.NewWorld(vast.Options{MaxEntities: 1 << 12})
		drops := vast.NewColumn[drop](w)
		st, err := store.Open(dir, w, store.Options{Every: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		if st.New() {
			w.Archetype(drops).NewN(100, nil)
		}
		s := sched.New(w, sched.Options{Seed: seed, Workers: 2})
		s.Add(sched.System{Name: "rain", Writes: sched.Columns(drops), Run: func(c *sched.Context) {
			for slot := range w.Query(drops).Slots() {
				r := c.Random(slot.Entity())
				drops.At(slot).Value += r.Uint64() ^ c.Tick()
			}
		}})
		st.Attach(s)
		if err := st.Recover(func([]byte) {}, s.Tick); err != nil {
			t.Fatal(err)
		}
		sum := func() (sum uint64) {
			for slot := range w.Query(drops).Slots() {
				sum = sum*31 + drops.At(slot).Value
			}
			return sum
		}
		t.Cleanup(func() { w.Close() })
		t.Cleanup(func() { s.Close() })
		t.Cleanup(func() { st.Close() })
		return w, s, st, sum
	}
	dir := t.TempDir()
	_, s, st, sum := start(dir, 7)
	if err := s.RunTicks(t.Context(), 20); err != nil {
		t.Fatal(err)
	}
	if err := st.Checkpoint(); err != nil {
		t.Fatal(err)
	}
	if err := s.RunTicks(t.Context(), 9); err != nil {
		t.Fatal(err)
	}
	waitDurable(t, st)
	_, s2, st2, sum2 := start(crashtest.Copy(t, dir), 8) // the folder's seed, 7, replaces 8
	if got := st2.LastTick(); got != 29 {
		t.Fatalf("tick %d is the last one, want 29", got)
	}
	if sum() != sum2() {
		t.Fatal("the values differ after recovery")
	}
	for _, s := range []*sched.Schedule{s, s2} {
		if err := s.RunTicks(t.Context(), 5); err != nil {
			t.Fatal(err)
		}
	}
	if sum() != sum2() || st2.LastTick() != 34 {
		t.Fatalf("the values differ at tick %d", st2.LastTick())
	}
	if got := s2.Options().Seed; got != 7 {
		t.Errorf("the seed is %d, want the folder's seed, 7", got)
	}
}

// TestChangesOutsideOfTicks changes the world between ticks. The change is not in the journal, so the store
// takes a checkpoint before later ticks count as durable.
func TestChangesOutsideOfTicks(t *testing.T) {
	dir := t.TempDir()
	a := openKept(t, dir, optionsOfKept())
	for range 3 {
		if err := a.st.Tick(a.tick); err != nil {
			t.Fatal(err)
		}
	}
	a.walkers.New()
	for range 3 {
		if err := a.st.Tick(a.tick); err != nil {
			t.Fatal(err)
		}
	}
	for a.st.DurableTick() < 6 {
		time.Sleep(time.Microsecond) // lets goroutines run; WebAssembly has one thread
		if err := a.st.Tick(a.tick); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.st.Wait(context.Background(), a.record(t, 5)); err != nil {
		t.Fatal(err)
	}
	b := openKept(t, crashtest.Copy(t, dir), optionsOfKept())
	if b.st.LastTick() != a.st.LastTick() || !bytes.Equal(a.saved(t), b.saved(t)) {
		t.Errorf("the recovered world, at tick %d, differs from the first world, at tick %d",
			b.st.LastTick(), a.st.LastTick())
	}
}

func TestOpenErrors(t *testing.T) {
	made := t.TempDir()
	a := openKept(t, made, optionsOfKept())
	for range 3 {
		if err := a.st.Tick(a.tick); err != nil {
			t.Fatal(err)
		}
	}
	a.record(t, 1)
	if err := a.st.Wait(context.Background(), 0); err != nil {
		t.Fatal(err)
	}
	other := t.TempDir()
	b := openKept(t, other, optionsOfKept())
	if err := b.st.Checkpoint(); err != nil {
		t.Fatal(err)
	}
	if err := a.st.Checkpoint(); err != nil {
		t.Fatal(err)
	}
	one := func(dir, pattern string) string {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil || len(found) == 0 {
			t.Fatalf("no %s in %s: %v", pattern, dir, err)
		}
		return found[len(found)-1]
	}
	for name, c := range map[string]struct {
		damage func(dir string)
		want   string
	}{
		"in use": {nil, "is in use by process"},
		"foreign files": {func(dir string) {
			os.Remove(one(dir, "checkpoint-*"))
			os.Remove(one(dir, "journal-*"))
			os.WriteFile(filepath.Join(dir, "letter.txt"), []byte("Dear"), 0o666)
		}, `the folder holds "letter.txt" and no checkpoint`},
		"no checkpoint": {func(dir string) { os.Remove(one(dir, "checkpoint-*")) },
			"the folder holds a journal and no checkpoint"},
		"no journal": {func(dir string) { os.Remove(one(dir, "journal-*")) }, "journal-"},
		"another store's checkpoint": {func(dir string) {
			text, _ := os.ReadFile(one(other, "checkpoint-*"))
			os.WriteFile(one(dir, "checkpoint-*"), text, 0o666)
		}, "the segment belongs to"},
		"another store's journal": {func(dir string) {
			text, _ := os.ReadFile(one(other, "journal-*"))
			os.WriteFile(one(dir, "journal-*"), text, 0o666)
		}, "journal-"},
		"renamed checkpoint": {func(dir string) {
			os.Rename(one(dir, "checkpoint-*"), filepath.Join(dir, "checkpoint-00000099"))
		}, "is checkpoint"},
		"damaged checkpoint": {func(dir string) {
			name := one(dir, "checkpoint-*")
			text, _ := os.ReadFile(name)
			text[len(text)/2] ^= 1
			os.WriteFile(name, text, 0o666)
		}, "is damaged"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := made
			if c.damage != nil {
				dir = crashtest.Copy(t, made)
				c.damage(dir)
			}
			before := listing(t, dir)
			w := newTown(t, false).w
			vast.SetResource(w, clock{})
			st, err := store.Open(dir, w, optionsOfKept())
			if err == nil {
				st.Close()
				t.Fatal("Open returned no error")
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %q, want %q in it", err, c.want)
			}
			if after := listing(t, dir); after != before {
				t.Errorf("Open has changed the folder from\n%s\nto\n%s", before, after)
			}
		})
	}
}

// listing returns the names, sizes and checksums of the files in a folder, except the lock file.
func listing(t *testing.T, dir string) string {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, f := range files {
		if f.Name() == "lock" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		sum := 0
		for i, c := range text {
			sum += (i + 1) * int(c)
		}
		fmt.Fprintf(&b, "%s %d %x\n", f.Name(), len(text), sum)
	}
	return b.String()
}

func TestRecoverTicksOfAnotherBuild(t *testing.T) {
	dir := t.TempDir()
	a := openKept(t, dir, optionsOfKept())
	for range 3 {
		if err := a.st.Tick(a.tick); err != nil {
			t.Fatal(err)
		}
	}
	for a.st.DurableTick() < 3 {
		time.Sleep(time.Millisecond)
	}
	dead := crashtest.Copy(t, dir)
	recovered := func(change func(o *store.Options)) (uint64, error) {
		b := &kept{town: newTown(t, false)}
		b.clock = vast.SetResource(b.w, clock{})
		o := optionsOfKept()
		change(&o)
		st, err := store.Open(crashtest.Copy(t, dead), b.w, o)
		if err != nil {
			t.Fatal(err)
		}
		defer st.Close()
		err = st.Recover(b.apply, b.tick)
		return st.LastTick(), err
	}
	_, err := recovered(func(o *store.Options) { o.Build = "" })
	if err == nil || !strings.Contains(err.Error(), `build "test" recorded tick 1`) {
		t.Errorf("another build: the error is %v", err)
	}
	if tick, err := recovered(func(o *store.Options) {}); tick != 3 || err != nil {
		t.Errorf("the same build: the last tick is %d, want 3; the error is %v", tick, err)
	}
	drop := func(o *store.Options) { o.Build, o.DropTail = "", true }
	if tick, err := recovered(drop); tick != 0 || err != nil {
		t.Errorf("DropTail: the last tick is %d, want 0; the error is %v", tick, err)
	}
}

func TestRecoverTicksMadeAfterDropTail(t *testing.T) {
	dir := t.TempDir()
	a := openKept(t, dir, optionsOfKept())
	for range 3 {
		a.record(t, 9)
		if err := a.st.Tick(a.tick); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.st.Wait(context.Background(), a.record(t, 1)); err != nil {
		t.Fatal(err)
	}
	o := optionsOfKept()
	o.DropTail = true
	second := crashtest.Copy(t, dir)
	b := openKept(t, second, o)
	if got := b.st.LastTick(); got != 0 {
		t.Fatalf("tick %d is the last one, want 0", got)
	}
	for range 2 {
		b.record(t, 10)
		if err := b.st.Tick(b.tick); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.st.Wait(context.Background(), b.record(t, 2)); err != nil {
		t.Fatal(err)
	}
	c := openKept(t, crashtest.Copy(t, second), optionsOfKept())
	if c.st.LastTick() != 2 || !bytes.Equal(b.saved(t), c.saved(t)) {
		t.Errorf("tick %d is the last one, want 2 and equal worlds", c.st.LastTick())
	}
}

// TestLoadedWorldContinues loads a saved world, and makes equal ticks in the saved world and in the loaded
// world. The worlds stay equal, although they have committed different parts of their memory.
func TestLoadedWorldContinues(t *testing.T) {
	o := store.Options{Resources: []reflect.Type{reflect.TypeFor[clock]()}}
	a := openKept(t, t.TempDir(), optionsOfKept())
	var b *kept
	ticks := longtest.Pick(100, 400)
	for i := range ticks {
		if i%50 == 0 {
			b = &kept{town: newTown(t, false)}
			b.clock = vast.SetResource(b.w, clock{})
			if _, err := store.Load(b.w, bytes.NewReader(save(t, a.town, o)), o); err != nil {
				t.Fatal(err)
			}
			b.collect()
		}
		for _, k := range []*kept{a, b} {
			if err := k.tick(); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(a.saved(t), b.saved(t)) {
			t.Fatalf("the worlds differ %d ticks after Load, at tick %d", i%50+1, i)
		}
	}
}

func TestRecoverScheduleAfterReset(t *testing.T) {
	type drop struct{ Value uint64 }
	start := func(dir string) (*sched.Schedule, *store.Store, func() uint64) {
		w := vast.NewWorld(vast.Options{MaxEntities: 1 << 12})
		drops := vast.NewColumn[drop](w)
		st, err := store.Open(dir, w, store.Options{Every: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		if st.New() {
			w.Archetype(drops).New()
		}
		s := sched.New(w, sched.Options{Seed: 1})
		s.Add(sched.System{Name: "rain", Writes: sched.Columns(drops), Run: func(c *sched.Context) {
			for slot := range w.Query(drops).Slots() {
				r := c.RandomOf(0)
				drops.At(slot).Value += r.Uint64()
			}
		}})
		st.Attach(s)
		if err := st.Recover(func([]byte) {}, s.Tick); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { w.Close() })
		t.Cleanup(func() { s.Close() })
		t.Cleanup(func() { st.Close() })
		return s, st, func() (sum uint64) {
			for slot := range w.Query(drops).Slots() {
				sum += drops.At(slot).Value
			}
			return sum
		}
	}
	dir := t.TempDir()
	s, st, sum := start(dir)
	if err := s.RunTicks(t.Context(), 5); err != nil {
		t.Fatal(err)
	}
	if err := s.Reset(2); err != nil {
		t.Fatal(err)
	}
	for st.DurableTick() < 8 { // the store also counts the 5 ticks before the reset
		time.Sleep(time.Microsecond) // lets goroutines run; WebAssembly has one thread
		if err := s.Tick(); err != nil {
			t.Fatal(err)
		}
	}
	last := st.LastTick()
	waitDurable(t, st)
	s2, st2, sum2 := start(crashtest.Copy(t, dir))
	if st2.LastTick() != last || sum() != sum2() {
		t.Errorf("tick %d has the sum %d, want tick %d with the sum %d", st2.LastTick(), sum2(), last, sum())
	}
	if got := s2.Options().Seed; got != 2 {
		t.Errorf("the seed is %d, want 2", got)
	}
}

// TestChanged changes a resource between ticks. Only a call of Changed tells the store about this change.
func TestChanged(t *testing.T) {
	dir := t.TempDir()
	a := openKept(t, dir, optionsOfKept())
	tick := func() {
		t.Helper()
		if err := a.st.Tick(a.tick); err != nil {
			t.Fatal(err)
		}
	}
	tick()
	a.clock.Note = "edited"
	a.st.Changed()
	for tick(); a.st.DurableTick() < 2; { // until the checkpoint with the change is durable
		time.Sleep(time.Microsecond) // lets goroutines run; WebAssembly has one thread
		tick()
	}
	if err := a.st.Wait(context.Background(), a.record(t, 5)); err != nil {
		t.Fatal(err)
	}
	tick()
	b := openKept(t, crashtest.Copy(t, dir), optionsOfKept())
	if b.clock.Note != "edited" || b.st.LastTick() < 2 {
		t.Errorf("the clock is %+v at tick %d", *b.clock, b.st.LastTick())
	}

	a.clock.Note = "edited again"
	a.st.Changed()
	if err := a.st.Checkpoint(); err != nil {
		t.Fatal(err)
	}
	last := a.st.LastTick()
	tick() // takes no checkpoint
	if err := a.st.Wait(context.Background(), a.record(t, 6)); err != nil {
		t.Fatal(err)
	}
	c := openKept(t, crashtest.Copy(t, dir), optionsOfKept())
	if c.clock.Note != "edited again" || c.st.LastTick() != last+1 {
		t.Errorf("the clock is %+v at tick %d, want tick %d", *c.clock, c.st.LastTick(), last+1)
	}
	if err := a.st.Close(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if text, _ := recover().(string); !strings.Contains(text, "Store.Changed: the store is closed") {
			t.Errorf("Changed after Close panics with %q", text)
		}
	}()
	a.st.Changed()
}

func TestSeedOfFolderWithoutTicks(t *testing.T) {
	dir := t.TempDir()
	for _, seed := range []uint64{7, 9} {
		w := vast.NewWorld(vast.Options{MaxEntities: 1 << 12})
		st, err := store.Open(dir, w, store.Options{Every: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		s := sched.New(w, sched.Options{Seed: seed})
		st.Attach(s)
		if err := st.Recover(func([]byte) {}, s.Tick); err != nil {
			t.Fatal(err)
		}
		if got := s.Options().Seed; got != 7 {
			t.Errorf("Options.Seed is %d: the schedule has the seed %d, want the folder's seed, 7", seed, got)
		}
		if err := errors.Join(st.Close(), s.Close(), w.Close()); err != nil {
			t.Fatal(err)
		}
	}
}
