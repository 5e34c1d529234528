package sched

import (
	"context"
	"slices"
	"testing"
	"time"
)

func TestTimes(t *testing.T) {
	var s times
	s.makeRoom(4)
	record := func(took ...time.Duration) {
		for _, d := range took {
			s.record(&measured{d, true})
		}
	}
	if got := s.recent(0, nil); got != nil {
		t.Errorf("recent before the first duration: %v", got)
	}
	if got := timesOf(nil); got != (Times{}) {
		t.Errorf("timesOf(nil): %+v", got)
	}
	record(5, 1, 3)
	s.record(&measured{took: 9}) // adds nothing, because done is false
	if got := s.recent(0, []time.Duration{7}); !slices.Equal(got, []time.Duration{7, 5, 1, 3}) {
		t.Errorf("recent of three durations: %v", got)
	}
	record(2, 8, 4)
	recent := map[uint64][]time.Duration{0: {3, 2, 8, 4}, 2: {3, 2, 8, 4}, 4: {8, 4}, 6: nil, 9: nil}
	for after, want := range recent {
		if got := s.recent(after, nil); !slices.Equal(got, want) {
			t.Errorf("recent after %d durations: %v, want %v", after, got, want)
		}
	}
	if got, want := s.stats(), (Times{Count: 6, Total: 23, Last: 4, P50: 3, P99: 8, Max: 8}); got != want {
		t.Errorf("stats of all durations: %+v, want %+v", got, want)
	}
	want := Times{Count: 4, Total: 17, Last: 4, P50: 3, P99: 8, Max: 8}
	if got := timesOf(s.recent(0, nil)); got != want {
		t.Errorf("timesOf the last durations: %+v, want %+v", got, want)
	}
	durations := make([]time.Duration, 200)
	for i := range durations {
		durations[i] = time.Duration(200 - i)
	}
	if got, want := timesOf(durations), (Times{200, 20100, 1, 100, 198, 200}); got != want {
		t.Errorf("timesOf 1 to 200: %+v, want %+v", got, want)
	}
}

func TestRecent(t *testing.T) {
	w, _ := newWorld(t, 0)
	s := newSchedule(t, w, Options{Workers: 1})
	a := w.Archetype()
	s.Add(System{Name: "all", Run: func(x *Context) {
		if x.Tick() < 10 {
			x.Commands().New(a)
		}
	}})
	s.Add(System{Name: "some", Run: nothing, Every: 3})
	s.Stats() // begins to measure
	var count uint64
	var list []time.Duration
	var total time.Duration
	for _, n := range []int{1, 7, 1000} {
		tick(t, s, n)
		before := count
		count, list = s.Recent(count, list[:0])
		if len(list) != n || count != before+uint64(n) {
			t.Fatalf("after %d more ticks: %d durations, count %d", n, len(list), count)
		}
		for _, took := range list {
			total += took
		}
	}
	if st := s.Stats(); st.Ticks.Total != total || st.Ticks.Count != count || st.Tick != count {
		t.Errorf("Stats: %d ticks, %v in total; Recent: %d ticks, %v in total", st.Ticks.Count,
			st.Ticks.Total, count, total)
	}
	tick(t, s, recentTicks+3)
	if count, list = s.Recent(count, nil); len(list) != recentTicks || count != 1008+recentTicks+3 {
		t.Errorf("after more ticks than the ring holds: %d durations, count %d", len(list), count)
	}
	if again, list := s.Recent(count, nil); again != count || list != nil {
		t.Errorf("without new ticks Recent returns %v, count %d", list, again)
	}
	st := s.Stats()
	_, list = s.Recent(count-recentRuns, nil)
	if st.RecentTicks.Count != recentRuns || st.RecentTicks != timesOf(list) {
		t.Errorf("the last ticks: %+v, want %+v", st.RecentTicks, timesOf(list))
	}
	if some := st.Systems[1]; some.Times.Count != count/3 || some.Recent.Count != recentRuns ||
		some.Recent.Last != some.Times.Last ||
		some.Recent.Max > some.Times.Max*101/100+1 || some.Recent.Total > some.Times.Total {
		t.Errorf("%+v", some)
	}
	if st.Applying.Count != 9 || st.RecentApplying.Count != 9 ||
		st.RecentApplying.Total != st.Applying.Total {
		t.Errorf("times of applying commands: %+v, recent times %+v", st.Applying, st.RecentApplying)
	}
}

func TestPausedAndRunning(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	var s *Schedule
	s, clock := loopOf(t, func(tick uint64, _ *fakeClock) {
		if !s.Running() {
			t.Error("Running is false in a system")
		}
		switch tick {
		case 1:
			s.Pause()
		case 3:
			stop()
		}
	})
	if s.Running() || s.Paused() {
		t.Errorf("before: running %v, paused %v", s.Running(), s.Paused())
	}
	clock.asleep = func() {
		if !s.Paused() || !s.Running() {
			t.Errorf("in a pause: paused %v, running %v", s.Paused(), s.Running())
		}
		if s.Step(1); !s.Paused() {
			t.Error("a step ends the pause")
		}
		if s.Stats().Tick == 2 {
			if s.Resume(); s.Paused() {
				t.Error("Resume does not end the pause")
			}
		}
	}
	if err := s.Run(ctx); err != nil {
		t.Fatal(err)
	}
	if s.Running() || s.Stats().Tick != 3 {
		t.Errorf("after: running %v, tick %d", s.Running(), s.Stats().Tick)
	}
}
