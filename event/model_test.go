package event_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/event"
	"github.com/vastgo/vast/internal/longtest"
	"github.com/vastgo/vast/internal/modeltest"
	"github.com/vastgo/vast/sched"
)

// mark is the event type of the model.
type mark struct {
	System, Part, Number int32 // System is -1 for a hook, and -2 for the program between ticks
	Tick                 uint32
}

// sent is an event with its target.
type sent struct {
	target vast.Entity
	mark   mark
}

// modelSystem is a random system.
type modelSystem struct {
	name          string
	number        int32
	phase         sched.Phase
	exclusive     bool
	reads, writes [2]bool // by queue
	parts         int     // number of parts that send
	skips         uint64  // the system does not run in ticks that are multiples of skips; 0 if it always runs
	panics        uint64  // tick in which the system panics after it has sent; 0 if it never panics
	hook          bool    // whether the system makes an entity, whose hook sends an event
	readers       [2]*event.Reader[mark]
	at            [2]int // positions of the model's readers, by queue
	all, next, of []sent // what the system read in its last run
}

// runs reports whether the system runs in a tick.
func (s *modelSystem) runs(tick uint64) bool { return s.skips == 0 || tick%s.skips != 0 }

// marks returns the events that a part sends to a queue in a tick. Part 0 is the code before Context.Split,
// and part s.parts+1 is the code after it.
func (s *modelSystem) marks(queue, part int, tick uint64, targets []vast.Entity) (list []sent) {
	if !s.writes[queue] {
		return nil
	}
	n := (int(s.number)*7 + int(tick)*3 + part*5 + queue) % 4
	if (int(tick)+part+queue)%9 == 0 {
		n += 40
	}
	for i := range n {
		one := sent{mark: mark{s.number, int32(part), int32(i), uint32(tick)}}
		if i%3 != 0 {
			one.target = targets[(i+int(s.number))%len(targets)]
		}
		list = append(list, one)
	}
	return list
}

// modelQueue is a queue as plain slices.
type modelQueue struct {
	previous, current, next []sent
	base                    int // number of the events before previous
}

func (q *modelQueue) begin() {
	q.base += len(q.previous)
	q.previous, q.current, q.next = q.current, q.next, nil
}

func (q *modelQueue) all() []sent { return slices.Concat(q.previous, q.current) }

var errModel = errors.New("a planned panic")

