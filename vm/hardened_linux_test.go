//go:build !arm

package vm

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/vastgo/vast/internal/seccomptest"
	"golang.org/x/sys/unix"
)

func noRefusal(seccomptest.Rule) bool { return false }

func TestWithoutGainingExecution(t *testing.T) {
	onlyOS(t)
	seccomptest.Child(t, func(t *testing.T) {
		if err := unix.Prctl(unix.PR_SET_MDWE, unix.PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0); err != nil {
			t.Skipf("the kernel has no PR_SET_MDWE: %v", err)
		}
		liveRefused(t, noRefusal, 0)
	})
}

func TestWithoutHugePages(t *testing.T) {
	onlyOS(t)
	seccomptest.Child(t, func(t *testing.T) {
		usual := ReadFacts()
		if err := unix.Prctl(unix.PR_SET_THP_DISABLE, 1, 0, 0, 0); err != nil {
			t.Skipf("the kernel has no PR_SET_THP_DISABLE: %v", err)
		}
		f := ReadFacts()
		if want := map[bool]string{true: "never",
			false: "disabled"}[usual.HugeMode == "never"]; f.HugeMode != want || f.HugePageSize != 0 {
			t.Errorf("huge pages of %d bytes, mode %s; want 0, mode %s", f.HugePageSize, f.HugeMode, want)
		}
		liveRefused(t, noRefusal, 0)
		r := open(t, osBackend{}, 8<<20, Options{Pages: PagesHuge})
		must(t, r.Commit(0, 8<<20))
		fill(r, 0, PageSize())
		if n, err := r.Resident(); n != PageSize() || err != nil {
			t.Errorf("one page touched: %d bytes are resident, %v", n, err)
		}
	})
}

// TestLockedMemory: in a process that locks its future memory, Commit makes memory resident.
func TestLockedMemory(t *testing.T) {
	onlyOS(t)
	seccomptest.Child(t, func(t *testing.T) {
		feedHeap()
		if err := unix.Mlockall(unix.MCL_FUTURE); err != nil {
			t.Skipf("the process may not lock its memory: %v", err)
		}
		p := PageSize()
		r, err := reserveOn(osBackend{}, 1<<30, Options{Pages: PagesSmall}, origin{})
		if errors.Is(err, unix.EAGAIN) && strings.Contains(err.Error(), "RLIMIT_MEMLOCK") {
			t.Skipf("the process may lock little memory: %v", err)
		}
		must(t, err)
		defer r.Close()
		resident := func(want int) {
			t.Helper()
			if n, err := r.Resident(); n != want || err != nil || mincore(t, r, 0, 256*p) != want {
				t.Errorf("%d bytes are resident, want %d: %v", n, want, err)
			}
		}
		must(t, r.Commit(0, 256*p))
		resident(256 * p)
		fill(r, 0, 256*p)
		must(t, r.Discard(0, 64*p))
		if b := view(r); b[0] != 0 || b[64*p] != 1 {
			t.Errorf("after Discard the bytes are %d and %d", b[0], b[64*p])
		}
		must(t, r.Decommit(128*p, 128*p))
		if n, err := r.Resident(); n > 128*p || err != nil {
			t.Errorf("%d of %d committed bytes are resident: %v", n, 128*p, err)
		}
		must(t, r.Commit(128*p, 128*p))
		if b := view(r); b[127*p] != 1 || b[128*p] != 0 {
			t.Errorf("after Decommit and Commit the bytes are %d and %d", b[127*p], b[128*p])
		}
		must(t, r.MovePages(r, 512*p, 64*p, 64*p))
		if b := view(r)[512*p]; b != 1 {
			t.Errorf("the moved byte is %d", b)
		}
	})
}

