package bulk

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/vastgo/vast/internal/childtest"
	"github.com/vastgo/vast/vm"
)

// whichLimit is the environment variable with the name of the limit that a child process must reach. Limits
// of the operating system apply to a whole process, so the test needs child processes.
const whichLimit = "VAST_BULK_TEST_LIMIT"

func TestLimitsOfTheSystem(t *testing.T) {
	if which := os.Getenv(whichLimit); which != "" {
		reach(t, which)
		return
	}
	if heapStandIn() {
		t.Skip("Go's heap does not report the limit as an error, and the heap stand-in uses Go's heap")
	}
	childtest.Needed(t)
	for _, which := range []string{"RLIMIT_AS", "RLIMIT_DATA"} {
		child := exec.Command(os.Args[0], "-test.run=^TestLimitsOfTheSystem$", "-test.v")
		child.Env = append(os.Environ(), whichLimit+"="+which)
		out, err := child.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "reached "+which) {
			t.Errorf("%s: %v\n%s", which, err, out)
		}
	}
}

func statm(t *testing.T, field int) uint64 {
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	var v [7]uint64
	if _, err := fmt.Sscan(string(b), &v[0], &v[1], &v[2], &v[3], &v[4], &v[5], &v[6]); err != nil {
		t.Fatal(err)
	}
	return v[field] * uint64(os.Getpagesize())
}

func reach(t *testing.T, which string) {
	const room = 256 << 20 // bytes that the process may still take
	switch which {
	case "RLIMIT_AS":
		setLimit(t, unix.RLIMIT_AS, statm(t, 0)+room)
		if _, err := NewArray[record](Options{}); !errors.Is(err, vm.ErrAddressSpace) ||
			!strings.Contains(err.Error(), "RLIMIT_AS") {
			t.Fatalf("16 GiB of addresses: %v", err)
		}
		if _, err := NewPool[record](Options{}); !errors.Is(err, vm.ErrAddressSpace) {
			t.Fatalf("16 GiB of addresses: %v", err)
		}
		a := newArray[record](t, Options{Capacity: 1 << 20})
		if a.Append(numbered(3)); *a.At(0) != numbered(3) {
			t.Fatal("a smaller array does not work")
		}
	case "RLIMIT_DATA":
		// With steps of 16 MiB, Go's runtime still has enough memory when a step is refused.
		p := newPool[record](t, Options{Name: "ships", Step: 16 << 20})
		handles := make([]Handle[record], 0, 2*room/40)
		setLimit(t, unix.RLIMIT_DATA, statm(t, 5)+room+12<<20)
		if err := p.Grow(room / 20); !errors.Is(err, vm.ErrDataLimit) ||
			!strings.Contains(err.Error(), "RLIMIT_DATA") {
			t.Fatalf("twice the memory that RLIMIT_DATA allows: %v", err)
		}
		var e *vm.Error
		for e == nil {
			e = exhausted(func() {
				h, _ := p.Insert(numbered(len(handles)))
				handles = append(handles, h)
			})
		}
		if !errors.Is(e, vm.ErrDataLimit) || e.Purpose != "ships" {
			t.Fatalf("beyond RLIMIT_DATA: %v", e)
		}
		n := p.Len()
		if n != len(handles) || n < room/2/40 {
			t.Fatalf("%d elements with %d handles", n, len(handles))
		}
		for i, h := range handles {
			if v := p.Get(h); v == nil || *v != numbered(i) {
				t.Fatalf("element %d of %d is lost", i, n)
			}
		}
		p.checkInvariants()
		// Room returns in two ways: a slot becomes free, or the limit is raised.
		p.Remove(handles[7])
		if h, _ := p.Insert(numbered(7)); h.Slot() != 7 || p.Len() != n {
			t.Fatalf("slot %d was taken instead of the free slot 7", h.Slot())
		}
		setLimit(t, unix.RLIMIT_DATA, statm(t, 5)+2*room)
		if h, _ := p.Insert(numbered(n)); int(h.Slot()) != n || *p.Get(h) != numbered(n) {
			t.Fatalf("after the limit was raised, slot %d was taken, want slot %d", h.Slot(), n)
		}
	}
	fmt.Println("reached", which)
}

func setLimit(t *testing.T, which int, bytes uint64) {
	t.Helper()
	var l unix.Rlimit
	if err := unix.Getrlimit(which, &l); err != nil {
		t.Fatal(err)
	}
	l.Cur = bytes
	if err := unix.Setrlimit(which, &l); err != nil {
		t.Fatal(err)
	}
}
