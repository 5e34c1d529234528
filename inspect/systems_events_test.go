package inspect

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/event"
	"github.com/vastgo/vast/sched"
)

type ping struct{ X, Y float64 }

// sendEvents adds a schedule with a system that sends three events in each tick, and makes two ticks.
func sendEvents(t *testing.T, w *vast.World, name string) *sched.Schedule {
	t.Helper()
	s := sched.New(w, sched.Options{Workers: 1})
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	q := event.New[ping](s, event.Options{Name: name})
	event.New[ping](s, event.Options{Name: "unused"})
	s.Add(sched.System{Name: "send", WritesResources: sched.Resources(q.Resource()),
		Run: func(c *sched.Context) {
			for range 3 {
				q.Send(c, ping{})
			}
		}})
	for range 2 {
		if err := s.Tick(); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func TestSystemsOfEvents(t *testing.T) {
	w := vast.NewWorld(vast.Options{Name: "events"})
	defer w.Close()
	s := sendEvents(t, w, "notes")
	in, err := Serve(t.Context(), w, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	var a systemsAnswer
	(&fixture{Inspector: in}).get(t, "systems", &a)
	text, err := json.Marshal(a.Schedules[0].Stats.Events)
	if err != nil {
		t.Fatal(err)
	}
	bytes := s.Stats().Events[0].Bytes
	want := fmt.Sprintf(`[{"name":"notes","type":"inspect.ping","last":3,"total":6,"bytes":%d},`+
		`{"name":"unused","type":"inspect.ping","last":0,"total":0,"bytes":0}]`, bytes)
	if string(text) != want || bytes < 16<<10 {
		t.Errorf("the queues are %s, want %s", text, want)
	}
	if uses := a.Schedules[0].Systems[0].WritesResources; len(uses) != 1 || uses[0] != "notes" {
		t.Errorf("the system writes the resources %q", uses)
	}

	registry := prometheus.NewRegistry()
	registry.MustRegister(NewCollector(w))
	admitted(w, func() {
		families := gather(t, registry)
		total := metricOf(families["vast_events_total"], "queue=notes",
			"world=events").GetCounter().GetValue()
		committed := metricOf(families["vast_events_committed_bytes"], "queue=notes",
			"world=events").GetGauge().GetValue()
		if total != 6 || committed != float64(bytes) {
			t.Errorf("the metrics say %v events and %v bytes, want 6 and %d", total, committed, bytes)
		}
	})
}

func TestSystemsPageShowsEvents(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Options{})
	p := openSystems(t, f)
	p.Until("document.querySelectorAll('.cost-table tbody tr.pick').length === 3")
	const panel = "[...document.querySelectorAll('.systems-body .panel')].find((e) => " +
		"e.textContent.startsWith('Events'))"
	p.Until(panel + ".hidden")
	var s *sched.Schedule
	f.see(t, func() { s = sendEvents(t, f.w, hostileName) })
	p.Until("document.querySelectorAll('.systems-control option').length === 2")
	p.Eval(fmt.Sprintf(`(() => {
		const s = document.querySelector('.systems-control select');
		s.value = '%d';
		s.dispatchEvent(new Event('change'));
	})()`, s.ID()), nil)
	p.Until("!" + panel + ".hidden")
	var cells string
	p.Eval(panel+".querySelector('tbody tr').innerText", &cells)
	if want := hostileName; len(cells) < len(want) || cells[:len(want)] != want {
		t.Errorf("the first row is %q, want one that begins with %q", cells, want)
	}
}
