package inspect

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/sched"
)

// TestSystemsOfJobs: the answer has the background jobs of a schedule.
func TestSystemsOfJobs(t *testing.T) {
	w := vast.NewWorld(vast.Options{Name: "jobs"})
	defer w.Close()
	s := sched.New(w, sched.Options{Workers: 1})
	defer s.Close()
	same := func(_ context.Context, in int) int { return in }
	jobs := sched.NewJobs(s, same, sched.JobsOptions{Name: "paths"})
	for i := range 3 {
		if err := jobs.Start(nil, i); err != nil {
			t.Fatal(err)
		}
	}
	in, err := Serve(t.Context(), w, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	var a systemsAnswer
	(&fixture{Inspector: in}).get(t, "systems", &a)
	text, err := json.Marshal(a.Schedules[0].Stats.Jobs)
	if err != nil {
		t.Fatal(err)
	}
	const want = `[{"name":"paths","inFlight":3,"started":3,"late":0,"waitedSeconds":0,"longestSeconds":0}]`
	if string(text) != want {
		t.Errorf("the jobs are %s, want %s", text, want)
	}
}