// play runs random systems, and compares what they read with the model.
func play(t *testing.T, data []byte, workers int) {
	b := modeltest.NewStream(data)
	w := vast.NewWorld(vast.Options{MaxEntities: 1 << 12})
	defer w.Close()
	s := sched.New(w, sched.Options{Workers: workers, Phases: []sched.Phase{"one", "two"}})
	defer s.Close()
	var queues [2]*event.Queue[mark]
	for i := range queues {
		queues[i] = event.New[mark](s, event.Options{Name: fmt.Sprint("queue ", i), MaxBytes: 1 << 18})
	}
	tag := vast.NewTag(w, "made")
	made := w.Archetype(tag)
	hooked, modelHooked := int32(0), int32(0)
	targets := make([]vast.Entity, 5)
	for i := range targets {
		targets[i] = w.Archetype().New()
	}
	tag.OnAdd(func(e vast.Entity) {
		queues[0].SendTo(nil, targets[0], mark{System: -1, Number: hooked})
		hooked++
	})
	systems := make(map[string]*modelSystem)
	for i := range 1 + b.Below(10) {
		one := &modelSystem{name: fmt.Sprint("s", i), number: int32(i),
			phase: []sched.Phase{"one", "two"}[b.Below(2)], exclusive: b.Below(5) == 0, parts: b.Below(5),
			hook: b.Below(3) == 0}
		if b.Below(3) == 0 {
			one.skips = uint64(2 + b.Below(3))
		}
		if one.exclusive && b.Below(3) == 0 {
			one.panics = uint64(2 + b.Below(5))
		}
		sys := sched.System{Name: one.name, Phase: one.phase, Exclusive: one.exclusive}
		for k, q := range queues {
			if one.reads[k] = b.Below(2) == 0; one.reads[k] {
				sys.ReadsResources = append(sys.ReadsResources, q.Resource())
				one.readers[k] = q.NewReader()
			}
			if one.writes[k] = b.Below(2) == 0; one.writes[k] {
				sys.WritesResources = append(sys.WritesResources, q.Resource())
			}
		}
		sys.If = func(c *sched.Context) bool { return one.runs(c.Tick()) }
		sys.Run = func(c *sched.Context) {
			send := func(c *sched.Context, part int) {
				for k, q := range queues {
					for _, e := range one.marks(k, part, c.Tick(), targets) {
						if e.target.IsZero() {
							q.Send(c, e.mark)
						} else {
							q.SendTo(c, e.target, e.mark)
						}
					}
				}
			}
			send(c, 0)
			c.Split(one.parts, func(c *sched.Context, i int) { send(c, i+1) })
			send(c, one.parts+1)
			one.all, one.next, one.of = nil, nil, nil
			for k, q := range queues {
				if !one.reads[k] {
					continue
				}
				for target, e := range q.All(c) {
					one.all = append(one.all, sent{target, e})
				}
				if n := q.Len(c); n != len(slices.Collect(keys(q, c))) {
					t.Errorf("Len is %d", n)
				}
				left := one.readers[k].Len(c)
				for target, e := range one.readers[k].Next(c) {
					one.next = append(one.next, sent{target, e})
					left--
				}
				if left != 0 {
					t.Errorf("Reader.Len differs by %d from the number of events", left)
				}
				for _, target := range targets {
					for e := range q.Of(c, target) {
						one.of = append(one.of, sent{target, e})
					}
				}
			}
			if one.hook {
				c.Commands().New(made)
			}
			if one.panics == c.Tick() {
				panic(errModel)
			}
		}
		systems[one.name] = one
		s.Add(sys)
	}
	if err := s.Build(); err != nil {
		t.Fatal(err)
	}
	graph := s.Graph().Systems
	outside := queues[1].NewReader()
	outsideAt := 0
	var model [2]modelQueue
	for range 3 + b.Below(8) {
		between := b.Below(4)
		for i := range between {
			e := sent{targets[i], mark{System: -2, Number: int32(i)}}
			queues[i%2].SendTo(nil, e.target, e.mark)
			model[i%2].next = append(model[i%2].next, e)
		}
		err := s.Tick()
		for k := range model {
			model[k].begin()
		}
		failed := false
		hooks := 0
		apply := func() {
			for range hooks {
				model[0].current = append(model[0].current, sent{targets[0], mark{System: -1,
					Number: modelHooked}})
				modelHooked++
			}
			hooks = 0
		}
		tick := s.Stats().Tick
		for i, g := range graph {
			if i > 0 && (g.Exclusive || graph[i-1].Exclusive || g.Phase != graph[i-1].Phase) {
				apply()
			}
			one := systems[g.Name]
			if !one.runs(tick) {
				continue
			}
			var all, next, of []sent
			for k := range model {
				if !one.reads[k] {
					continue
				}
				q := &model[k]
				all = append(all, q.all()...)
				one.at[k] = max(one.at[k], q.base)
				next = append(next, q.all()[one.at[k]-q.base:]...)
				one.at[k] = q.base + len(q.all())
				for _, target := range targets {
					for _, e := range q.all() {
						if e.target == target {
							of = append(of, e)
						}
					}
				}
			}
			for k := range model {
				for part := range one.parts + 2 {
					model[k].current = append(model[k].current, one.marks(k, part, tick, targets)...)
				}
			}
			for what, lists := range map[string][2][]sent{"All": {one.all, all}, "Next": {one.next, next},
				"Of": {one.of, of}} {
				if !slices.Equal(lists[0], lists[1]) {
					t.Fatalf("tick %d, %d workers, system %s: %s yields\n%v, want\n%v", tick, workers, g.Name,
						what, lists[0], lists[1])
				}
			}
			if one.panics == tick {
				failed, hooks = true, 0
				break
			}
			if one.hook {
				hooks++
			}
		}
		apply()
		if failed != (err != nil) || failed && !errors.Is(err, errModel) {
			t.Fatalf("tick %d: %v, want a failed tick: %v", tick, err, failed)
		}
		for k := range model {
			if st := s.Stats().Events[k]; st.Last != len(model[k].current) {
				t.Fatalf("tick %d: the statistics have %d events, want %d", tick, st.Last,
					len(model[k].current))
			}
		}
		var got []sent
		for target, e := range outside.Next(nil) {
			got = append(got, sent{target, e})
		}
		q := &model[1]
		if want := q.all()[max(outsideAt, q.base)-q.base:]; !slices.Equal(got, want) {
			t.Fatalf("tick %d: the outside reader yields\n%v, want\n%v", tick, got, want)
		}
		outsideAt = q.base + len(q.all())
		if b.Below(12) == 0 {
			if err := s.Reset(1); err != nil {
				t.Fatal(err)
			}
			model, outsideAt = [2]modelQueue{}, 0
			for _, one := range systems {
				one.at = [2]int{}
			}
		}
	}
}

// keys yields the targets of all events.
func keys(q *event.Queue[mark], c *sched.Context) func(yield func(vast.Entity) bool) {
	return func(yield func(vast.Entity) bool) {
		for target := range q.All(c) {
			if !yield(target) {
				return
			}
		}
	}
}

// TestModel compares random systems with plain slices, on one worker and on several.
func TestModel(t *testing.T) {
	for range longtest.Pick(30, 500) {
		data := modeltest.RandomBytes(t, 200)
		for _, workers := range []int{1, 4} {
			play(t, data, workers)
		}
	}
}

func FuzzModel(f *testing.F) {
	f.Add([]byte{9, 1, 2, 3, 0, 1, 1, 0, 4, 0, 2, 1, 0, 0, 1, 2, 0, 1, 0, 8, 7, 200, 11, 3, 5, 5, 5})
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, workers := range []int{1, 3} {
			play(t, data, workers)
		}
	})
}