// TestLittleLockedMemory locks the future memory of a process that may not exceed RLIMIT_MEMLOCK.
func TestLittleLockedMemory(t *testing.T) {
	onlyOS(t)
	seccomptest.Child(t, func(t *testing.T) {
		feedHeap()
		if err := unix.Mlockall(unix.MCL_FUTURE | unix.MCL_ONFAULT); err != nil {
			t.Skipf("the process may not lock its memory: %v", err)
		}
		var limit unix.Rlimit
		must(t, unix.Getrlimit(unix.RLIMIT_MEMLOCK, &limit))
		limit.Max = min(limit.Max, 256<<20)
		if HeapStandIn() && limit.Max < 256<<20 {
			t.Skipf("the runtime of this build maps more than the %d bytes that may be locked", limit.Max)
		}
		limit.Cur = limit.Max
		must(t, unix.Setrlimit(unix.RLIMIT_MEMLOCK, &limit))
		runtime.LockOSThread() // this thread gives up its privileges below
		var none [2]unix.CapUserData
		if err := unix.Capset(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3},
			&none[0]); err != nil {
			t.Skipf("privileges cannot be given up: %v", err)
		}
		before := fmt.Sprint(Snapshot(false))
		_, err := reserveOn(osBackend{}, 1<<30, Options{}, origin{})
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(e.Detail, "RLIMIT_MEMLOCK") {
			t.Errorf("got %v", err)
		}
		if after := fmt.Sprint(Snapshot(false)); after != before {
			t.Errorf("a refused reservation changed the counts from %s to %s", before, after)
		}
	})
}

// TestStrictOvercommit imitates strict overcommit mode, because the real mode belongs to the whole machine. A
// filter refuses commits as the kernel would in this mode.
func TestStrictOvercommit(t *testing.T) {
	onlyOS(t)
	refused := refusedCommits
	refused.Errno = unix.ENOMEM
	seccomptest.Child(t, func(t *testing.T) {
		strictMode(t)
		if f := ReadFacts(); f.OvercommitMode != 2 {
			t.Fatalf("the mode is %d", f.OvercommitMode)
		}
		limit := NewLimit(1 << 30)
		r, err := reserveOn(osBackend{}, 1<<20, Options{Limit: limit}, origin{})
		must(t, err)
		var e *Error
		if err := r.Commit(0, 1<<20); !errors.Is(err, ErrCommitCharge) || !errors.As(err, &e) ||
			!strings.Contains(e.Detail, "vm.overcommit_memory=2") {
			t.Errorf("got %v", err)
		}
		if r.Committed() != 0 || limit.Used() != 0 {
			t.Errorf("%d committed, %d used after a refused commit", r.Committed(), limit.Used())
		}
		must(t, r.Close())
	}, refused)
}

// TestStrictOvercommitLife: in strict mode, Decommit makes a new mapping to give the charge back. The new
// mapping has neither a name nor advice, so Decommit must restore the name and the advice.
func TestStrictOvercommitLife(t *testing.T) {
	onlyOS(t)
	seccomptest.Child(t, func(t *testing.T) {
		strictMode(t)
		liveRefused(t, noRefusal, 0)
		if f := facts(); f.OvercommitMode != 2 {
			t.Fatalf("the mode is %d", f.OvercommitMode)
		}
		r := open(t, osBackend{}, 64*PageSize(), Options{Name: "refused", Pages: PagesSmall})
		must(t, r.Commit(0, r.Size()))
		fill(r, 0, r.Size())
		must(t, r.Decommit(0, r.Size()))
		checkNamed(t, r, noRefusal)
		if n := mincore(t, r, 0, r.Size()); n != 0 {
			t.Errorf("%d bytes are in memory", n)
		}
	})
}

// strictMode locks the test to a thread with its own mount namespace, in which vm.overcommit_memory reads as
// 2.
func strictMode(t *testing.T) {
	t.Helper()
	mode := filepath.Join(t.TempDir(), "mode")
	must(t, os.WriteFile(mode, []byte("2\n"), 0o644))
	runtime.LockOSThread() // never unlocked, so that the thread ends with the test
	for _, step := range []func() error{
		func() error { return unix.Unshare(unix.CLONE_NEWNS) },
		func() error { return unix.Mount("none", "/", "", unix.MS_REC|unix.MS_PRIVATE, "") },
		func() error { return unix.Mount(mode, "/proc/sys/vm/overcommit_memory", "", unix.MS_BIND, "") },
	} {
		if err := step(); err != nil {
			t.Skipf("the process may not have its own view of the file system: %v", err)
		}
	}
	t.Cleanup(func() { _ = unix.Unmount("/proc/sys/vm/overcommit_memory", unix.MNT_DETACH) })
}
