package inspect

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestTimeline(t *testing.T) {
	f := newFixture(t, Options{ReadWrite: true})
	for _, ticks := range []int{1, 5} {
		var a timelineAnswer
		f.get(t, fmt.Sprintf("systems/timeline?ticks=%d&schedule=%d", ticks, f.schedule.ID()), &a)
		if !a.Fresh || a.Schedule != f.schedule.ID() || len(a.Ticks) != ticks {
			t.Fatalf("%d ticks of schedule %d, fresh: %t; want %d fresh ticks of schedule %d", len(a.Ticks),
				a.Schedule, a.Fresh, ticks, f.schedule.ID())
		}
		for i, tick := range a.Ticks {
			systems, parts := make(map[string]int), 0
			for _, s := range tick.Spans {
				if s.Start < 0 || s.End < s.Start || s.End > tick.Took || s.Worker < 0 || s.Worker > 1 {
					t.Errorf("the span %+v does not lie within its tick of %v s", s, tick.Took)
				}
				switch {
				case s.Kind == "system" && s.Part == -1:
					systems[s.System]++
				case s.Kind == "part" && s.System == "move" && s.Part >= 0:
					parts++
				case s.Kind == "wait" && s.System == "move" && s.Part == -1:
				default:
					t.Errorf("unexpected span %+v", s)
				}
			}
			if tick.Tick != a.Ticks[0].Tick+uint64(i) || tick.Workers != 2 || tick.Lost != 0 ||
				tick.Began < 1e9 || len(tick.Phases) != 1 ||
				tick.Phases[0].Phase != "update" || fmt.Sprint(systems) != "map[count:1 infect:1 move:1]" ||
				parts < 1000/256 {
				t.Errorf("tick %+v: spans of systems %v, %d parts", tick, systems, parts)
			}
		}
	}
	for _, query := range []string{"ticks=0", "ticks=6", "ticks=x", "ticks=-1", "schedule=x", "schedule=-1"} {
		f.refused(t, http.StatusBadRequest, "GET", "systems/timeline?"+query, "", "")
	}
	f.refused(t, http.StatusNotFound, "GET", "systems/timeline?schedule=999999999", "", "")
}

// TestTimelineOfAPausedProgram: the timeline of a paused program is the recording of its last step.
func TestTimelineOfAPausedProgram(t *testing.T) {
	f := newFixture(t, Options{ReadWrite: true})
	f.order(t, `{"action":"pause"}`)
	f.see(t, func() {})
	if p := f.refused(t, http.StatusConflict, "GET", "systems/timeline", "", ""); p.Code != "paused" {
		t.Errorf("before the first recording: %+v", p)
	}
	for range 2 {
		made := f.step(t, 1)
		var a timelineAnswer
		f.get(t, "systems/timeline", &a)
		if a.Fresh || len(a.Ticks) != 1 || a.Ticks[0].Tick != made.Tick || len(a.Ticks[0].Spans) < 3 {
			t.Errorf("the timeline after the step %+v is %+v", made, a)
		}
	}
}

// TestTimelinesAreBounded: while maxRecording requests record, a further request is refused.
func TestTimelinesAreBounded(t *testing.T) {
	// The requests wait for a tick, because this Control does not report the pause of the schedule.
	f := newFixture(t, Options{Control: &noted{}, Patience: 5 * time.Minute})
	f.schedule.Pause()
	f.see(t, func() {})
	var asking sync.WaitGroup
	for range maxRecording {
		asking.Go(func() {
			status, body := f.do(t, "GET", prefix+"systems/timeline", "", "")
			if status != http.StatusOK {
				t.Errorf("%d %s", status, body)
			}
		})
	}
	for len(f.records) < maxRecording {
		f.see(t, func() {})
	}
	if p := f.refused(t, http.StatusServiceUnavailable, "GET", "systems/timeline", "", ""); p.Code != "busy" {
		t.Errorf("a request beyond the limit: %+v", p)
	}
	f.schedule.Resume()
	asking.Wait()
}

func TestTimelineWithoutTicks(t *testing.T) {
	f := newFixture(t, Options{Control: &noted{}, Patience: 100 * time.Millisecond})
	f.schedule.Pause()
	for {
		// The schedule may still make ticks until the pause takes effect.
		status, body := f.do(t, "GET", prefix+"systems/timeline", "", "")
		if status == http.StatusOK {
			continue
		}
		if status != http.StatusServiceUnavailable || !strings.Contains(string(body), "noTick") {
			t.Errorf("%d %s", status, body)
		}
		return
	}
}
