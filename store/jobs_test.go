package store_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/crashtest"
	"github.com/vastgo/vast/sched"
	"github.com/vastgo/vast/store"
)

// plan is the input of a job, which computes the next value of an entity.
type plan struct {
	Entity vast.Entity
	Noise  sched.Random
	Value  float64
}

// planner is a world whose systems start jobs in each tick, and use the results JobsOptions.Ticks ticks
// later.
type planner struct {
	w     *vast.World
	s     *sched.Schedule
	st    *store.Store
	value vast.Column[float64]
	jobs  *sched.Jobs[plan, []float64]
}

func nothingToRead(*vast.World, map[string]any) error { return nil }

// newPlanner makes a planner. open may read a saved world into it. If gate is not nil, each job waits until
// gate is closed.
func newPlanner(workers int, gate <-chan struct{}, options sched.JobsOptions,
	open func(*vast.World, map[string]any) error) (*planner, error) {
	w := vast.NewWorld(vast.Options{MaxEntities: 1 << 12})
	p := &planner{w: w, value: vast.NewColumn[float64](w)}
	p.s = sched.New(w, sched.Options{Seed: 3, Workers: workers})
	options.Workers = workers
	p.jobs = sched.NewJobs(p.s, func(_ context.Context, in plan) []float64 {
		if gate != nil {
			<-gate
		}
		path := []float64{in.Value}
		for range 3 {
			path = append(path, path[len(path)-1]/2+in.Noise.Float64())
		}
		return path
	}, options)
	q := w.Query(p.value)
	p.s.Add(sched.System{Name: "use", Writes: sched.Columns(p.value),
		WritesResources: sched.Resources(p.jobs.Resource()), Run: func(c *sched.Context) {
			for in, path := range p.jobs.Results(c) {
				if v := p.value.Get(in.Entity); v != nil {
					*v = *v/3 + path[len(path)-1]
				}
			}
		}})
	p.s.Add(sched.System{Name: "plan", Reads: sched.Columns(p.value),
		WritesResources: sched.Resources(p.jobs.Resource()), Run: func(c *sched.Context) {
			for slot := range q.Slots() {
				e := slot.Entity()
				if r := c.Random(e); r.Chance(0.3) {
					in := plan{e, *c.RandomOf(r.Uint64()), *p.value.At(slot)}
					if err := p.jobs.Start(c, in); err != nil {
						panic(err)
					}
				}
			}
		}})
	if err := open(w, map[string]any{"plans": p.jobs}); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

func (p *planner) close() {
	if p.st != nil {
		p.st.Close()
	}
	p.s.Close()
	p.w.Close()
}

func (p *planner) sum() string {
	var b strings.Builder
	for slot := range p.w.Query(p.value).Slots() {
		fmt.Fprintln(&b, *p.value.At(slot))
	}
	return b.String()
}

func (p *planner) run(t *testing.T, ticks int) {
	t.Helper()
	if err := p.s.RunTicks(t.Context(), ticks); err != nil {
		t.Fatal(err)
	}
}

// keptPlanner makes a planner with a store in the folder dir. An input starts a job.
func keptPlanner(t *testing.T, dir string, workers int, options sched.JobsOptions) *planner {
	t.Helper()
	p, err := newPlanner(workers, nil, options, nothingToRead)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.close)
	if p.st, err = store.Open(dir, p.w, store.Options{Every: time.Hour,
		Containers: map[string]any{"plans": p.jobs}}); err != nil {
		t.Fatal(err)
	}
	if p.st.New() {
		p.w.Archetype(p.value).NewN(40, nil)
	}
	p.st.Attach(p.s)
	apply := func(input []byte) {
		e, _ := p.w.Query(p.value).First()
		in := plan{Entity: e, Value: float64(binary.LittleEndian.Uint64(input))}
		if err := p.jobs.Start(nil, in); err != nil {
			panic(err)
		}
	}
	if err := p.st.Recover(apply, p.s.Tick); err != nil {
		t.Fatal(err)
	}
	return p
}

