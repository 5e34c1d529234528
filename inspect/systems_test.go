package inspect

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/sched"
)

func (f *fixture) waitForTicks(t testing.TB, n uint64) {
	t.Helper()
	for f.schedule.Stats().Tick < n {
		f.see(t, func() {})
	}
}

func TestSystems(t *testing.T) {
	f := newFixture(t, Options{ReadWrite: true})
	f.schedule.Stats() // starts the measurement
	f.waitForTicks(t, f.schedule.Stats().Tick+4)
	var a systemsAnswer
	f.get(t, "systems", &a)
	if a.Control != (controlAnswer{Available: true}) || len(a.Schedules) != 1 {
		t.Fatalf("control %+v, %d schedules", a.Control, len(a.Schedules))
	}
	s := a.Schedules[0]
	if s.ID != f.schedule.ID() || !s.Main || s.Workers != 2 || s.Rate != 200 || s.CatchUp != 4 ||
		!s.Stats.Running || s.Stats.Tick < 3 ||
		s.Stats.Budget != 0.005 {
		t.Errorf("schedule %+v", s)
	}
	want := []systemEntry{
		{"move", "update", false, []string{}, 0, 0, 0, []string{"Velocity"}, []string{"Position"}, []string{},
			[]string{}},
		{"infect", "update", false, []string{}, 0, 0, 0, []string{}, []string{"Infected"}, []string{},
			[]string{}},
		{"count", "update", false, []string{}, 0, 0, 0, []string{"Position", "Infected"}, []string{},
			[]string{}, []string{}},
	}
	if fmt.Sprint(s.Systems) != fmt.Sprint(want) {
		t.Errorf("systems %+v, want %+v", s.Systems, want)
	}
	if len(s.Edges) != 2 || !slices.ContainsFunc(s.Edges, func(e sched.Edge) bool {
		return e.From == "move" && e.To == "count" &&
			slices.Equal(e.Why, []string{"move writes Position, count reads it"})
	}) {
		t.Errorf("edges %+v", s.Edges)
	}
	for i, sys := range s.Stats.Systems {
		if sys.Name != want[i].Name || sys.Times.Count < 3 || sys.Times.Total < 0 || sys.Recent.Count == 0 ||
			sys.Recent.Max < sys.Recent.P50 {
			t.Errorf("system %d: %+v", i, sys)
		}
	}
	if r := s.Stats.RecentTicks; r.Count == 0 || r.P99 < r.P50 || r.Total < r.Max {
		t.Errorf("recent ticks %+v", r)
	}
	f.schedule.Pause()
	f.get(t, "systems", &a)
	if !a.Control.Paused {
		t.Errorf("control of a paused program: %+v", a.Control)
	}
}

// TestSystemsOfSeveralSchedules checks which schedule is the main schedule, and how many schedules the answer
// lists. It also checks the answers for a world without a schedule.
func TestSystemsOfSeveralSchedules(t *testing.T) {
	f := newFixture(t, Options{})
	f.waitForTicks(t, 1)
	other := sched.New(f.w, sched.Options{Workers: 1})
	defer other.Close()
	var a systemsAnswer
	f.get(t, "systems", &a)
	if len(a.Schedules) != 2 || !a.Schedules[0].Main || a.Schedules[1].Main ||
		a.Schedules[1].ID != other.ID() ||
		a.Schedules[1].Systems == nil || a.Schedules[1].Edges == nil {
		t.Errorf("%+v", a)
	}

	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	in, err := Serve(t.Context(), w, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	g := &fixture{Inspector: in}
	g.get(t, "systems", &a)
	if len(a.Schedules) != 0 || a.Schedules == nil || a.Control.Available || a.Control.Reason == "" {
		t.Errorf("a world without a schedule: %+v", a)
	}
	if p := g.refused(t, http.StatusNotFound, "GET", "systems/timeline", "", ""); p.Code != "noSchedule" {
		t.Errorf("the timeline of a world without a schedule: %+v", p)
	}
	var list []*sched.Schedule
	for range maxSchedules + 1 {
		s := sched.New(w, sched.Options{Workers: 1})
		defer s.Close()
		list = append(list, s)
	}
	for range 2 {
		if err := list[3].Tick(); err != nil {
			t.Fatal(err)
		}
	}
	if err := list[5].Tick(); err != nil {
		t.Fatal(err)
	}
	g.get(t, "systems", &a)
	if len(a.Schedules) != maxSchedules || g.mainSchedule() != list[3] || !a.Schedules[3].Main ||
		a.Schedules[3].Stats.Tick != 2 ||
		a.Schedules[3].Stats.Running {
		t.Errorf("%d schedules: %+v", len(a.Schedules), a.Schedules[3])
	}
}

func TestSystemsTopic(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Options{})
	answer, err := http.Get(f.at(prefix + "stream?topic=systems"))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	lines := bufio.NewScanner(answer.Body)
	var last uint64
	for events := 0; events < 2 && lines.Scan(); {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		events++
		var e systemsEvent
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			t.Fatal(err)
		}
		if len(e.Schedules) != 1 || e.Schedules[0].ID != f.schedule.ID() ||
			events > 1 && e.Schedules[0].Tick <= last ||
			events > 1 && len(e.Schedules[0].Systems) != 3 || e.Control.Available {
			t.Errorf("%s after tick %d", data, last)
		}
		last = e.Schedules[0].Tick
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	if last == 0 {
		t.Error("the stream sent no event")
	}
}
