package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vastgo/vast/internal/longtest"
)

// earth is a cluster of three processes.
type earth struct {
	cmd            *exec.Cmd // the first process: it has the server and prints the report
	stdout, stderr bytes.Buffer
	ended          chan error
}

func startEarth(t *testing.T, args []string) *earth {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	e := &earth{cmd: exec.Command(program, args...), ended: make(chan error, 1)}
	e.cmd.Env = append(os.Environ(), "VAST_EARTH_PROCESS=1")
	e.cmd.Stdout, e.cmd.Stderr = &e.stdout, &e.stderr
	if err := e.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { e.ended <- e.cmd.Wait() }()
	return e
}

func (e *earth) children() (pids []int) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		b, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		// The name in parentheses may contain any characters. The state and the number of the parent follow
		// the last parenthesis.
		fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
		if len(fields) > 1 && fields[1] == strconv.Itoa(e.cmd.Process.Pid) && fields[0] != "Z" {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			pids = append(pids, pid)
		}
	}
	return pids
}

// TestKilledProcesses kills and suspends processes at random. When it kills the first process, which has the
// server, it starts a new first process. The result must equal that of one world without faults.
func TestKilledProcesses(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("runs processes for ten seconds")
	}
	kills := longtest.Pick(2, 100)
	ticks := 150 + 150*kills
	flags := smallEarth(t, ticks)
	hash, counts := inOneWorld(t, flags, ticks)
	args := append([]string{"-data", t.TempDir(), "-regions", "7", "-processes", "3", "-checkpoint", "60"},
		flags...)
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 1))
	what := fmt.Sprintf("seed %d,", seed)
	e := startEarth(t, args)
	defer func() { _ = e.cmd.Process.Kill() }()
	for range kills {
		select {
		case err := <-e.ended:
			t.Fatalf("%s: the cluster has ended: %v\n%s", what, err, &e.stderr)
		case <-time.After(time.Duration(500+rng.IntN(1500)) * time.Millisecond):
		}
		children := e.children()
		victim := rng.IntN(len(children) + 1)
		if victim == len(children) {
			what += " first"
			if err := e.cmd.Process.Kill(); err != nil {
				t.Fatal(what, err)
			}
			<-e.ended
			e = startEarth(t, args)
			continue
		}
		if rng.IntN(3) == 0 { // suspend the process for longer than its lease
			what += " sleep"
			_ = syscall.Kill(children[victim], syscall.SIGSTOP)
			time.Sleep(1500 * time.Millisecond)
			_ = syscall.Kill(children[victim], syscall.SIGCONT)
			continue
		}
		what += " other"
		_ = syscall.Kill(children[victim], syscall.SIGKILL)
	}
	select {
	case err := <-e.ended:
		if err != nil {
			t.Fatalf("%s: %v\n%s", what, err, &e.stderr)
		}
	case <-time.After(5 * time.Minute):
		t.Fatalf("%s: the cluster stands still\n%s", what, &e.stderr)
	}
	r := decodeReport(t, e.stdout.Bytes())
	if r.StateHash != hash || r.Travellers != counts.Travellers {
		t.Errorf("%s: hash %s and %d travellers, want %s and %d", what, r.StateHash, r.Travellers, hash,
			counts.Travellers)
	}
	if strings.Contains(what, "other") && !strings.Contains(what, "first") && r.Failovers == 0 {
		t.Errorf("%s: no process has taken over a region", what)
	}
	t.Log(what, r.Failovers, "failovers,", r.Moved, "moves")
}
