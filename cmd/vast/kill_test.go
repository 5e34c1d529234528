package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vastgo/vast/internal/longtest"
)

// earthReport holds the fields of the report that the tests of -data read.
type earthReport struct {
	Ticks       uint64 `json:"ticks"`
	StateHash   string `json:"state_hash"`
	ResumedAt   uint64 `json:"resumed_at"`
	Checkpoints struct{ Count, Bytes int64 }
}

// earthRun is the result of a process of `vast earth`.
type earthRun struct {
	report  earthReport
	durable uint64 // last durable tick that standard error names
	errors  string // all other lines of standard error
	err     error
}

// runEarth runs `vast earth` with a small world. If life is not 0, runEarth kills the process after this
// time.
func runEarth(t *testing.T, life time.Duration, args ...string) (r earthRun) {
	t.Helper()
	places := filepath.Join(t.TempDir(), "places.csv")
	if err := os.WriteFile(places, []byte("name,lat,lon,population\nZürich,47.37,8.55,400000\n"+
		"Roma,41.9,12.5,2700000\nTokyo,35.7,139.7,9700000\nQuito,-0.2,-78.5,1600000\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := vast(t, nil, append([]string{"earth", "-places", places, "-travellers", "5000", "-json", "-inspect",
		"off"}, args...)...)
	var output strings.Builder
	c.Stdout = &output
	stderr, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if life > 0 {
		time.AfterFunc(life, func() { _ = c.Process.Kill() })
	}
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		var tick uint64
		if _, err := fmt.Sscanf(lines.Text(), "# durable %d", &tick); err != nil {
			r.errors += lines.Text() + "\n"
		} else if tick <= r.durable {
			t.Errorf("durable tick %d follows durable tick %d", tick, r.durable)
		} else {
			r.durable = tick
		}
	}
	r.err = c.Wait()
	if r.err == nil {
		if err := json.Unmarshal([]byte(output.String()), &r.report); err != nil {
			t.Fatalf("%v in %s", err, output.String())
		}
	}
	return r
}

// TestKilledAtAnyMoment kills the process of a world many times. The next process must not lose a durable
// tick. The final world must equal the world of an uninterrupted run.
func TestKilledAtAnyMoment(t *testing.T) {
	t.Parallel()
	const ticks = "1500"
	kills := longtest.Pick(4, 200)
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 0))
	uninterrupted := runEarth(t, 0, "-ticks", ticks, "-hz", "0")
	if uninterrupted.err != nil {
		t.Fatal(uninterrupted.err, uninterrupted.errors)
	}
	dir, durable := filepath.Join(t.TempDir(), "data"), uint64(0)
	for n := 0; n < kills; {
		life := time.Duration(1 + random.Int64N(int64(600*time.Millisecond)))
		r := runEarth(t, life, "-ticks", ticks, "-hz", "500", "-data", dir)
		if r.err == nil {
			if r.report.ResumedAt < durable || r.report.StateHash != uninterrupted.report.StateHash {
				t.Fatalf("seed %d, after %d kills: report %+v; want ResumedAt >= %d and StateHash %s",
					seed, n, r.report, durable, uninterrupted.report.StateHash)
			}
			dir, durable = filepath.Join(t.TempDir(), "data"), 0 // the next process begins a new world
			continue
		}
		if r.durable > 0 && r.durable < durable {
			t.Fatalf("seed %d, kill %d: the durable tick went back from %d to %d", seed, n, durable,
				r.durable)
		}
		durable = max(durable, r.durable)
		n++
		if r.errors != "" {
			t.Fatalf("seed %d, kill %d after %v: %s", seed, n, life, r.errors)
		}
		if n%4 == 0 { // resume a copy of the folder
			copied := t.TempDir()
			if err := os.CopyFS(copied, os.DirFS(dir)); os.IsNotExist(err) {
				continue // the process was killed before it made the folder
			} else if err != nil {
				t.Fatal(err)
			}
			again := runEarth(t, 0, "-ticks", "1", "-hz", "0", "-data", copied)
			if again.err != nil || again.report.ResumedAt < durable {
				t.Fatalf("seed %d, after %d kills: %v %s: the world resumes after tick %d, although tick "+
					"%d was durable", seed, n, again.err, again.errors, again.report.ResumedAt, durable)
			}
		}
	}
	last := runEarth(t, 0, "-ticks", ticks, "-hz", "0", "-data", dir)
	if last.err != nil || last.report.ResumedAt < durable ||
		last.report.StateHash != uninterrupted.report.StateHash ||
		last.report.ResumedAt < last.report.Ticks && last.durable != last.report.Ticks {
		t.Errorf("seed %d: %v %s: report %+v, last durable tick %d; want ResumedAt >= %d and StateHash %s",
			seed, last.err, last.errors, last.report, last.durable, durable, uninterrupted.report.StateHash)
	}
}

// TestEndedBySignal ends a process with a signal. The next run must resume after the tick that the last line
// of standard error names.
func TestEndedBySignal(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("a process cannot send SIGTERM on Windows")
	}
	dir := t.TempDir()
	places := filepath.Join(t.TempDir(), "places.csv")
	if err := os.WriteFile(places, []byte("name,lat,lon\nRoma,41.9,12.5\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) (durable uint64, status int, text string) {
		c := vast(t, nil, append([]string{"earth", "-places", places, "-json", "-inspect", "off", "-data",
			dir}, args...)...)
		var output strings.Builder
		c.Stdout = &output
		stderr, err := c.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			if _, err := fmt.Sscanf(lines.Text(), "# durable %d", &durable); err != nil {
				t.Error(lines.Text())
			}
			_ = c.Process.Signal(syscall.SIGTERM)
		}
		_ = c.Wait()
		return durable, c.ProcessState.ExitCode(), output.String()
	}
	durable, status, text := run("-travellers", "100", "-hz", "200")
	var report earthReport
	if err := json.Unmarshal([]byte(text), &report); err != nil || status != 143 || report.Ticks != durable {
		t.Fatalf("exit status %d, report %q, last durable tick %d: %v", status, text, durable, err)
	}
	_, status, text = run("-ticks", fmt.Sprint(durable))
	if err := json.Unmarshal([]byte(text), &report); err != nil || status != 0 ||
		report.ResumedAt != durable || report.Ticks != durable {
		t.Errorf("exit status %d, %q: the world does not resume after tick %d: %v", status, text, durable,
			err)
	}
}
