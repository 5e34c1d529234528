package store

import (
	"fmt"
	"math"
	"os"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/bulk"
	"github.com/vastgo/vast/internal/longtest"
	"github.com/vastgo/vast/internal/state"
	"github.com/vastgo/vast/sched"
	"github.com/vastgo/vast/vm"
)

type twice struct{ A, B uint32 }

// lateWorld is a world with three columns and a schedule of three systems, which have the names of the
// columns that they write. System often runs in each tick, and system seldom in every third tick. System
// link writes through commands.
type lateWorld struct {
	w             *vast.World
	often, seldom vast.Column[twice]
	link          vast.Column[uint64]
	s             *sched.Schedule
}

func newLateWorld(t *testing.T) *lateWorld {
	w := vast.NewWorld(vast.Options{MaxEntities: 1 << 16})
	t.Cleanup(func() { w.Close() })
	l := &lateWorld{w: w, often: vast.NewColumn[twice](w).Named("often"),
		seldom: vast.NewColumn[twice](w).Named("seldom"), link: vast.NewColumn[uint64](w).Named("link")}
	l.s = sched.New(w, sched.Options{Workers: 2})
	t.Cleanup(func() { l.s.Close() })
	count := func(c vast.Column[twice]) func(*sched.Context) {
		q := w.Query(c)
		return func(*sched.Context) {
			for run := range q.Runs() {
				for i := range c.Slice(run) {
					e := &c.Slice(run)[i]
					e.A++
					e.B += 2
				}
			}
		}
	}
	l.s.Add(sched.System{Name: "seldom", Writes: sched.Columns(l.seldom), Every: 3,
		Run: count(l.seldom)})
	l.s.Add(sched.System{Name: "often", Writes: sched.Columns(l.often), Run: count(l.often)})
	l.s.Add(sched.System{Name: "link", Reads: sched.Columns(l.often), Run: func(c *sched.Context) {
		for e := range w.Query(l.link).All() {
			if e.Slot()%64 == uint32(c.Tick()%64) {
				l.link.SetLater(c.Commands(), e, c.Tick())
			}
		}
	}})
	return l
}

func (l *lateWorld) fill(n int) { l.w.Archetype(l.often, l.seldom, l.link).NewN(n, func(vast.Run) {}) }

// TestLate: a checkpoint copies some columns late: after its pause, while systems run. These late copies hold
// the columns as they were in the pause, although systems write all columns.
func TestLate(t *testing.T) {
	for _, way := range []string{ByTheKernel, Exactly} {
		t.Run(way, func(t *testing.T) {
			defer FindWritten(way)()
			l := newLateWorld(t)
			dir := t.TempDir()
			ticks := longtest.Pick(12, 60)
			st, err := Open(dir, l.w, Options{Every: 1, Build: "a", Keep: 1000, Notify: func(c Checkpoint) {
				if c.Err != nil {
					t.Error(c.Err)
				}
			}})
			if err != nil {
				t.Fatal(err)
			}
			defer st.Close()
			l.fill(3000)
			st.Attach(l.s)
			if err := st.Recover(nil, nil); err != nil {
				t.Fatal(err)
			}
			lateOnes := 0
			for n := range ticks {
				if err := l.s.Tick(); err != nil {
					t.Fatal(err)
				}
				if p := st.late.Load(); p != nil {
					lateOnes += len(p.arrays)
				}
				for n%3 == 0 && st.writing != nil && len(st.written) == 0 {
					time.Sleep(50 * time.Microsecond)
				}
			}
			if st.Close(); lateOnes == 0 && st.stage.pages != nil {
				t.Error("nothing was copied after the pause")
			}
			files, err := Files(dir)
			if err != nil {
				t.Fatal(err)
			}
			checked := 0
			for _, f := range files {
				if f.Kind != FileCheckpoint {
					continue
				}
				w := vast.NewWorld(vast.Options{MaxEntities: 1 << 16})
				old := lateWorld{w: w, often: vast.NewColumn[twice](w).Named("often"),
					seldom: vast.NewColumn[twice](w).Named("seldom"),
					link:   vast.NewColumn[uint64](w).Named("link")}
				past, err := OpenAt(dir, w, f.Tick, Options{Build: "a"})
				if err != nil {
					t.Fatal(err)
				}
				want := uint32(f.Tick)
				for e := range w.Query(old.often).All() {
					v := old.often.Get(e)
					x := old.seldom.Get(e)
					if *v != (twice{want, 2 * want}) || *x != (twice{want / 3, want / 3 * 2}) {
						t.Fatalf("tick %d: entity %v has %v in often and %v in seldom", want, e, *v, *x)
					}
					last := f.Tick - (f.Tick-uint64(e.Slot()%64))%64
					if got := *old.link.Get(e); f.Tick >= 64 && got != last {
						t.Fatalf("tick %d: entity %v has %d in link, want %d", want, e, got, last)
					}
				}
				checked++
				if err := past.Close(); err != nil {
					t.Error(err)
				}
				w.Close()
			}
			if checked < ticks/4 {
				t.Errorf("%d checkpoints were checked, want at least %d", checked, ticks/4)
			}
		})
	}
}

