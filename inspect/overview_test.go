package inspect

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/sched"
)

// settle waits until the world has admitted the sampler.
func (f *fixture) settle(t *testing.T) (o overview, c Costs) {
	t.Helper()
	for range 120 {
		f.get(t, "overview", &o)
		f.get(t, "costs", &c)
		if o.Now.Entities > 0 && o.Now.Admitting && len(c.Columns) > 0 {
			return o, c
		}
		time.Sleep(sampleTime / 2)
	}
	t.Fatalf("the world did not admit the sampler in time: %+v", o.Now)
	return o, c
}

func TestOverview(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Options{})
	got, costs := f.settle(t)
	n := got.Now
	if n.Entities != 1003 || !n.Admitting || n.Pace == nil || n.Tick == 0 || n.BudgetSeconds != 0.005 ||
		n.TicksPerSecond <= 0 ||
		n.Memory.Committed <= 0 || n.Memory.Reserved < n.Memory.Committed || n.Memory.GoHeap <= 0 ||
		n.Goroutines < 5 || n.Paused {
		t.Errorf("the overview is %+v with %+v", n, n.Pace)
	}
	if age := time.Since(time.Unix(0, int64(n.At*1e9))); age < -time.Second || age > time.Minute {
		t.Errorf("the overview was taken %v ago", age)
	}
	if len(got.History) == 0 || got.History[len(got.History)-1].At < n.At {
		t.Errorf("the last sample is not among the %d samples of the history", len(got.History))
	}

	var systems, columns []string
	for _, c := range costs.Systems {
		systems = append(systems, c.Name)
		if c.Runs == 0 || c.Total <= 0 || c.Worst <= 0 || c.Phase != "update" {
			t.Errorf("system %+v", c)
		}
	}
	for i, c := range costs.Columns {
		columns = append(columns, c.Name)
		if i > 0 && c.Committed > costs.Columns[i-1].Committed {
			t.Errorf("%+v comes after a smaller column", c)
		}
		if c.Name == "Position" && (c.Entities != 1003 || c.Type != "inspect.Position" || c.Size != 8 ||
			c.Slots < 1003 ||
			c.Committed <= 0 || c.Reserved <= 0) {
			t.Errorf("column %+v", c)
		}
	}
	slices.Sort(systems)
	if !slices.Equal(systems, []string{"count", "infect", "move"}) || !slices.Contains(columns, "Position") ||
		!slices.Contains(columns, "Dead") {
		t.Errorf("systems %v, columns %v", systems, columns)
	}
}

func TestOverviewWithoutSchedule(t *testing.T) {
	t.Parallel()
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	f := &fixture{w: w}
	var err error
	if f.Inspector, err = Serve(context.Background(), w, Options{}); err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	admitted(w, func() {
		var got struct{ Now map[string]any }
		f.get(t, "overview", &got)
		if _, there := got.Now["tick"]; there || got.Now["entities"] == nil || got.Now["memory"] == nil {
			t.Errorf("without a schedule, the overview is %v, want entities and memory, but no tick", got.Now)
		}
	})
}

// admitted runs f on another goroutine, and admits visits until f returns.
func admitted(w *vast.World, f func()) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		f()
	}()
	for {
		select {
		case <-ended:
			return
		default:
			w.Admit(time.Millisecond)
			time.Sleep(time.Millisecond)
		}
	}
}

func TestOverviewTopics(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Options{})
	var ticks []uint64
	systems := 0
	for _, event := range readEvents(t, f, "topic=overview&topic=costs", 10) {
		name, data, _ := strings.Cut(event, "\ndata: ")
		var err error
		switch name {
		case "event: overview":
			var s Sample
			if err = json.Unmarshal([]byte(data), &s); err == nil && s.Pace != nil {
				ticks = append(ticks, s.Tick)
			}
		case "event: costs":
			var c Costs
			if err = json.Unmarshal([]byte(data), &c); err == nil {
				systems = max(systems, len(c.Systems))
			}
		default:
			t.Errorf("event %q", event)
		}
		if err != nil {
			t.Errorf("%s: %v", event, err)
		}
	}
	if n := len(ticks); n < 3 || ticks[n-1] <= ticks[0] || systems != 3 {
		t.Errorf("ticks %v, %d systems", ticks, systems)
	}
}

func TestCostsAreBounded(t *testing.T) {
	t.Parallel()
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	schedule := sched.New(w, sched.Options{Workers: 1})
	defer schedule.Close()
	for i := range maxCosts + 7 {
		schedule.Add(sched.System{Name: fmt.Sprint("s", i), Run: func(*sched.Context) {}})
		vast.NewTag(w, fmt.Sprint("t", i))
	}
	if err := schedule.Tick(); err != nil {
		t.Fatal(err)
	}
	in := &Inspector{world: w}
	s := newSampler(w, in.mainSchedule, in.control)
	admitted(w, func() {
		var c Costs
		// costs waits half a second for the columns. On a busy machine, half a second may be too short.
		for len(c.Columns) == 0 {
			var err error
			if c, err = s.costs(context.Background()); err != nil {
				t.Error(err)
				return
			}
		}
		if len(c.Systems) != maxCosts || len(c.Columns) != maxCosts || c.MoreSystems != 7 ||
			c.MoreColumns != 7 {
			t.Errorf("%d systems and %d more, %d columns and %d more", len(c.Systems), c.MoreSystems,
				len(c.Columns), c.MoreColumns)
		}
		s.close()
	})
}
