package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vastgo/vast/cluster"
)

// idle is a machine that sends nothing.
type idle struct{ regions int }

func (i idle) Tick(uint64, [][]byte, [][]byte) ([][]byte, cluster.Hash, error) {
	return make([][]byte, i.regions), cluster.Hash{}, nil
}
func (idle) Save() ([]byte, error) { return []byte("idle"), nil }
func (idle) Load([]byte) error     { return nil }
func (idle) Close() error          { return nil }

// join joins the cluster at the URL, or starts a cluster with two regions if the URL is empty. It closes the
// node at the end of the test.
func join(t *testing.T, url string) *cluster.Node {
	t.Helper()
	o := cluster.Options{Name: "idle", Dir: filepath.Join(t.TempDir(), "process"), URL: url, Regions: 2,
		Hz: 50, SyncInterval: time.Minute, Lease: 300 * time.Millisecond,
		New: func(int) (cluster.Machine, error) { return idle{2}, nil }}
	if url == "" {
		o.Listen = "127.0.0.1:0"
	}
	n, err := cluster.Join(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	return n
}

func TestCommands(t *testing.T) {
	a := join(t, "")
	b := join(t, a.URL())
	command := func(args ...string) (string, error) {
		var out strings.Builder
		all := append([]string{"-url", a.URL(), "-name", "idle", "-wait", "20s"}, args...)
		err := run(context.Background(), all, &out)
		return out.String(), err
	}
	owners := func() (names []string) {
		text, err := command("-json")
		if err != nil {
			t.Fatal(err)
		}
		var status struct {
			Processes []struct{ Process string }
			Regions   []struct{ Process string }
		}
		if err := json.Unmarshal([]byte(text), &status); err != nil || len(status.Processes) != 2 {
			t.Fatalf("-json prints\n%s, want JSON with two processes: %v", text, err)
		}
		for _, r := range status.Regions {
			names = append(names, r.Process)
		}
		return names
	}
	for text := ""; strings.Count(text, "alive") != 2; time.Sleep(10 * time.Millisecond) {
		var err error
		if text, err = command(); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"move", "0", b.Process()[:8]}, {"move", "1", b.Process()},
		{"move", "0", "any"}, {"drain", b.Process()}} {
		if _, err := command(args...); err != nil {
			t.Fatalf("%q: %v", args, err)
		}
	}
	if got := owners(); got[0] == b.Process() || got[1] == b.Process() {
		t.Errorf("a process that was drained has regions: %v", got)
	}
	text, err := command()
	if err != nil || !strings.Contains(text, "draining") || !strings.Contains(text, a.Process()) {
		t.Errorf("got the error %v and\n%s, want a draining process and the process %s", err, text,
			a.Process())
	}
	if _, err := command("resume", b.Process()); err != nil {
		t.Error(err)
	}
	for want, args := range map[string][]string{
		"unknown command":   {"stop"},
		"has 1 arguments":   {"move", "0"},
		"is not a number":   {"move", "x", "any"},
		"no process has":    {"drain", "x"},
		"several processes": {"drain", ""},
		"no region 2":       {"move", "2", "any"},
		"prints no result":  {"-json", "drain", "x"},
	} {
		if _, err := command(args...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", args, err, want)
		}
	}
	text, err = command("-help")
	if !errors.Is(err, flag.ErrHelp) || !strings.Contains(text, "drain PROCESS") {
		t.Errorf("-help: got the error %v and\n%s, want the usage", err, text)
	}
}

func TestNoAnswer(t *testing.T) {
	args := []string{"-url", "nats://127.0.0.1:1", "-wait", "300ms"}
	err := run(context.Background(), args, &strings.Builder{})
	if err == nil || !strings.Contains(err.Error(), "no answer from nats://127.0.0.1:1") {
		t.Errorf("got %v, want an error with the URL", err)
	}
}
