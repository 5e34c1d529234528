package earth

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gdamore/tcell/v2"
	"github.com/vastgo/vast/cmd/vast/internal/cli"
	"github.com/vastgo/vast/cmd/vast/internal/tty/ttytest"
	"github.com/vastgo/vast/internal/crashtest"
	"github.com/vastgo/vast/store"
)

// keptArgs returns the arguments of a small world in a folder, without an inspector.
func keptArgs(t *testing.T, dir string, args ...string) []string {
	t.Helper()
	return append([]string{"-places", write(t, "places.csv", village), "-hz", "0", "-inspect", "off", "-json",
		"-data", dir}, args...)
}

func runKept(t *testing.T, dir string, args ...string) (r report, stderr string) {
	t.Helper()
	status, stdout, stderr := runEarth(keptArgs(t, dir, args...)...)
	if err := json.Unmarshal([]byte(stdout), &r); err != nil || status != cli.Success {
		t.Fatalf("exit status %d, stdout %q, stderr %q: %v", status, stdout, stderr, err)
	}
	return r, stderr
}

func TestReportOfKeptWorld(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	a, stderr := runKept(t, dir, "-travellers", "300", "-seed", "7", "-ticks", "40")
	if a.ResumedAt == nil || *a.ResumedAt != 0 || a.Ticks != 40 || a.Seed != 7 {
		t.Errorf("%+v: want 40 ticks of a new world with seed 7", a)
	}
	if c := a.Checkpoints; c == nil || c.Count < 2 || c.Bytes < 10_000 || c.PauseMs.P50 <= 0 ||
		c.PauseMs.P50 > c.PauseMs.P99 || c.PauseMs.P99 > c.PauseMs.Max || c.Skipped < 0 {
		t.Errorf("checkpoints %+v: want the checkpoints of the beginning and of the end, and pauses with "+
			"0 < p50 <= p99 <= max", a.Checkpoints)
	}
	if !strings.HasSuffix(stderr, "# durable 40\n") {
		t.Errorf("stderr %q does not end with \"# durable 40\"", stderr)
	}
	b, stderr := runKept(t, dir, "-ticks", "100") // the folder has the seed and the travellers
	if *b.ResumedAt != 40 || b.Ticks != 100 || b.Seed != 7 || !strings.HasSuffix(stderr, "# durable 100\n") {
		t.Errorf("%+v, stderr %q: want ticks 41 to 100", b, stderr)
	}
	c, stderr := runKept(t, dir, "-ticks", "60", "-seed", "7", "-travellers", "300")
	if *c.ResumedAt != 100 || c.Ticks != 100 || c.StateHash != b.StateHash || stderr != "" {
		t.Errorf("%+v, stderr %q: want the world at tick 100", c, stderr)
	}
	if b.StructuralChanges <= a.StructuralChanges || c.StructuralChanges != b.StructuralChanges {
		t.Errorf("%d, %d and %d structural changes in three runs; want more in the second run than in the "+
			"first, and no more in the third", a.StructuralChanges, b.StructuralChanges, c.StructuralChanges)
	}

	text, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(text, &fields); err != nil {
		t.Fatal(err)
	}
	part, _ := fields["checkpoints"].(map[string]any)
	if got := slices.Sorted(maps.Keys(part)); fields["resumed_at"] != 100.0 ||
		!slices.Equal(got, []string{"bytes", "count", "pause_ms", "skipped"}) {
		t.Errorf("%s: checkpoints has the fields %q", text, got)
	}
}

func TestFoldersThatAreRefused(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	runKept(t, dir, "-travellers", "300", "-seed", "7", "-ticks", "10")
	file := write(t, "file", "text")
	foreign := filepath.Dir(file)
	for _, c := range []struct {
		name   string
		args   []string
		status int
		want   []string
	}{
		{"seed", keptArgs(t, dir, "-seed", "8"), cli.Misuse, []string{"-seed 8", "the seed 7", dir}},
		{"travellers", keptArgs(t, dir, "-travellers", "301"), cli.Misuse,
			[]string{"-travellers 301", "300", dir}},
		{"places", keptArgs(t, dir, "-places", write(t, "places.csv", village+"Bern,47,7,CH,1\n")),
			cli.Misuse, []string{"other places", dir}},
		{"a file", keptArgs(t, file), cli.Failure, []string{file}},
		{"another folder", keptArgs(t, foreign), cli.Failure, []string{foreign, "is not a store"}},
	} {
		status, stdout, stderr := runEarth(c.args...)
		if status != c.status || stdout != "" || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: exit status %d, stdout %q, stderr %q; want %d, nothing and one line", c.name,
				status, stdout, stderr, c.status)
		}
		for _, want := range c.want {
			if !strings.Contains(stderr, want) {
				t.Errorf("%s: stderr %q lacks %q", c.name, stderr, want)
			}
		}
	}
	if r, _ := runKept(t, dir, "-ticks", "20"); *r.ResumedAt != 10 {
		t.Errorf("%+v: a refused run has changed the folder", r)
	}
}

func TestFolderInUse(t *testing.T) {
	dir := t.TempDir()
	b := begin(t, "-json", "-data", dir, "-hz", "50")
	b.url()
	status, _, stderr := runEarth(keptArgs(t, dir, "-ticks", "1")...)
	if want := fmt.Sprintf("is in use by process %d", os.Getpid()); status != cli.Failure ||
		!strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
		t.Errorf("exit status %d, stderr %q; want %d and %q", status, stderr, cli.Failure, want)
	}
}

