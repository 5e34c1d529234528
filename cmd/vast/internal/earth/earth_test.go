package earth

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vastgo/vast/cmd/vast/earth/places"
	"github.com/vastgo/vast/cmd/vast/internal/cli"
	"github.com/vastgo/vast/internal/clock/clocktest"
)

// village is a small places file.
const village = `name,lat,lon,country,population
Zürich,47.37,8.55,CH,400000
Genève,46.2,6.15,CH,200000
Roma,41.9,12.5,IT,2700000
Tokyo,35.7,139.7,JP,9700000
Quito,-0.2,-78.5,EC,1600000
`

func write(t *testing.T, name, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func runEarth(args ...string) (status int, stdout, stderr string) {
	var out, errs bytes.Buffer
	status = Run(args, &out, &errs)
	return status, out.String(), errs.String()
}

// runWorld runs a world without an inspector.
func runWorld(w world, o options, signals <-chan os.Signal, stdout, stderr io.Writer) int {
	return run(newDriver(w, o), notes{credits: o.credits()}, o, signals, stdout, stderr)
}

func TestHelp(t *testing.T) {
	status, stdout, stderr := runEarth("-h")
	if status != cli.Success || stderr != "" {
		t.Fatalf("exit status %d, stderr %q", status, stderr)
	}
	for _, want := range []string{
		"usage: vast earth [flags]", "-travellers", "-places", "-hz", "-ticks", "-for", "-seed", "-workers",
		"-memory-limit", "-json", "-plain", "-capture", "-inspect", "-inspect-write", "(default 1000000)",
		"NO_COLOR", places.Attribution,
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("help lacks %q:\n%s", want, stdout)
		}
	}
}

func TestBadInput(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing.txt")
	_, err := os.Open(missing)
	const header = "name,lat,lon\n"
	for _, c := range []struct {
		name string
		args []string
		file string // contents of a file to add as -places; empty: add no -places
		want []string
	}{
		{"unknown flag", []string{"-nope"}, "", []string{"-nope"}},
		{"negative number", []string{"-travellers", "-5"}, "", []string{"-travellers", "-5"}},
		{"contradiction", []string{"-json", "-plain"}, "", []string{"contradict"}},
		{"missing file", []string{"-places", missing}, "",
			[]string{missing + ": " + errors.Unwrap(err).Error() + "\n"}},
		{"directory", []string{"-places", t.TempDir()}, "", []string{"is a directory"}},
		{"empty file", nil, "\n", []string{"FILE:"}},
		{"header alone", nil, header, []string{"FILE:"}},
		{"cut off", nil, header + "Roma,41.9,12.5\nTokyo,35", []string{"FILE:3: "}},
		{"binary", nil, "\x7fELF\x02\x01\x01\x00\x00\x00\xff\xfe\n\x00\x00", []string{"FILE:1: "}},
		{"not a number", nil, header + "Roma,NaN,12.5\n", []string{"FILE:2: ", "NaN"}},
		{"off the Earth", nil, header + "Roma,41.9,12.5\nNowhere,91,0\n", []string{"FILE:3: ", "91"}},
		{"10 MB line", nil, header + strings.Repeat("x", 10<<20) + ",1,2\n", []string{"FILE:2: "}},
	} {
		args, file := c.args, ""
		if c.file != "" {
			file = write(t, "places.csv", c.file)
			args = append(args, "-places", file)
		}
		status, stdout, stderr := runEarth(args...)
		if status != cli.Misuse || stdout != "" {
			t.Errorf("%s: exit status %d, stdout %q, want %d and nothing", c.name, status, stdout, cli.Misuse)
		}
		if !strings.HasPrefix(stderr, "vast earth: ") || strings.Count(stderr, "\n") != 1 ||
			len(stderr) > 1000 {
			t.Errorf("%s: stderr %.1000q, want one line", c.name, stderr)
		}
		for _, want := range c.want {
			if want = strings.ReplaceAll(want, "FILE", file); !strings.Contains(stderr, want) {
				t.Errorf("%s: stderr %.1000q lacks %q", c.name, stderr, want)
			}
		}
	}
}

func TestMemoryLimit(t *testing.T) {
	status, stdout, stderr := runEarth("-memory-limit", "1000B", "-json", "-ticks", "1")
	if status != cli.Failure || stdout != "" || strings.Count(stderr, "\n") != 1 ||
		!strings.Contains(stderr, "memory limit") {
		t.Errorf("exit status %d, stdout %q, stderr %q; want %d, nothing and one line on the limit", status,
			stdout, stderr, cli.Failure)
	}
}

