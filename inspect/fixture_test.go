package inspect

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/sched"
)

type (
	Position struct{ X, Y float32 }
	Velocity struct{ X, Y float32 }
	Stage    uint8
	Strain   struct {
		Number uint16
		Rates  [3]float64
	}
	Infected struct {
		Stage  Stage
		Since  int64
		Strain Strain
		Source vast.Entity
	}
	Ship struct {
		Hull  int32
		Decks [64]int32
	}
	Note struct {
		Text string
		Tags []string
		Next *Note
	}
	Road struct{ Length float32 }
)

const (
	Mild Stage = iota
	Severe
)

func (s Stage) String() string {
	switch s {
	case Mild:
		return "Mild"
	case Severe:
		return "Severe"
	}
	return fmt.Sprintf("Stage(%d)", uint8(s))
}

// hostileName is a name that must never become part of a page's HTML.
const hostileName = `<img src=x onerror=alert(1)>`

// fixture is a world with a running schedule and an inspector. The schedule owns the world until the test
// ends: a test must access the world only in see.
type fixture struct {
	*Inspector
	w        *vast.World
	schedule *sched.Schedule
	position vast.Column[Position]
	velocity vast.Column[Velocity]
	infected vast.Column[Infected]
	dead     vast.Tag
	ship     vast.SparseColumn[Ship]
	note     vast.HeapColumn[Note]
	names    *vast.Names
	childOf  vast.Relation
	road     vast.Edges[Road]

	paris, london, hostile vast.Entity // three towns; hostile has the name hostileName
	// Every tenth person is infected, every hundredth person is dead. Person i is a child of town i%3.
	people []vast.Entity
}

// newFixture starts a world of 3 towns and 1,000 people. Its schedule makes 200 ticks a second.
func newFixture(t testing.TB, o Options) *fixture { return newFixtureOf(t, o, 1000) }

func newFixtureOf(t testing.TB, o Options, people int) *fixture {
	t.Helper()
	w := vast.NewWorld(vast.Options{Name: "fixture", MaxEntities: max(1<<14, 2*people)})
	f := &fixture{
		w: w, position: vast.NewColumn[Position](w), velocity: vast.NewColumn[Velocity](w),
		infected: vast.NewColumn[Infected](w),
		dead:     vast.NewTag(w, "Dead"), ship: vast.NewSparseColumn[Ship](w),
		note: vast.NewHeapColumn[Note](w), names: w.Names(),
		childOf: vast.NewRelation(w, "ChildOf", vast.RelationOptions{}),
		road:    vast.NewEdges[Road](w, "Road", vast.EdgesOptions{}),
	}
	o.Views = append(o.Views, Plane("plane", Bounds{X1: 1000, Y1: 1000}, f.position,
		func(p *Position) (x, y float64) { return float64(p.X), float64(p.Y) }, f.infected, f.dead))
	towns := w.Archetype(f.position)
	for i, name := range []string{"Paris", "London", hostileName} {
		e := towns.New()
		*f.position.Get(e) = Position{float32(i), 50}
		if _, err := f.names.Set(e, name); err != nil {
			t.Fatal(err)
		}
		*[]*vast.Entity{&f.paris, &f.london, &f.hostile}[i] = e
	}
	f.road.Add(f.paris, f.london, Road{344})
	f.ship.Add(f.london, Ship{Hull: 7})
	f.note.Add(f.paris, Note{Text: "Ville lumière", Tags: []string{"river", hostileName}})
	f.childOf.Set(f.london, f.paris)
	w.Archetype(f.position, f.velocity).NewN(people, func(r vast.Run) {
		p, v := f.position.Slice(r), f.velocity.Slice(r)
		for i := range r.Len() {
			n := len(f.people)
			p[i], v[i] = Position{float32(n), float32(n % 10)}, Velocity{0, 1}
			f.people = append(f.people, r.Entity(i))
		}
	})
	for i, e := range f.people {
		f.childOf.Set(e, []vast.Entity{f.paris, f.london, f.hostile}[i%3])
		if i%10 == 0 {
			f.infected.Add(e, Infected{Stage: Stage(i / 10 % 2), Since: int64(i), Strain: Strain{Number: 3},
				Source: f.people[0]})
		}
		if i%100 == 0 {
			f.dead.Add(e)
		}
	}

	f.schedule = sched.New(w, sched.Options{Workers: 2, Rate: 200})
	moving := w.Query(f.position, f.velocity).Without(f.dead)
	f.schedule.Add(sched.System{Name: "move", Reads: sched.Columns(f.velocity),
		Writes: sched.Columns(f.position),
		Run: func(c *sched.Context) {
			c.Each(moving, 256, func(c *sched.Context, b vast.Batch) {
				for run := range b.Runs() {
					p, v := f.position.Slice(run), f.velocity.Slice(run)
					for i := range p {
						p[i].Y += v[i].Y
					}
				}
			})
		}})
	f.schedule.Add(sched.System{Name: "infect", Writes: sched.Columns(f.infected),
		Run: func(*sched.Context) {}})
	f.schedule.Add(sched.System{Name: "count", Reads: sched.Columns(f.position, f.infected),
		Run: func(*sched.Context) {}})

	ctx, cancel := context.WithCancel(context.Background())
	in, err := Serve(ctx, w, o)
	if err != nil {
		t.Fatal(err)
	}
	f.Inspector = in
	ended := make(chan error, 1)
	go func() { ended <- f.schedule.Run(ctx) }()
	for end := time.Now().Add(time.Minute); !f.schedule.Running(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the schedule has not started within a minute")
		}
	}
	t.Cleanup(func() {
		in.Close()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := f.schedule.Close(); err != nil {
			t.Error(err)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

func (f *fixture) at(path string) string { return "http://" + f.Addr().String() + path }

func (f *fixture) do(t testing.TB, method, path, token, body string) (int, []byte) {
	t.Helper()
	r, err := http.NewRequest(method, f.at(path), strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, text
}

// get requests a path of the API and decodes the JSON answer. The status must be 200.
func (f *fixture) get(t testing.TB, path string, into any) {
	t.Helper()
	status, body := f.do(t, "GET", prefix+path, f.options.Token, "")
	if status != http.StatusOK {
		t.Fatalf("GET %s: %d %s", path, status, body)
	}
	if err := json.Unmarshal(body, into); err != nil {
		t.Fatalf("GET %s: %v in %s", path, err, body)
	}
}

// refused sends a request that the server must refuse with the given status.
func (f *fixture) refused(t testing.TB, status int, method, path, token, body string) problem {
	t.Helper()
	got, text := f.do(t, method, prefix+path, token, body)
	var answer struct{ Error problem }
	if err := json.Unmarshal(text, &answer); err != nil || got != status || answer.Error.Message == "" ||
		answer.Error.Code == "" {
		t.Fatalf("%s %s: %d %s, want the status %d and an error", method, path, got, text, status)
	}
	return answer.Error
}

// see calls visit between two ticks. visit may read and change the world.
func (f *fixture) see(t testing.TB, visit func()) {
	t.Helper()
	if err := f.look(context.Background(), func() bool { visit(); return true }); err != nil {
		t.Fatal(err)
	}
}

// holds waits until condition returns true. It calls condition between ticks.
func (f *fixture) holds(t testing.TB, what string, condition func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		yes := false
		f.see(t, func() { yes = condition() })
		if yes {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("not true within 30 s: %s", what)
		}
	}
}