// TestRemedyOfOtherBuild checks that the error for ticks of another build names -drop-tail, and that vast
// earth has this flag.
func TestRemedyOfOtherBuild(t *testing.T) {
	err := withRemedy("data", fmt.Errorf("store: %w", &store.BuildError{Recorded: "a", Build: "b", Tick: 8,
		Base: 7, Ticks: 3}))
	for _, want := range []string{"3 ticks after tick 7 of data", "-drop-tail"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q lacks %q", err, want)
		}
	}
	if other := errors.New("other"); withRemedy("data", other) != other {
		t.Error("withRemedy changes an unrelated error")
	}
	if o, err := parse([]string{"-data", "data", "-drop-tail"}); err != nil || !o.dropTail {
		t.Errorf("%+v, %v", o, err)
	}
	if _, err := parse([]string{"-drop-tail"}); err == nil {
		t.Error("-drop-tail is accepted without -data")
	}
	dir := t.TempDir()
	runKept(t, dir, "-travellers", "300", "-ticks", "10")
	if r, _ := runKept(t, dir, "-ticks", "20", "-drop-tail"); *r.ResumedAt != 10 {
		t.Errorf("the run resumed after tick %d, want 10", *r.ResumedAt)
	}
}

// TestEditsSurvive checks that an edit in the inspector survives a crash right after the inspector's
// response, in a running and in a paused world.
func TestEditsSurvive(t *testing.T) {
	weight := func(u *url.URL, entity string) string {
		var text []byte
		request(t, "GET", u, "entities/"+entity, "", &text)
		_, after, _ := strings.Cut(string(text), `"Weight"`)
		return after[:min(len(after), 200)]
	}
	for _, paused := range []bool{false, true} {
		dir := t.TempDir()
		b := begin(t, "-json", "-data", dir, "-hz", "200", "-inspect-write")
		u := b.url()
		var picked struct{ Picked []struct{ Entity string } }
		request(t, "GET", u, "views/earth/pick?x=12&y=42&radius=2", "", &picked)
		if len(picked.Picked) != 1 {
			t.Fatalf("picked %+v, want Roma", picked)
		}
		roma := picked.Picked[0].Entity
		if paused {
			status := request(t, "POST", u, "control", `{"action":"pause"}`, nil)
			if status != http.StatusOK {
				t.Fatalf("pause: %d", status)
			}
		}
		path, body := "entities/"+roma+"/components/Site", `{"path":"Weight","value":1234567}`
		if status := request(t, "PATCH", u, path, body, nil); status != http.StatusOK {
			t.Fatalf("edit: %d", status)
		}
		again := begin(t, "-json", "-data", crashtest.Copy(t, dir), "-hz", "1", "-inspect-write")
		if got := weight(again.url(), roma); !strings.Contains(got, "1234567") {
			t.Errorf("paused %v: the edit is not durable: %s", paused, got)
		}
		again.end()
		b.end()
		var r report
		_, text, _ := strings.Cut(b.text(), "{")
		if err := json.Unmarshal([]byte("{"+strings.SplitN(text, "\n", 2)[0]), &r); err != nil {
			t.Fatalf("%v in %s", err, b.text())
		}
		last, _ := runKept(t, dir, "-ticks", "1")
		if last.StateHash != r.StateHash || *last.ResumedAt != r.Ticks {
			t.Errorf("paused %v: the next run has hash %s and resumed after tick %d; want %s and tick %d",
				paused, last.StateHash, *last.ResumedAt, r.StateHash, r.Ticks)
		}
	}
}

func TestFailedCheckpointEndsTheRun(t *testing.T) {
	w, s := &fakeWorld{}, newSaves()
	d := newDriver(w, options{})
	d.saves = s
	d.start(nil)
	broken := errors.New("write checkpoint-00000002.new: input/output error")
	s.add(store.Checkpoint{Tick: 7, Err: broken, Skipped: 2})
	<-d.done
	if !errors.Is(d.err, broken) || !strings.Contains(d.err.Error(), "tick 7") {
		t.Errorf("the run ended with %v, want %v", d.err, broken)
	}
	if r := s.report(); r.Count != 0 || r.Skipped != 2 || r.PauseMs != (pauseReport{}) {
		t.Errorf("%+v, want no checkpoint and 2 skipped", r)
	}
}

func TestScreenShowsCheckpoints(t *testing.T) {
	w := &fakeWorld{}
	d := newDriver(w, options{hz: 1000})
	d.saves = newSaves()
	p := &terminal{ttytest.Show(t, 80, 24, "UTF-8", fallbacks(), func(s *ttytest.Screen) int {
		status := watchScreen(d, newReader(w.counts), notes{"", inspectorURL, true}, s, s.Signals)
		d.halt()
		return status
	}), d}
	p.Lines(t, 80, 24, "checkpoint none yet")
	d.saves.add(store.Checkpoint{Tick: 5, Bytes: 3 << 20, Pause: 12345 * time.Microsecond})
	lines := strings.Join(p.Lines(t, 80, 24, "s ago"), "\n")
	for _, want := range []string{"checkpoint 0.", "pause 12.3 ms", "3 MiB", "inspector "} {
		if !strings.Contains(lines, want) {
			t.Errorf("the screen lacks %q:\n%s", want, lines)
		}
	}
	p.ResizeTo(80, 13)
	if lines := strings.Join(p.Lines(t, 80, 13, "tick p50"), "\n"); strings.Contains(lines, "checkpoint") {
		t.Errorf("a small screen shows checkpoints:\n%s", lines)
	}
	p.End(t, tcell.KeyRune, 'q', cli.Success)
}