func TestReport(t *testing.T) {
	file := write(t, "places.csv", village)
	status, stdout, stderr := runEarth("-json", "-places", file, "-travellers", "100", "-ticks", "50", "-hz",
		"0", "-seed", "7", "-inspect", "off")
	if status != cli.Success || stderr != "" {
		t.Fatalf("exit status %d, stderr %q", status, stderr)
	}
	decoder := json.NewDecoder(strings.NewReader(stdout))
	decoder.DisallowUnknownFields()
	var r report
	if err := decoder.Decode(&r); err != nil || decoder.More() {
		t.Fatalf("stdout %q: %v, more %v; want one report", stdout, err, decoder.More())
	}
	if r.Seed != 7 || r.Ticks != 50 || r.Places != 5 || r.Travellers < 50 || r.Entities < 55 ||
		r.StateHash == "" {
		t.Errorf("%+v, want seed 7, 50 ticks, 5 places, about 100 travellers and a hash", r)
	}
	if m := r.TickMs; m.P50 <= 0 || m.P50 > m.P90 || m.P90 > m.P99 || m.P99 > m.Max {
		t.Errorf("tick_ms %+v, want 0 < p50 <= p90 <= p99 <= max", m)
	}
	if r.WithinBudget <= 0 || r.WithinBudget > 1 || r.Memory.GoHeap <= 0 ||
		r.Memory.Reserved < r.Memory.Committed {
		t.Errorf("%+v, want a share of at most 1 within the budget, a Go heap, and reserved >= committed", r)
	}

	var fields map[string]any
	if err := json.Unmarshal([]byte(stdout), &fields); err != nil {
		t.Fatal(err)
	}
	var names []string
	for name, value := range fields {
		names = append(names, name)
		if part, ok := value.(map[string]any); ok {
			for inner := range part {
				names = append(names, name+"."+inner)
			}
		}
	}
	slices.Sort(names)
	want := []string{
		"entities", "gc", "gc.count", "gc.pause_max_ms", "memory", "memory.committed", "memory.go_heap",
		"memory.reserved", "memory.resident", "places", "seed", "state_hash", "structural_changes",
		"tick_ms", "tick_ms.max", "tick_ms.p50", "tick_ms.p90", "tick_ms.p99", "ticks", "travellers",
		"within_budget",
	}
	if !slices.Equal(names, want) {
		t.Errorf("fields %q, want %q", names, want)
	}
}

func TestSameSeedSameState(t *testing.T) {
	file := write(t, "places.csv", village)
	hash := func(args ...string) string {
		_, stdout, stderr := runEarth(append(args, "-json", "-places", file, "-travellers", "300", "-ticks",
			"200", "-hz", "0")...)
		var r report
		if err := json.Unmarshal([]byte(stdout), &r); err != nil {
			t.Fatalf("stdout %q, stderr %q: %v", stdout, stderr, err)
		}
		return r.StateHash
	}
	first := hash("-seed", "3", "-workers", "1")
	if again := hash("-seed", "3", "-workers", "4"); again != first {
		t.Errorf("seed 3 gives %s with one worker and %s with four", first, again)
	}
	if other := hash("-seed", "4"); other == first {
		t.Errorf("seeds 3 and 4 both give %s", first)
	}
}

func TestBudgetAndLimit(t *testing.T) {
	for _, c := range []struct {
		hz     int
		budget time.Duration
	}{{0, time.Second / 60}, {60, time.Second / 60}, {50, 20 * time.Millisecond},
		{1_000_000, time.Microsecond}} {
		if got := (options{hz: c.hz}).budget(); got != c.budget {
			t.Errorf("at %d Hz a tick may take %v, want %v", c.hz, got, c.budget)
		}
	}
	if (options{}).limit() != nil {
		t.Error("options without a memory limit have a limit")
	}
	if got := (options{memoryLimit: 12345}).limit().Max(); got != 12345 {
		t.Errorf("a limit of %d bytes, want 12345", got)
	}
}