// TestJobsInFlightAreKept: a process that opens a store starts the jobs again that were in flight at the
// checkpoint, and a replay gives the same world, on any number of workers.
func TestJobsInFlightAreKept(t *testing.T) {
	dir := t.TempDir()
	options := sched.JobsOptions{Ticks: 5}
	a := keptPlanner(t, dir, 2, options)
	a.run(t, 20)
	if n := a.s.Stats().Jobs[0].InFlight; n == 0 {
		t.Fatal("no job is in flight")
	}
	func() {
		defer func() {
			if v := fmt.Sprint(recover()); !strings.Contains(v, "make the Jobs before Attach") {
				t.Errorf("NewJobs after Attach panics with %v", v)
			}
		}()
		sched.NewJobs(a.s, func(context.Context, int) int { return 0 }, sched.JobsOptions{Name: "late"})
	}()
	if err := a.st.Checkpoint(); err != nil {
		t.Fatal(err)
	}
	at20 := crashtest.Copy(t, dir)
	a.run(t, 3)
	record := func(value uint64) {
		position, err := a.st.Record(binary.LittleEndian.AppendUint64(nil, value))
		if err == nil {
			err = a.st.Wait(t.Context(), position)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	record(1000)
	a.run(t, 4)
	record(2000)                                            // makes the ticks durable
	b := keptPlanner(t, crashtest.Copy(t, dir), 1, options) // replays seven ticks and the first input
	if b.st.LastTick() != 27 || a.sum() != b.sum() {
		t.Fatalf("tick %d: the worlds differ", b.st.LastTick())
	}
	a.run(t, 10)
	b.run(t, 10)
	if a.sum() != b.sum() {
		t.Error("the worlds differ ten ticks later")
	}
	x, y := a.s.Stats().Jobs[0], b.s.Stats().Jobs[0]
	if x.InFlight != y.InFlight {
		t.Errorf("%d jobs are in flight, want %d", y.InFlight, x.InFlight)
	}

	// Program c continues from the checkpoint at tick 20: the copy at20 of the folder lacks the later ticks
	// and the inputs. Program d runs the same ticks without an interruption.
	c, d := keptPlanner(t, at20, 2, options), keptPlanner(t, t.TempDir(), 1, options)
	d.run(t, 20)
	c.run(t, 15)
	d.run(t, 15)
	if c.sum() != d.sum() {
		t.Error("a program that continues from the checkpoint differs from one without an interruption")
	}

	// Fewer Ticks in a new build do not change the jobs in flight.
	e := keptPlanner(t, crashtest.Copy(t, at20), 1, sched.JobsOptions{Ticks: 2})
	if got := e.s.Stats().Jobs[0]; got.InFlight == 0 || got.Started != uint64(got.InFlight) {
		t.Errorf("after Open: %+v", got)
	}
	e.run(t, 10)
}

// TestJobsSavedBesideTicks: Save and Load keep the number of ticks that a job has left.
func TestJobsSavedBesideTicks(t *testing.T) {
	a, err := newPlanner(1, nil, sched.JobsOptions{Ticks: 4}, nothingToRead)
	if err != nil {
		t.Fatal(err)
	}
	defer a.close()
	a.w.Archetype(a.value).NewN(40, nil)
	a.run(t, 9)
	var file bytes.Buffer
	if err := store.Save(a.w, &file, store.Options{Containers: map[string]any{"plans": a.jobs}}); err != nil {
		t.Fatal(err)
	}
	load := func(options sched.JobsOptions, gate chan struct{}) (*planner, error) {
		return newPlanner(2, gate, options, func(w *vast.World, containers map[string]any) error {
			_, err := store.Load(w, bytes.NewReader(file.Bytes()), store.Options{Containers: containers})
			return err
		})
	}
	gate := make(chan struct{})
	b, err := load(sched.JobsOptions{Ticks: 4}, gate)
	if err != nil {
		t.Fatal(err)
	}
	defer b.close()
	want := a.s.Stats().Jobs[0].InFlight
	if got := b.s.Stats().Jobs[0]; got.InFlight != want || want == 0 {
		t.Errorf("%d jobs are in flight, want %d", got.InFlight, want)
	}
	if _, err := store.Load(b.w, bytes.NewReader(file.Bytes()), store.Options{
		Containers: map[string]any{"plans": b.jobs}}); err == nil {
		t.Error("Load into Jobs that have jobs returns no error")
	}
	close(gate)
	b.run(t, 4)
	if got := b.s.Stats().Jobs[0]; got.Started-uint64(got.InFlight) != uint64(want) {
		t.Errorf("after four ticks: %+v; want the results of the %d jobs of the file to be handed in", got,
			want)
	}
	if _, err := load(sched.JobsOptions{Limit: 3}, nil); err == nil || !strings.Contains(err.Error(),
		"and JobsOptions.Limit of \"plan\" is 3: raise the limit") {
		t.Errorf("a lower limit: %v", err)
	}
}

// TestJobsMustBeKept: a schedule whose jobs the store does not keep cannot be attached.
func TestJobsMustBeKept(t *testing.T) {
	p, err := newPlanner(1, nil, sched.JobsOptions{}, nothingToRead)
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	if p.st, err = store.Open(t.TempDir(), p.w, store.Options{}); err != nil {
		t.Fatal(err)
	}
	defer func() {
		want := `store: Store.Attach: a restart would lose the jobs in flight of the Jobs "plan": make the ` +
			"Jobs before Open, and name it in Options.Containers"
		if v := recover(); v != want {
			t.Errorf("got %v, want %v", v, want)
		}
	}()
	p.st.Attach(p.s)
}

// TestCheckRepeatsJobs: a check finds a job that depends on more than its input, and accepts other jobs.
func TestCheckRepeatsJobs(t *testing.T) {
	dir := t.TempDir()
	calls := 0
	for _, wrong := range []bool{false, true} {
		open := func(open func(*vast.World, store.Options) (*store.Store, error), o store.Options,
			then func(*store.Store, *sched.Schedule) error) error {
			w := vast.NewWorld(vast.Options{MaxEntities: 1 << 10})
			defer w.Close()
			value := vast.NewColumn[int](w)
			s := sched.New(w, sched.Options{Workers: 1})
			defer s.Close()
			calls++
			mine := calls
			jobs := sched.NewJobs(s, func(_ context.Context, in int) int {
				if wrong {
					return in + mine
				}
				return in + 1
			}, sched.JobsOptions{Ticks: 3})
			o.Containers = map[string]any{"jobs": jobs}
			st, err := open(w, o)
			if err != nil {
				return err
			}
			defer st.Close()
			if st.New() {
				w.Archetype(value).NewN(1, nil)
			}
			q := w.Query(value)
			s.Add(sched.System{Name: "a", Writes: sched.Columns(value),
				WritesResources: sched.Resources(jobs.Resource()), Run: func(c *sched.Context) {
					for slot := range q.Slots() {
						for _, v := range jobs.Results(c) {
							*value.At(slot) += v
						}
						if err := jobs.Start(c, *value.At(slot)); err != nil {
							panic(err)
						}
					}
				}})
			st.Attach(s)
			if err := st.Recover(func([]byte) {}, s.Tick); err != nil {
				return err
			}
			return then(st, s)
		}
		done := make(chan error, 10)
		o := store.Options{Every: time.Hour, Check: store.Check{Every: 1,
			Again: func(again func(*vast.World, store.Options) (*store.Store, error)) error {
				return open(again, store.Options{}, func(*store.Store, *sched.Schedule) error { return nil })
			},
			Done: func(_ uint64, err error) { done <- err }}}
		folder := dir + fmt.Sprint(wrong)
		err := open(func(w *vast.World, o store.Options) (*store.Store, error) {
			return store.Open(folder, w, o)
		}, o, func(st *store.Store, s *sched.Schedule) error {
			for range 2 {
				if err := s.RunTicks(t.Context(), 10); err != nil {
					return err
				}
				if err := st.Checkpoint(); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := <-done; (err != nil) != wrong {
			t.Errorf("wrong %v: %v", wrong, err)
		}
	}
}
