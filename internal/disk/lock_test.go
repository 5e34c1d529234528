package disk_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vastgo/vast/internal/childtest"
	"github.com/vastgo/vast/internal/disk"
)

// childVariable is the environment variable with the folder that a child process locks.
const childVariable = "VAST_TEST_LOCK"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childVariable); dir != "" {
		child(dir)
		return
	}
	os.Exit(m.Run())
}

// child locks a folder, unlocks it after a line of input, and waits for the end of the input.
func child(dir string) {
	lock, err := disk.LockFolder(dir)
	fmt.Println("locked:", err)
	if err != nil {
		return
	}
	in := bufio.NewReader(os.Stdin)
	_, _ = in.ReadString('\n')
	fmt.Println("closed:", lock.Close())
	_, _ = io.Copy(io.Discard, in)
}

type childProcess struct {
	*exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func startChild(t *testing.T, dir string) childProcess {
	t.Helper()
	childtest.Needed(t)
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), childVariable+"="+dir)
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = c.Wait()
	})
	return childProcess{c, in, bufio.NewReader(out)}
}

func (p childProcess) wantLine(t *testing.T, want string) {
	t.Helper()
	line, err := p.out.ReadString('\n')
	if line = strings.TrimSpace(line); line != want {
		t.Fatalf("the child says %q (%v), want %q", line, err, want)
	}
}

// wantLocked checks that LockFolder returns a *LockedError that names the process pid and the folder.
func wantLocked(t *testing.T, dir string, pid int) {
	t.Helper()
	l, err := disk.LockFolder(dir)
	var locked *disk.LockedError
	if !errors.As(err, &locked) {
		if err == nil {
			_ = l.Close()
		}
		t.Fatalf("the second lock returned %v, want a *LockedError", err)
	}
	want := holder(pid)
	if locked.Holder != want || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), dir) {
		t.Errorf("the holder is %q, want %q; the error is %q", locked.Holder, want, err)
	}
}

func TestLockTwice(t *testing.T) {
	dir := t.TempDir()
	for range 3 {
		lock, err := disk.LockFolder(dir)
		if err != nil {
			t.Fatal(err)
		}
		wantLocked(t, dir, os.Getpid())
		wantLocked(t, dir, os.Getpid()) // the failed attempt must not release the lock
		for range 2 {
			if err := lock.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	other, err := disk.LockFolder(t.TempDir())
	if err != nil {
		t.Fatal("another folder:", err)
	}
	_ = other.Close()
	if _, err := disk.LockFolder(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the lock of a missing folder: %v", err)
	}
}

func TestLockOfChild(t *testing.T) {
	dir := t.TempDir()
	c := startChild(t, dir)
	c.wantLine(t, "locked: <nil>")
	wantLocked(t, dir, c.Process.Pid)
	if _, err := io.WriteString(c.in, "\n"); err != nil {
		t.Fatal(err)
	}
	c.wantLine(t, "closed: <nil>")
	lock, err := disk.LockFolder(dir)
	if err != nil {
		t.Fatal("after Close:", err)
	}
	second := startChild(t, dir)
	second.wantLine(t, "locked: "+(&disk.LockedError{Dir: dir, Holder: holder(os.Getpid())}).Error())
	if err := lock.Close(); err != nil {
		t.Error(err)
	}
}

func TestLockOfKilledChild(t *testing.T) {
	dir := t.TempDir()
	c := startChild(t, dir)
	c.wantLine(t, "locked: <nil>")
	wantLocked(t, dir, c.Process.Pid)
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait()
	lock, err := disk.LockFolder(dir)
	// Windows may end a lock some time after the process has ended.
	for range 100 {
		if err == nil {
			break
		}
		time.Sleep(50 * time.Millisecond)
		lock, err = disk.LockFolder(dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	wantLocked(t, dir, os.Getpid())
	if err := lock.Close(); err != nil {
		t.Error(err)
	}
}

func TestLongTextInLockFile(t *testing.T) {
	dir := t.TempDir()
	left := strings.Repeat("process 1 (town) on host here\n", 100)
	if err := os.WriteFile(filepath.Join(dir, "lock"), []byte(left), 0o600); err != nil {
		t.Fatal(err)
	}
	lock, err := disk.LockFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	wantLocked(t, dir, os.Getpid())
	text, err := os.ReadFile(filepath.Join(dir, "lock"))
	if err != nil || strings.Count(string(text), "\n") != 1 {
		t.Errorf("the lock file holds %q, want one line; error %v", text, err)
	}
}

func TestLockFileWithoutHolder(t *testing.T) {
	dir := t.TempDir()
	lock, err := disk.LockFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if err := os.Truncate(filepath.Join(dir, "lock"), 0); err != nil {
		t.Fatal(err)
	}
	_, err = disk.LockFolder(dir)
	var locked *disk.LockedError
	if !errors.As(err, &locked) || locked.Holder != "" || !strings.Contains(err.Error(), "another process") {
		t.Errorf("the second lock returned %v, want a *LockedError that names \"another process\"", err)
	}
}

func holder(pid int) string {
	program, host := "unknown", "unknown"
	if path, err := os.Executable(); err == nil {
		program = filepath.Base(path)
	}
	if name, err := os.Hostname(); err == nil {
		host = name
	}
	return fmt.Sprintf("process %d (%s) on host %s", pid, program, host)
}