// While spoilt is true, spoiltPages report that guarded memory was written.
type spoiltPages struct {
	exactPages
	spoilt *atomic.Bool
}

func (p *spoiltPages) release(unsafe.Pointer, int) bool { return !p.spoilt.Load() }

// TestSpoiltCopy: if memory is written while it is copied, the checkpoint fails. The error names the columns,
// and the next checkpoints copy these columns in the pause.
func TestSpoiltCopy(t *testing.T) {
	defer FindWritten(ByTheKernel)()
	var spoilt atomic.Bool
	newPages = func() pages { return &spoiltPages{spoilt: &spoilt} }
	l := newLateWorld(t)
	st, err := Open(t.TempDir(), l.w, Options{Every: time.Hour, Build: "a"})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	l.fill(1000)
	st.Attach(l.s)
	if err := st.Recover(nil, nil); err != nil {
		t.Fatal(err)
	}
	spoilt.Store(true)
	err = st.Checkpoint()
	if err == nil || !strings.Contains(err.Error(), "column link, often, seldom was written") {
		t.Fatalf("the error is %v", err)
	}
	for n := range eagerFor {
		if err := st.Checkpoint(); err != nil {
			t.Fatalf("checkpoint %d: %v", n, err)
		}
	}
	if err := st.Checkpoint(); err == nil {
		t.Errorf("after %d checkpoints, no column is copied late", eagerFor)
	}
	spoilt.Store(false)
	if err := st.Checkpoint(); err != nil {
		t.Error(err)
	}
}

// TestCopyOfLostMemory: a late copy of uncommitted memory is spoilt, and the process does not crash.
func TestCopyOfLostMemory(t *testing.T) {
	if vm.HeapStandIn() {
		t.Skip("regions are Go heap memory")
	}
	r, err := vm.Reserve(1<<20, vm.Options{Name: "lost"})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	a := &state.Array{Kind: state.Elements, Type: reflect.TypeFor[uint64](), Len: 1 << 10, Base: r.Base()}
	memory, err := bulk.NewArray[byte](bulk.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{pages: &exactPages{}, known: newKnown(), memory: memory}
	defer s.close()
	known := s.known.array(arrayKey{})
	known.fit(a.Len, unitOf(8), pieceOf(8), false)
	s.work = []comparison{{array: a, known: known, hot: true}}
	one := &lateArray{array: a, hi: 1, done: make(chan struct{})}
	one.left.Store(1)
	one.help(s)
	<-one.done
	if !one.torn.Load() {
		t.Error("the copy is not spoilt")
	}
}

// TestChangesBetweenTicksPreventLateCopies: after a program has changed the structure between ticks, the next
// checkpoints copy everything in the pause.
func TestChangesBetweenTicksPreventLateCopies(t *testing.T) {
	defer FindWritten(Exactly)()
	l := newLateWorld(t)
	st, err := Open(t.TempDir(), l.w, Options{Every: time.Hour, Build: "a"})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	l.fill(1)
	if err := st.Recover(nil, nil); err != nil {
		t.Fatal(err)
	}
	for changes := range 2 {
		if err := st.Checkpoint(); err != nil {
			t.Fatal(err)
		}
		if late := st.stage.late != nil; late != (changes == 0) {
			t.Errorf("after %d changes between ticks, arrays are late: %t", changes, late)
		}
		l.fill(1)
	}
	for range eagerFor + 1 {
		if err := st.Checkpoint(); err != nil {
			t.Fatal(err)
		}
	}
	if st.stage.late == nil {
		t.Errorf("no array is late after %d checkpoints without a change", eagerFor)
	}
}

// slowPages sleep before they report whether guarded memory was written.
type slowPages struct {
	exactPages
	delay time.Duration
}

func (p *slowPages) release(base unsafe.Pointer, n int) bool {
	time.Sleep(p.delay)
	return p.exactPages.release(base, n)
}

// TestSubmitWaitsForTheCopy: if Submit begins a checkpoint, it applies inputs only after the copy is
// complete.
func TestSubmitWaitsForTheCopy(t *testing.T) {
	defer FindWritten(Exactly)()
	newPages = func() pages { return &slowPages{delay: 20 * time.Millisecond} }
	l := newLateWorld(t)
	var st *Store
	inputs := 0 // number of inputs that were applied after a checkpoint with late columns
	apply := func([]byte) {
		p := st.late.Load()
		if p == nil {
			return
		}
		inputs++
		for _, a := range p.arrays {
			select {
			case <-a.done:
			default:
				t.Errorf("an input is applied before column %s is copied", a.name)
			}
		}
	}
	st, err := Open(t.TempDir(), l.w, Options{Every: time.Hour, Build: "a"})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	l.fill(1000)
	if err := st.Recover(apply, func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	if err := st.Checkpoint(); err != nil {
		t.Fatal(err)
	}
	st.Changed() // makes a checkpoint due
	done := make(chan error, 1)
	go func() { done <- st.Submit(t.Context(), []byte("edit")) }()
	for ended := false; !ended; {
		select {
		case err := <-done:
			if ended = true; err != nil {
				t.Error(err)
			}
		default:
			time.Sleep(time.Microsecond) // WebAssembly has one thread
			l.w.Admit(0)
		}
	}
	if inputs == 0 {
		t.Error("no copy was made after the pause")
	}
}

// TestPauseHasWaits: the pause that a checkpoint reports includes the time for which goroutines waited for
// the copy.
func TestPauseHasWaits(t *testing.T) {
	defer FindWritten(Exactly)()
	const delay = 100 * time.Millisecond
	newPages = func() pages { return &slowPages{delay: delay} }
	l := newLateWorld(t)
	got := make(chan Checkpoint, 10)
	notify := func(c Checkpoint) { got <- c }
	st, err := Open(t.TempDir(), l.w, Options{Every: time.Hour, Build: "a", Notify: notify})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	l.fill(1000)
	if err := st.Recover(nil, nil); err != nil { // waits for the copy
		t.Fatal(err)
	}
	if c := <-got; c.Err != nil || c.Pause < delay/2 { // the copy may have begun before the wait
		t.Errorf("the pause is %v, want at least %v; the error is %v", c.Pause, delay/2, c.Err)
	}
}

// TestUrgentColumns: a column that a system had to wait for is copied first by later checkpoints. Without
// further waits, this order does not change.
func TestUrgentColumns(t *testing.T) {
	defer FindWritten(Exactly)()
	l := newLateWorld(t)
	st, err := Open(t.TempDir(), l.w, Options{Every: time.Hour, Build: "a"})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	l.fill(1000)
	if err := st.Recover(nil, nil); err != nil {
		t.Fatal(err)
	}
	if err := st.Checkpoint(); err != nil {
		t.Fatal(err)
	}
	late := st.stage.late
	last := late.arrays[len(late.arrays)-1]
	st.stage.urgent[last.name] = 1 // as if a system had waited for it
	for range 3 {
		if err := st.Checkpoint(); err != nil {
			t.Fatal(err)
		}
		if first := st.stage.late.arrays[0].name; first != last.name {
			t.Errorf("column %s is copied first, want %s", first, last.name)
		}
	}
}

// BenchmarkLate measures the longest tick of a schedule during a checkpoint. Each tick writes one of 16
// columns of 16 MiB. The case "early" copies the columns in the pause. The case "late" copies them after the
// pause.
func BenchmarkLate(b *testing.B) {
	const columns, entities = 16, 1 << 20
	for _, way := range []string{"early", "late"} {
		b.Run(way, func(b *testing.B) {
			w := vast.NewWorld(vast.Options{MaxEntities: 1 << 21})
			defer w.Close()
			s := sched.New(w, sched.Options{Workers: 2})
			defer s.Close()
			var all []vast.AnyColumn
			for i := range columns {
				c := vast.NewColumn[[2]uint64](w).Named(fmt.Sprint("c", i))
				all = append(all, c)
				q := w.Query(c)
				s.Add(sched.System{Name: fmt.Sprint(i), Writes: sched.Columns(c),
					If: func(ctx *sched.Context) bool { return int(ctx.Tick()%columns) == i },
					Run: func(*sched.Context) {
						for run := range q.Runs() {
							for k := range c.Slice(run) {
								c.Slice(run)[k][0]++
							}
						}
					}})
			}
			dir := b.TempDir()
			st, err := Open(dir, w, Options{Every: time.Hour})
			if err != nil {
				b.Fatal(err)
			}
			defer st.Close()
			w.Archetype(all...).NewN(entities, func(vast.Run) {})
			st.Attach(s)
			if err := st.Recover(nil, nil); err != nil {
				b.Fatal(err)
			}
			if way == "early" {
				st.direct = math.MaxInt
			}
			var sum time.Duration
			for b.Loop() {
				for range columns {
					if err := s.Tick(); err != nil {
						b.Fatal(err)
					}
				}
				if err := st.finish(true); err != nil {
					b.Fatal(err)
				}
				longest := time.Duration(0)
				st.due = true
				for range columns {
					began := time.Now()
					if err := s.Tick(); err != nil {
						b.Fatal(err)
					}
					longest = max(longest, time.Since(began))
				}
				if err := st.finish(true); err != nil {
					b.Fatal(err)
				}
				sum += longest
			}
			b.ReportMetric(float64(sum.Microseconds())/1000/float64(b.N), "ms/longest-tick")
			os.RemoveAll(dir)
		})
	}
}
