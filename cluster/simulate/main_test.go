package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vastgo/vast/cluster/internal/plan"
)

// costsFile writes costs with which a tick of 1000 travellers takes 2 ms.
func costsFile(t *testing.T) string {
	c := plan.Costs{Cores: 4, Stretch: 1, Serial: 1, SyncsAtOnce: 1, Tick: 1000, Traveller: 1}
	name := filepath.Join(t.TempDir(), "costs.json")
	file, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Write(file); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	return name
}

func simulate(t *testing.T, args ...string) string {
	var stdout, stderr strings.Builder
	args = append([]string{"-costs", costsFile(t)}, args...)
	if err := run(t.Context(), args, &stdout, &stderr); err != nil {
		t.Fatal(err)
	}
	if stderr.String() != "" {
		t.Errorf("the command wrote %q to standard error, want nothing", stderr.String())
	}
	return stdout.String()
}

func TestTable(t *testing.T) {
	got := simulate(t, "-regions", "1,4", "-each", "1000", "-ticks", "200")
	want := `regions processes ticks/s p50 ms p99 ms region cores server disk network
			cores mostly do first bottleneck
		1 1 500 2 2 100 % 25 % 25 % 0 % 0 % ticks the ticks of a region
		4 1 500 2 2 100 % 100 % 100 % 0 % 0 % ticks the ticks of a region`
	if !slices.Equal(strings.Fields(got), strings.Fields(want)) {
		t.Errorf("the table is\n%swant\n%s", got, want)
	}
}

func TestJSON(t *testing.T) {
	var got struct {
		Costs plan.Costs `json:"costs"`
		Rows  []row      `json:"rows"`
	}
	text := simulate(t, "-json", "-regions", "4", "-travellers", "4000", "-hot", "4", "-ticks", "200")
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Rows) != 1 || got.Costs.Traveller != 1 {
		t.Fatalf("got %s, want one row and the costs of costsFile", text)
	}
	// All 4000 travellers are in the hottest region, so its tick takes 5 ms.
	if r := got.Rows[0]; r.TicksPerSecond < 199 || r.TicksPerSecond > 201 || r.TickMs.P99 != 5 ||
		r.Bottleneck != "the ticks of the hottest region" {
		t.Errorf("the row is %+v, want 200 ticks a second of 5 ms, limited by the hottest region", r)
	}
}

func TestManyRegions(t *testing.T) {
	for _, servers := range [][]string{nil, {"-servers", "3", "-replicas", "3"}, {"-replicas", "3"}} {
		got := simulate(t, append(servers, "-regions", "200", "-per-process", "4", "-ticks", "20")...)
		if lines := strings.Split(strings.TrimSpace(got), "\n"); len(lines) != 2 ||
			!strings.Contains(lines[1], "200         50") {
			t.Errorf("the flags %v: got %s, want one row with 200 regions in 50 processes", servers, got)
		}
	}
}

func TestFlagErrors(t *testing.T) {
	for _, args := range []string{"-regions 0", "-regions 4,x", "-regions ,", "-per-process 0", "-cores -1",
		"-replicas 0", "-replicas 2 -regions 1", "-servers 1 -replicas 3", "-bandwidth 0", "-round-trip -1s",
		"-hot -1", "-lookahead 0", "-hz -1", "-checkpoint -1", "-travellers -1", "-each -1", "-ticks 1",
		"-ticks -1", "-unknown", "extra"} {
		var out strings.Builder
		if err := run(t.Context(), strings.Fields(args), &out, &out); err == nil {
			t.Errorf("%s: no error", args)
		} else if !strings.Contains(err.Error(), "-h shows the usage") {
			t.Errorf("%s: the error is %v, want advice to use -h", args, err)
		}
	}
}

func TestCostsErrors(t *testing.T) {
	var out strings.Builder
	none := filepath.Join(t.TempDir(), "none")
	if err := run(t.Context(), []string{"-costs", none}, &out, &out); err == nil {
		t.Error("the command accepts a file that does not exist")
	}
	name := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(name, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := run(t.Context(), []string{"-costs", name}, &out, &out); err == nil {
		t.Error("the command accepts an empty file of costs")
	}
}

func TestHelp(t *testing.T) {
	var stdout, stderr strings.Builder
	if err := run(t.Context(), []string{"-h"}, &stdout, &stderr); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"usage:", "-costs", "-hot", "-replicas"} {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("the usage lacks %s", want)
		}
	}
}