func TestSignalsEndRuns(t *testing.T) {
	for _, c := range []struct {
		o      options
		signal os.Signal
		status int
	}{
		{options{hz: 60}, os.Interrupt, 130},
		{options{hz: 60, json: true}, os.Interrupt, 130},
		{options{hz: 60}, syscall.SIGTERM, 143},
	} {
		clocktest.Bubble(t, func(t *testing.T) {
			signals := make(chan os.Signal, 1)
			time.AfterFunc(2500*time.Millisecond, func() { signals <- c.signal })
			var stdout, stderr bytes.Buffer
			w := &fakeWorld{}
			if status := runWorld(w, c.o, signals, &stdout, &stderr); status != c.status || stderr.Len() > 0 {
				t.Errorf("%v: exit status %d, stderr %q, want %d", c.signal, status, &stderr, c.status)
			}
			if w.counts.Ticks != 151 { // the tick at the beginning, and 150 ticks in 2.5 s
				t.Errorf("%d ticks in 2.5 s, want 151", w.counts.Ticks)
			}
			if want := `"ticks":151`; c.o.json && !strings.Contains(stdout.String(), want) {
				t.Errorf("an interrupted run prints %q, want %s in its object", &stdout, want)
			}
		})
	}
}

func TestLinesGoToStdout(t *testing.T) {
	clocktest.Bubble(t, func(t *testing.T) {
		var stdout, stderr bytes.Buffer
		w := &fakeWorld{tick: steady(2 * time.Millisecond)}
		w.counts.Travellers, w.counts.Infectious = 1234567, 89
		if status := runWorld(w, options{hz: 60, length: 3*time.Second + 500*time.Millisecond}, nil, &stdout,
			&stderr); status != cli.Success {
			t.Fatalf("exit status %d", status)
		}
		lines := strings.Split(strings.TrimSuffix(stdout.String(), "\n"), "\n")
		if len(lines) != 5 || stderr.Len() > 0 {
			t.Fatalf("%d lines in 3.5 s, want the credits, a line a second and a last line:\n%s%s",
				len(lines), &stdout, &stderr)
		}
		if lines[0] != "# "+places.Attribution {
			t.Errorf("first line %q", lines[0])
		}
		for i, tick := range []string{"tick=61 ", "tick=121 ", "tick=181 ", "tick=211 "} {
			line := lines[i+1]
			for _, want := range []string{
				tick, " tps=60.0 ", " p50=2.00ms ", " p99=2.00ms ", " max=2.00ms ", " within=1.0000 ",
				" late=0 ", " day=1 ",
				" travellers=1234567 ", " infectious=89 ", " changes=600/s ", " go_heap=", " gc=",
			} {
				if i == 0 && strings.HasPrefix(want, " tps") || i == 0 &&
					strings.HasPrefix(want, " changes") {
					continue // the first second has 61 ticks: one at its beginning and one at its end
				}
				if !strings.Contains(" "+line, want) {
					t.Errorf("line %q lacks %q", line, want)
				}
			}
			for _, f := range strings.Fields(line) {
				if name, value, ok := strings.Cut(f, "="); !ok || name == "" || value == "" {
					t.Errorf("line %q: %q is not name=value", line, f)
				}
			}
		}
	})
}

func TestLastLineIsNotRepeated(t *testing.T) {
	clocktest.Bubble(t, func(t *testing.T) {
		var stdout bytes.Buffer
		// Tick 7 begins just before the line at 2 s. Tick 8 would begin after the end of the run.
		runWorld(&fakeWorld{}, options{hz: 3, length: 2200 * time.Millisecond, places: "own"}, nil, &stdout,
			&stdout)
		lines := strings.SplitAfter(stdout.String(), "\n")
		if len(lines) != 3 || !strings.HasPrefix(lines[0], "tick=4 ") ||
			!strings.HasPrefix(lines[1], "tick=7 ") {
			t.Errorf("%q, want a line for tick 4 and one for tick 7", lines)
		}
	})
}

func TestOwnPlacesHaveNoCredits(t *testing.T) {
	file := write(t, "places.csv", village)
	status, stdout, _ := runEarth("-places", file, "-travellers", "10", "-ticks", "2", "-inspect", "off")
	if status != cli.Success || strings.Contains(stdout, "GeoNames") ||
		!strings.HasPrefix(stdout, "tick=2 ") {
		t.Errorf("exit status %d, stdout %q; want only the last line", status, stdout)
	}
}

func TestCannotWrite(t *testing.T) {
	var stderr bytes.Buffer
	for _, o := range []options{{ticks: 1, json: true}, {ticks: 1, places: "own"}, {hz: 60, places: "own"}} {
		clocktest.Bubble(t, func(t *testing.T) {
			stderr.Reset()
			if status := runWorld(&fakeWorld{}, o, nil, brokenPipe{}, &stderr); status != cli.Failure ||
				stderr.String() != "vast earth: broken pipe\n" {
				t.Errorf("%+v: exit status %d, stderr %q", o, status, &stderr)
			}
		})
	}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }
