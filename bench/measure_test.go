package main

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"
)

// scripted returns a side whose sample i takes perRep[i] per repetition. Samples after the last element of
// perRep take this element's time. Each sample appends name to log.
func scripted(name string, log *[]string, units int, perRep ...time.Duration) side {
	calls := 0
	return side{
		units: units,
		sample: func(reps int) time.Duration {
			*log = append(*log, name)
			took := perRep[min(calls, len(perRep)-1)] * time.Duration(reps)
			calls++
			return took
		},
		check: func(int) error { return nil },
	}
}

func TestCompareTakesSamplesOfBothSidesInTurns(t *testing.T) {
	var log []string
	// Two samples calibrate a side. Each round then takes an untimed and a timed sample of each side.
	ours := scripted("o", &log, 2, 100, 100, 1, 60, 1, 20, 1, 80)
	theirs := scripted("t", &log, 4, 100, 100, 1, 400, 1, 800, 1, 40)
	m := measurement{sampleTime: 100}
	got := times{ours: []float64{5}} // from an earlier pass
	if err := m.compare(&ours, &theirs, 3, &got); err != nil {
		t.Fatal(err)
	}
	if want := []float64{5, 30, 10, 40}; !slices.Equal(got.ours, want) {
		t.Errorf("our samples are %v, want %v", got.ours, want)
	}
	if want := []float64{100, 200, 10}; !slices.Equal(got.theirs, want) {
		t.Errorf("the peer's samples are %v, want %v", got.theirs, want)
	}
	if got, want := strings.Join(log, ""), "oott"+strings.Repeat("oott", 3); got != want {
		t.Errorf("the order of samples is %s, want %s", got, want)
	}
}

func TestRowsHoldBestAndMedian(t *testing.T) {
	plans, err := choose("random", "7", peerArk)
	if err != nil {
		t.Fatal(err)
	}
	got := newRow(plans[0], &times{ours: []float64{4, 2, 9}, theirs: []float64{7, 5, 6}},
		&times{ours: []float64{8, 3}, theirs: []float64{50, 60}})
	want := row{Work: "random", N: 7, Peer: "ark", OursNS: 2, PeerNS: 5, Ratio: 2.5, OursMedianNS: 4,
		PeerMedianNS:     6,
		OursEmptyQueryNS: 3, PeerEmptyQueryNS: 50}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestMeasureAllSpreadsTheRoundsOverPasses(t *testing.T) {
	for _, c := range []struct{ rounds, passes, setUps int }{{1, 3, 1}, {2, 3, 2}, {3, 3, 3}, {7, 3, 3},
		{8, 3, 3}} {
		setUps, timed := 0, 0
		setUp := func(int) side {
			setUps++
			calls := 0
			return side{
				units: 1,
				sample: func(int) time.Duration {
					calls++
					return time.Second
				},
				check: func(int) error {
					timed += (calls - 2) / 2 // two calls calibrate the side; each round makes two calls
					return nil
				},
			}
		}
		work := workload{name: "scripted", matches: []match{{"peer", setUp, setUp, newEmptySlice}}}
		m := measurement{rounds: c.rounds, passes: c.passes, sampleTime: time.Microsecond}
		var got keeper
		if err := m.measureAll([]plan{{&work, &work.matches[0], 1}}, &got, io.Discard); err != nil {
			t.Fatal(err)
		}
		if setUps != 2*c.setUps || timed != 2*c.rounds || len(got.rows) != 1 {
			t.Errorf("%+v: both sides together have %d set-ups and %d timed samples, want %d and %d; "+
				"%d rows, want 1", c, setUps, timed, 2*c.setUps, 2*c.rounds, len(got.rows))
		}
	}
}

func TestRowsThatExceedRowTimeGetMinRoundsInOnePass(t *testing.T) {
	setUps, samples := 0, 0
	setUp := func(int) side {
		setUps++
		return side{
			units: 1,
			sample: func(int) time.Duration {
				samples++
				return time.Second
			},
			check: func(int) error { return nil },
		}
	}
	work := workload{name: "scripted", matches: []match{{peerArk, setUp, setUp, newEmptySlice}}}
	m := measurement{rounds: 30, passes: 3, sampleTime: time.Microsecond, rowTime: 1}
	var got keeper
	if err := m.measureAll([]plan{{&work, &work.matches[0], 1}}, &got, io.Discard); err != nil {
		t.Fatal(err)
	}
	// Two samples calibrate a side; each round takes two samples of each side.
	if want := 2 * (2 + 2*minRounds); setUps != 2 || samples != want || len(got.rows) != 1 {
		t.Errorf("%d set-ups, %d samples, %d rows; want 2, %d, 1", setUps, samples, len(got.rows), want)
	}
}

func TestCompareFailsWhenASideIsWrong(t *testing.T) {
	wrong := errors.New("seven entities too few")
	for _, party := range []int{0, 1} {
		var log []string
		closed := 0
		sides := [2]side{scripted("o", &log, 1, 100), scripted("t", &log, 1, 100)}
		for i := range sides {
			sides[i].close = func() { closed++ }
		}
		sides[party].check = func(done int) error {
			if want := 4; done != want {
				t.Errorf("check gets %d repetitions, want %d", done, want)
			}
			return wrong
		}
		m := measurement{sampleTime: 100}
		if err := m.compare(&sides[0], &sides[1], 1, &times{}); !errors.Is(err, wrong) {
			t.Errorf("party %d: error %v, want %v", party, err, wrong)
		}
		if closed != 2 {
			t.Errorf("party %d: %d sides were closed, want 2", party, closed)
		}
	}
}

func TestCalibrateReachesTheSampleTime(t *testing.T) {
	for _, perRep := range []time.Duration{0, 1, 3, 999, 1000, 5000} {
		var log []string
		// The first samples are too short for the clock, so calibrate tries more repetitions.
		s := scripted("s", &log, 1, 0, 0, 0, max(perRep, 1))
		m := measurement{sampleTime: 1000}
		reps := m.calibrate(&s)
		if took := max(perRep, 1) * time.Duration(reps); took < m.sampleTime {
			t.Errorf("%v per repetition: %d repetitions take %v, want at least %v", perRep, reps, took,
				m.sampleTime)
		}
	}
}

func TestTimeWorkLeavesTheUndoingOut(t *testing.T) {
	const pause = 20 * time.Millisecond
	state := 0
	sample := timeWork(&state,
		func(s *int) { *s++ },
		func(s *int) { *s += 10; time.Sleep(pause) })
	if took := sample(3); took >= 3*pause {
		t.Errorf("three additions took %v: undo was timed", took)
	}
	if state != 33 {
		t.Errorf("the state is %d after three repetitions, want 33", state)
	}
}

func TestTimeWorkSubtractsTheCostOfTheClock(t *testing.T) {
	if cost := clockCost(); cost < 0 || cost > 10*time.Microsecond {
		t.Errorf("reading the clock costs %v, want 0 to 10 µs", cost)
	}
	// The time of a sample must be positive, because it is a divisor.
	if took := timeWork(&struct{}{}, nothing, nothing)(1); took < 1 {
		t.Errorf("work that takes no time took %v, want 1 ns or more", took)
	}
}
