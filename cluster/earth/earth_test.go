package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	simulation "github.com/vastgo/vast/cmd/vast/earth"
	"github.com/vastgo/vast/cmd/vast/earth/places"
	"github.com/vastgo/vast/internal/longtest"
)

// TestMain runs the command instead of the tests in the processes that startEarth starts.
func TestMain(m *testing.M) {
	if os.Getenv("VAST_EARTH_PROCESS") != "" {
		main()
		return
	}
	longtest.Waiting(4)
	os.Exit(m.Run())
}

// smallEarth writes a file with 300 places, and returns the flags for an Earth with these places.
func smallEarth(t *testing.T, ticks int) []string {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 1))
	var b strings.Builder
	b.WriteString("name,lat,lon,country,population\n")
	for i := range 300 {
		fmt.Fprintf(&b, "P%d,%.3f,%.3f,CH,%d\n", i, rng.Float64()*120-60, rng.Float64()*360-180,
			1000+rng.IntN(100_000))
	}
	file := filepath.Join(t.TempDir(), "places.csv")
	if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{"-places", file, "-travellers", "6000", "-seed", "7", "-json",
		"-ticks", strconv.Itoa(ticks)}
}

// inOneWorld runs the Earth of these flags in one world, and returns its hash and its counts.
func inOneWorld(t *testing.T, flags []string, ticks int) (string, simulation.Counts) {
	t.Helper()
	file, err := os.Open(flags[1])
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	list, err := places.Read(file, flags[1], places.Options{})
	if err != nil {
		t.Fatal(err)
	}
	e, err := simulation.New(simulation.Config{Travellers: 6000, Seed: 7, Places: list})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	for range ticks {
		if err := e.Tick(); err != nil {
			t.Fatal(err)
		}
	}
	return e.Hash(), e.Counts()
}

func decodeReport(t *testing.T, output []byte) (r report) {
	t.Helper()
	if err := json.Unmarshal(output, &r); err != nil {
		t.Fatalf("%v in %q", err, output)
	}
	return r
}

func TestRegionsHaveTheHashOfOneWorld(t *testing.T) {
	t.Parallel()
	const ticks = 150
	flags := smallEarth(t, ticks)
	hash, counts := inOneWorld(t, flags, ticks)
	for _, regions := range []int{1, 4, 16} {
		var stdout, stderr bytes.Buffer
		args := append([]string{"-hz", "0", "-regions", strconv.Itoa(regions)}, flags...)
		if err := run(t.Context(), args, nil, &stdout, &stderr); err != nil {
			t.Fatalf("%d regions: %v\n%s", regions, err, &stderr)
		}
		r := decodeReport(t, stdout.Bytes())
		if r.StateHash != hash || r.Ticks != ticks || r.Regions != regions || r.Processes != 1 ||
			r.Travellers != counts.Travellers || r.Places != 300 || r.Entities != counts.Entities {
			t.Errorf("%d regions: the report is %+v, want the hash %s and %+v", regions, r, hash, counts)
		}
		if (r.Crossed > 100) != (regions > 1) {
			t.Errorf("%d regions: %d travellers have crossed a border", regions, r.Crossed)
		}
		if stderr.Len() > 0 {
			t.Errorf("%d regions: standard error has %q", regions, &stderr)
		}
	}
}

func TestLaterCommandContinues(t *testing.T) {
	t.Parallel()
	flags := smallEarth(t, 120)
	hash, _ := inOneWorld(t, flags, 120)
	dir := t.TempDir()
	command := func(more ...string) (string, error) {
		var stdout, stderr bytes.Buffer
		args := append(append([]string{"-data", dir, "-hz", "0", "-regions", "3"}, flags...), more...)
		err := run(t.Context(), args, nil, &stdout, &stderr)
		if stderr.Len() > 0 {
			t.Errorf("%v: standard error has %q", more, &stderr)
		}
		return stdout.String(), err
	}
	for _, ticks := range []string{"20", "75", "120"} {
		output, err := command("-ticks", ticks)
		if err != nil {
			t.Fatal(err)
		}
		r := decodeReport(t, []byte(output))
		if fmt.Sprint(r.Ticks) != ticks || ticks == "120" && r.StateHash != hash {
			t.Errorf("-ticks %s: the report has %d ticks and the hash %s, want the hash %s after tick 120",
				ticks, r.Ticks, r.StateHash, hash)
		}
	}
	_, err := command("-seed", "8")
	if err == nil || !strings.Contains(err.Error(), "seed 7") || !strings.Contains(err.Error(), "seed 8") {
		t.Errorf("the error for another seed is %v", err)
	}
}

func TestLinesTellWhatHappens(t *testing.T) {
	flags := append(smallEarth(t, 1_000_000), "-json=false", "-plain", "-regions", "3")
	ctx, cancel := context.WithTimeout(t.Context(), 3500*time.Millisecond)
	defer cancel()
	var stdout, stderr bytes.Buffer
	if err := run(ctx, flags, nil, &stdout, &stderr); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(stdout.String()), "\n")
	last := lines[len(lines)-1]
	if len(lines) < 3 || !strings.HasPrefix(last, "tick=") ||
		!strings.HasSuffix(last, " regions=3 processes=1") {
		t.Errorf("the lines are %q", lines)
	}
}

func TestFlags(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"-processes 0", "-processes 0"},
		{"-url nats://x -processes 2", "-url and -processes"},
		{"-json", "give -ticks"},
		{"-checkpoint 0", "-checkpoint 0"},
		{"stray", "unknown argument"},
		{"-regions 0", "-regions 0"},
		{"-inspect 8080", "-inspect 8080: use host:port"},
		{"-inspect localhost:", "use host:port"},
		{"-name a.b -travellers 10 -ticks 1", "name"},
	} {
		var stdout, stderr bytes.Buffer
		err := run(t.Context(), strings.Fields(c.args), nil, &stdout, &stderr)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.args, err, c.want)
		}
	}
	var stdout, stderr bytes.Buffer
	if err := run(t.Context(), []string{"-h"}, nil, &stdout, &stderr); err != nil ||
		!strings.Contains(stdout.String(), places.Attribution) {
		t.Errorf("-h printed %q, %v", &stdout, err)
	}
}
