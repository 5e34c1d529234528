package disk_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/vastgo/vast/internal/disk"
)

func TestLockOfReadOnlyFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	if err := os.Mkdir(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 { // root may write everywhere, so open files as another user
		if err := os.Chmod(filepath.Dir(filepath.Dir(dir)), 0o755); err != nil {
			t.Fatal(err)
		}
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		if err := unix.Setfsuid(65534); err != nil {
			t.Skip("this thread cannot change its user:", err)
		}
		defer func() { _ = unix.Setfsuid(0) }()
	}
	if os.WriteFile(filepath.Join(dir, "probe"), nil, 0o600) == nil {
		t.Skip("this system ignores the permissions of the folder")
	}
	_, err := disk.LockFolder(dir)
	if !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), dir+" cannot be locked") ||
		!strings.Contains(err.Error(), "give this process the right to write") {
		t.Errorf("LockFolder returned %v, want an error that names the folder and the missing right", err)
	}
	var locked *disk.LockedError
	if errors.As(err, &locked) {
		t.Error("the error says that another process holds the lock")
	}
}
