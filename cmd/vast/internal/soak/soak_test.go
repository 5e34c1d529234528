package soak

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/bulk"
	"github.com/vastgo/vast/cmd/vast/internal/cli"
	"github.com/vastgo/vast/internal/longtest"
	"github.com/vastgo/vast/vm"
)

// short returns a soak that runs the minimum number of rounds.
func short(t *testing.T, churns ...churn) *soak {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	s := newSoak(options{length: time.Millisecond, seed: seed, workers: 2})
	s.wait = time.Second
	if churns != nil {
		s.churns = churns
	}
	return s
}

func TestNothingGrows(t *testing.T) {
	s := short(t)
	s.wait = time.Minute
	if !longtest.Enabled() {
		s.churns = slices.DeleteFunc(s.churns, func(c churn) bool {
			return strings.HasPrefix(c.name, "hostile") || strings.HasPrefix(c.name, "worn")
		})
	}
	r := s.run()
	if r.Rounds != minRounds || r.Operations < 100_000 {
		t.Errorf("%d rounds, %d operations; want %d and at least 100,000", r.Rounds, r.Operations,
			minRounds)
	}
	if longtest.Enabled() && r.Hostile < 1_000_000 {
		t.Errorf("%d hostile references, want at least 1,000,000", r.Hostile)
	}
	if r.Wrong != "" {
		t.Error(r.Wrong)
	}
	// This test checks only exact figures, because the medians of few rounds may differ on a machine that is
	// busy with other tests.
	for _, g := range r.Grown {
		if i := slices.IndexFunc(judged, func(f figure) bool { return f.name == g.Figure }); judged[i].exact {
			t.Error(g, r.More)
		}
	}
}

func TestLeaks(t *testing.T) {
	longtest.Only(t)
	var closing []func()
	t.Cleanup(func() {
		for _, f := range closing {
			f()
		}
	})
	kept := mustReturn(bulk.NewArray[[mebibyte / 4]byte](bulk.Options{Capacity: 100}))
	closing = append(closing, func() { kept.Close() })
	for _, c := range []struct {
		figure string
		leave  func(t *testing.T)
	}{
		{"regions", func(*testing.T) {
			r := mustReturn(vm.Reserve(1<<20, vm.Options{Name: "left behind"}))
			closing = append(closing, func() { r.Close() })
		}},
		{"reserved memory", func(*testing.T) {
			r := mustReturn(vm.Reserve(1<<20, vm.Options{}))
			closing = append(closing, func() { r.Close() })
		}},
		{"goroutines", func(*testing.T) {
			stop := make(chan struct{})
			go func() { <-stop }()
			closing = append(closing, func() { close(stop) })
		}},
		{"file descriptors", func(t *testing.T) {
			if openDescriptors() == 0 {
				t.Skip("this system does not report the number of open files")
			}
			f, err := os.Open(os.DevNull)
			mustSucceed(err)
			closing = append(closing, func() { f.Close() })
		}},
		{"committed memory", func(*testing.T) { mustReturn(kept.AppendN(4)) }},
		{"Go heap", func(*testing.T) {
			garbage := make([]byte, 2*mebibyte)
			closing = append(closing, func() { clear(garbage) })
		}},
	} {
		t.Run(c.figure, func(t *testing.T) {
			s := short(t, churn{name: "leak", round: func(*rand.Rand) { c.leave(t) }})
			s.workers = 1
			// The first leak happens on the goroutine of the test, because leave may skip the test.
			s.churns[0].round(nil)
			r := s.run()
			if !slices.ContainsFunc(r.Grown, func(g growth) bool {
				return g.Figure == c.figure &&
					g.To > g.From
			}) {
				t.Errorf("each round leaks, but the soak does not find it: %+v", r)
			}
			if !r.failed() || !strings.Contains(r.summary(), c.figure+" grew from ") {
				t.Errorf("the summary does not name the figure:\n%s", r.summary())
			}
			if named := strings.Contains(r.summary(),
				"\nregions named left behind: "); named != (c.figure == "regions") {
				t.Errorf("the summary names the leaked regions: %t, want %t\n%s", named, !named, r.summary())
			}
		})
	}
}

