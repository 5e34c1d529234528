package earth

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vastgo/vast/cmd/vast/internal/cli"
	"golang.org/x/sys/unix"
)

// mountSmall mounts a file system of 1 MiB until the test ends, and returns its folder.
func mountSmall(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("this process cannot mount: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// TestFullDisk checks that a run on a full disk ends with an error. When the disk has room again, the next
// run resumes after a durable tick.
func TestFullDisk(t *testing.T) {
	dir := mountSmall(t)
	data := filepath.Join(dir, "data")
	a, _ := runKept(t, data, "-travellers", "3000", "-ticks", "20")
	ballast := make([]byte, 1<<20-a.Checkpoints.Bytes*3/2)
	if err := os.WriteFile(filepath.Join(dir, "ballast"), ballast, 0o600); err != nil {
		t.Fatal(err)
	}
	status, stdout, stderr := runEarth(keptArgs(t, data, "-hz", "500")...)
	if status != cli.Failure || stdout != "" || !strings.Contains(stderr, unix.ENOSPC.Error()) ||
		!strings.Contains(stderr, filepath.Join(data, "checkpoint-")) {
		t.Errorf("exit status %d, stdout %q, stderr %q; want %d, nothing, and the error %v of a checkpoint",
			status, stdout, stderr, cli.Failure, unix.ENOSPC)
	}
	if err := os.Remove(filepath.Join(dir, "ballast")); err != nil {
		t.Fatal(err)
	}
	b, _ := runKept(t, data, "-ticks", "100")
	whole, _ := runKept(t, filepath.Join(t.TempDir(), "data"), "-travellers", "3000", "-ticks", "100")
	if *b.ResumedAt < 20 || b.StateHash != whole.StateHash {
		t.Errorf("%+v: want resumed_at >= 20, and the hash of the run on a disk with room: %+v", b, whole)
	}
}

func TestReadOnlyFolder(t *testing.T) {
	dir := mountSmall(t)
	kept := filepath.Join(dir, "kept")
	runKept(t, kept, "-travellers", "100", "-ticks", "20")
	if err := unix.Mount("", dir, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		t.Skipf("this process cannot mount: %v", err)
	}
	for _, data := range []string{kept, filepath.Join(dir, "new")} {
		status, stdout, stderr := runEarth(keptArgs(t, data, "-ticks", "30")...)
		if status != cli.Failure || stdout != "" || strings.Count(stderr, "\n") != 1 ||
			!strings.Contains(stderr, data) || !strings.Contains(stderr, unix.EROFS.Error()) {
			t.Errorf("exit status %d, stdout %q, stderr %q; want %d, nothing and one line with %s", status,
				stdout, stderr, cli.Failure, data)
		}
	}
}
