package vm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vastgo/vast/internal/childtest"
)

// A child process reads its role and the path of its control group from the environment.
const (
	roleVariable = "VAST_VM_TEST_GROUP_ROLE"
	pathVariable = "VAST_VM_TEST_GROUP"
)

// groupBytes is the memory limit of the control group: several times the memory of a child without its
// region.
const groupBytes = 192 << 20

// TestOutOfMemory runs child processes that need more memory than their control group allows. The kernel
// kills the child without a budget. A child with a budget gets an error and continues.
func TestOutOfMemory(t *testing.T) {
	onlyOS(t)
	if role := os.Getenv(roleVariable); role != "" {
		outgrow(t, role)
		return
	}
	childtest.Needed(t)
	group := memoryGroup(t, groupBytes)
	kept := open(t, osBackend{}, 1<<20, Options{})
	must(t, kept.Commit(0, 1<<20))
	view(kept)[1<<19] = 7
	run := func(role string, environment ...string) (string, error) {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
		defer cancel()
		// As in a container, the process joins the group before its program starts.
		cmd := exec.CommandContext(ctx, "/bin/sh", "-c",
			`echo $$ > "$`+pathVariable+`/cgroup.procs" && exec "$0" "$@"`,
			os.Args[0], "-test.run=^TestOutOfMemory$", "-test.v", "-test.count=1")
		cmd.Env = append(os.Environ(), roleVariable+"="+role, pathVariable+"="+group, "GOMEMLIMIT=off",
			LimitVariable+"=off")
		cmd.Env = append(cmd.Env, environment...)
		out, err := cmd.CombinedOutput()
		if ctx.Err() != nil {
			t.Fatalf("%s: the child does not end:\n%s", role, out)
		}
		return string(out), err
	}

	out, err := run("no budget")
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL ||
		!strings.Contains(out, "in the group") {
		t.Errorf("without a budget: %v\n%s", err, out)
	}
	if n := killedIn(group); n < 1 {
		t.Errorf("the kernel counts %d killed processes, want at least 1", n)
	}
	if view(kept)[1<<19] != 7 {
		t.Error("the region of this process has lost a byte")
	}
	before := killedIn(group)
	for role, environment := range map[string][]string{
		"Options.Limit":             nil,
		"VAST_LIMIT in percent":     {LimitVariable + "=50%"},
		"VAST_LIMIT and GOMEMLIMIT": {LimitVariable + "=100%", "GOMEMLIMIT=96MiB"},
		"VAST_LIMIT in bytes":       {LimitVariable + "=96MiB"},
		"SetDefaultLimit":           {LimitVariable + "=1TiB"},
		"invalid VAST_LIMIT":        {LimitVariable + "=a lot"},
	} {
		if out, err := run(role, environment...); err != nil ||
			!strings.Contains(out, "--- PASS: TestOutOfMemory ") {
			t.Errorf("%s: %v\n%s", role, err, out)
		}
	}
	if n := killedIn(group); n != before {
		t.Errorf("the kernel ended %d processes that had a budget", n-before)
	}
}

// outgrow runs in a child process. It commits memory until a commit is refused.
func outgrow(t *testing.T, role string) {
	fmt.Println("in the group")
	if f := ReadFacts(); f.ControlGroup != groupBytes {
		t.Errorf("the control group's limit is %d, want %d", f.ControlGroup, groupBytes)
	}
	var o Options
	most := groupBytes / 2
	switch role {
	case "Options.Limit":
		o.Limit = ContainerLimit(50)
	case "SetDefaultLimit":
		SetDefaultLimit(ContainerLimit(50))
	case "invalid VAST_LIMIT":
		most = 0
	}
	r := open(t, osBackend{}, 1<<30, o)
	const step = 4 << 20
	for off := 0; off < r.Size(); off += step {
		err := r.Commit(off, step)
		if err == nil {
			fill(r, off, step)
			continue
		}
		if !errors.Is(err, ErrLimit) || off > most || off < most-step {
			t.Errorf("after %d bytes a commit gave %v; want the limit after about %d bytes", off, err, most)
		}
		fromEnvironment := o.Limit == nil && role != "SetDefaultLimit"
		if strings.Contains(err.Error(), LimitVariable) != fromEnvironment {
			t.Errorf("the error %q names %s: %v, want %v", err, LimitVariable, !fromEnvironment,
				fromEnvironment)
		}
		// After a Decommit, Commit succeeds again.
		if off > 0 {
			must(t, r.Decommit(0, step))
			must(t, r.Commit(off, step))
			fill(r, off, step)
		}
		return
	}
	t.Error("no commit was refused, and the kernel did not kill the process")
}

// memoryGroup makes a control group with a memory limit, below a control group of this process or below one
// of its ancestors. It removes the group after the test. It skips the test if it can make no group.
func memoryGroup(t *testing.T, bytes int) (dir string) {
	t.Helper()
	b, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		t.Skipf("the system has no control groups: %v", err)
	}
	name := fmt.Sprintf("vast-test-%d", os.Getpid())
	reason := errors.New("no memory controller is visible")
	for line := range strings.Lines(string(b)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		top, limit, swap := "/sys/fs/cgroup", "memory.max", "memory.swap.max"
		if parts[0] != "0" {
			if !strings.Contains(","+parts[1]+",", ",memory,") {
				continue
			}
			top, limit, swap = "/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.memsw.limit_in_bytes"
		}
		for group := filepath.Join("/", parts[2]); ; group = filepath.Dir(group) {
			dir := filepath.Join(top, group, name)
			controllers, _ := os.ReadFile(filepath.Join(top, group, "cgroup.subtree_control"))
			if parts[0] != "0" || strings.Contains(string(controllers), "memory") {
				err := os.Mkdir(dir, 0o755)
				if err == nil {
					t.Cleanup(func() { removeGroup(t, dir) })
					err = os.WriteFile(filepath.Join(dir, limit), []byte(fmt.Sprint(bytes)), 0)
				}
				if err == nil {
					allowed := "0"
					if parts[0] != "0" {
						allowed = fmt.Sprint(bytes) // memory and swap together
					}
					// A kernel that refuses to limit swap usually has no swap. With swap the child only takes
					// longer.
					_ = os.WriteFile(filepath.Join(dir, swap), []byte(allowed), 0)
					return dir
				}
				reason = err
			}
			if group == "/" {
				break
			}
		}
	}
	t.Skipf("no control group can be made: %v", reason)
	return ""
}

// removeGroup removes a control group. The kernel allows the removal a moment after the group's last
// process has ended.
func removeGroup(t *testing.T, dir string) {
	var err error
	deadline := time.Now().Add(time.Minute)
	for ; time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if err = os.Remove(dir); err == nil || errors.Is(err, os.ErrNotExist) {
			return
		}
	}
	t.Errorf("the control group cannot be removed: %v", err)
}

// killedIn returns the number of processes of a group that the kernel killed for lack of memory.
func killedIn(group string) (n int) {
	for _, name := range []string{"memory.events", "memory.oom_control"} {
		b, _ := os.ReadFile(filepath.Join(group, name))
		for line := range strings.Lines(string(b)) {
			if _, err := fmt.Sscanf(line, "oom_kill %d", &n); err == nil {
				return n
			}
		}
	}
	return 0
}