// TestWrongAnswer checks that a wrong answer ends the soak, and that the report names the round, the churn
// and the answer.
func TestWrongAnswer(t *testing.T) {
	for text, f := range map[string]func(){
		"7 is not 8":           func() { must(false, "%d is not %d", 7, 8) },
		"panic: it is a panic": func() { panic("it is a panic") },
		vm.ErrSize.Error():     func() { mustReturn(vm.Reserve(-1, vm.Options{})) },
		"a panic of a goroutine": func() {
			var g together
			g.run(func() { panic("a panic of a goroutine") })
			g.wait()
		},
	} {
		rounds := 0
		s := short(t, churn{name: "strange", round: func(*rand.Rand) {
			if rounds++; rounds == 3 {
				f()
			}
		}})
		r := s.run()
		if !r.failed() || r.Rounds != 2 || !strings.Contains(r.Wrong, "round 2: strange: ") ||
			!strings.Contains(r.Wrong, text) ||
			!strings.Contains(r.summary(), text) {
			t.Errorf("want a failure with %q in round 2: %+v", text, r)
		}
	}
}

func TestSignalEnds(t *testing.T) {
	signals := make(chan os.Signal, 1)
	rounds := 0
	s := short(t, churn{name: "idle", round: func(*rand.Rand) {
		if rounds++; rounds == 5 {
			signals <- os.Interrupt
		}
	}})
	s.length, s.signals = time.Hour, signals
	lines := 0
	s.print = func(string) { lines++ }
	if r := s.run(); !r.Interrupted || r.Rounds != 5 || r.failed() || lines == 0 {
		t.Errorf("%d lines, %+v; want lines, and an interrupted report after 5 rounds", lines, r)
	}
	signals <- os.Interrupt
	if r := short(t).with(signals).run(); !r.Interrupted || r.Rounds != 0 || r.failed() {
		t.Errorf("a signal before the first round: %+v, want an interrupted report after 0 rounds", r)
	}
}

func (s *soak) with(signals <-chan os.Signal) *soak {
	s.signals = signals
	return s
}

func TestFlags(t *testing.T) {
	for _, c := range []struct {
		args   string
		status int
		tells  string
	}{
		{"-h", cli.Success, "usage: vast soak"},
		{"-for 0s", cli.Misuse, "-for 0s"},
		{"-for soon", cli.Misuse, "soon"},
		{"-workers 0", cli.Misuse, "-workers 0"},
		{"-workers 5000", cli.Misuse, "-workers 5000"},
		{"-nonsense", cli.Misuse, "nonsense"},
		{"now", cli.Misuse, `"now"`},
	} {
		var out, errs bytes.Buffer
		if got := Run(strings.Fields(c.args), &out, &errs); got != c.status ||
			!strings.Contains(out.String()+errs.String(), c.tells) {
			t.Errorf("%s: exit status %d, %q, %q", c.args, got, out.String(), errs.String())
		}
	}
	o, err := parse(strings.Fields("-for 1h -seed 7 -workers 3 -json"), nil)
	if want := (options{time.Hour, 7, 3, true}); err != nil || o != want {
		t.Errorf("%+v, %v", o, err)
	}
}

func TestJSON(t *testing.T) {
	r := report{Seed: 3, Rounds: 2, Last: figures{Descriptors: 9},
		Grown: []growth{{Figure: "goroutines", From: 2, To: 3}}}
	var out bytes.Buffer
	if err := write(&out, options{json: true}, r); err != nil {
		t.Fatal(err)
	}
	var back report
	if err := json.Unmarshal(out.Bytes(), &back); err != nil || back.Seed != 3 ||
		back.Last.Descriptors != 9 || !slices.Equal(back.Grown, r.Grown) {
		t.Errorf("%s: %v, %+v", out.String(), err, back)
	}
	out.Reset()
	if err := write(&out, options{json: true}, report{}); err != nil ||
		!strings.Contains(out.String(), `"grown":[]`) {
		t.Errorf("%v: %s", err, out.String())
	}
}

// TestWornIsReplaced checks that a round replaces a container with many worn-out slots (see wear.go), and
// closes the old container. Otherwise, the old container would count as a leak.
func TestWornIsReplaced(t *testing.T) {
	longtest.Only(t) // it inserts half a million elements three times
	var sum tally
	c := openWorn()
	c.round(&sum)
	before, first := vm.Snapshot(false).Total(), c.last
	c.worn = make([]vast.Entity, 2*maxWorn) // simulates worn-out slots; the zero Entity is never valid
	c.round(&sum)
	if after := vm.Snapshot(false).Total(); len(c.worn) != 0 || c.count != 0 ||
		after.Regions != before.Regions || after.Reserved != before.Reserved {
		t.Errorf("after the replacement: %d worn references and %d uses, want 0 and 0; memory %+v "+
			"before and %+v after, want the same regions and reserved bytes", len(c.worn), c.count, before,
			after)
	}
	if c.round(&sum); c.count != insertions || c.alive(first) {
		t.Errorf("the first slot of the new container has %d uses, want %d; a reference to the old "+
			"container is valid: %t, want false", c.count, insertions, c.alive(first))
	}
	mustSucceed(c.close())
}
