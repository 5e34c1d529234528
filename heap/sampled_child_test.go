package heap_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"unsafe"

	"github.com/vastgo/vast/heap"
	"github.com/vastgo/vast/internal/childtest"
	"github.com/vastgo/vast/vm"
)

// childVariable is the name of an environment variable. If the value of the variable is a key of children,
// the process runs this child in place of the tests.
const childVariable = "VAST_HEAP_TEST_CHILD"

type ship struct{ id, x, y uint64 }

// children are programs. Each makes one bad access to a heap's memory, or one bad call.
var children = map[string]func(h *heap.Heap){
	"use after free": func(h *heap.Heap) { s := makeShip(h); freeShip(h, s); s.x = 3 },
	"past the end":   func(h *heap.Heap) { s := makeShip(h); use(unsafe.Add(unsafe.Pointer(s), 24)) },
	"double free":    func(h *heap.Heap) { s := makeShip(h); freeShip(h, s); freeShip(h, s) },
	"size of freed":  func(h *heap.Heap) { s := makeShip(h); freeShip(h, s); h.SizeOf(unsafe.Pointer(s)) },
	"interior": func(h *heap.Heap) {
		_, _ = h.Realloc(unsafe.Add(unsafe.Pointer(makeShip(h)), 8), 100, 0)
	},
	"overwritten at Close": func(h *heap.Heap) {
		p, _ := h.Alloc(21, 0)
		use(unsafe.Add(p, 21)) // in the last page of the block, where no access faults
		fmt.Println("Close:", h.Close())
		fmt.Println("again:", h.Close())
	},
	"after Close": func(h *heap.Heap) {
		s := makeShip(h)
		fmt.Println("Close:", h.Close())
		s.x = 1
	},
}

//go:noinline
func makeShip(h *heap.Heap) *ship { return heap.Make[ship](h) }

//go:noinline
func freeShip(h *heap.Heap, s *ship) { heap.Free(h, s) }

//go:noinline
func use(p unsafe.Pointer) { *(*byte)(p) ^= 1 }

func TestMain(m *testing.M) {
	if child := children[os.Getenv(childVariable)]; child != nil {
		defer vm.Watch()()
		h, err := heap.New(heap.Options{Name: "ships"})
		if err != nil {
			panic(err)
		}
		child(h)
		fmt.Println("child has survived")
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// runChild starts a child with VAST_GUARD set to value. It returns the child's output and exit code.
func runChild(t *testing.T, child, value string) (says string, code int) {
	t.Helper()
	childtest.Needed(t)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childVariable+"="+child, "VAST_GUARD="+value)
	out, err := cmd.CombinedOutput()
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		code = exit.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	return string(out), code
}

func TestGuardedByEnvironment(t *testing.T) {
	for _, c := range []struct {
		child  string
		faults bool // the child dies of a memory fault
		code   int
		says   []string // parts of the output, in order
	}{
		{"use after free", true, 2, []string{"guard: use after free: byte 8 of a block (24 bytes) of " +
			"ships, which was freed", "at\n",
			"heap_test.init.func", "allocated at\n\t\tgithub.com/vastgo/vast/heap_test.makeShip ",
			"freed at\n\t\tgithub.com/vastgo/vast/heap_test.freeShip "}},
		{"past the end", true, 2, []string{"guard: access past the end: 1 byte past the end of a block (24 " +
			"bytes) of ships",
			"at\n\t\tgithub.com/vastgo/vast/heap_test.use ",
			"allocated at\n\t\tgithub.com/vastgo/vast/heap_test.makeShip "}},
		{"double free", false, 2, []string{"guard: double free: a block (24 bytes) of ships",
			"at\n\t\tgithub.com/vastgo/vast/heap_test.freeShip ",
			"allocated at\n\t\tgithub.com/vastgo/vast/heap_test.makeShip ",
			"freed at\n\t\tgithub.com/vastgo/vast/heap_test.freeShip "}},
		{"size of freed", false, 2, []string{"guard: use after free: byte 0 of a block (24 bytes) of ships",
			"freed at\n"}},
		{"interior", false, 2, []string{"guard: free of an interior address: byte 8 of a block (24 bytes) " +
			"of ships"}},
		{"overwritten at Close", false, 0, []string{"Close: guard: overwritten: 1 byte past the end of a " +
			"block (21 bytes) of ships",
			"again: <nil>", "child has survived"}},
		{"after Close", true, 2, []string{"Close: <nil>", "vm: bad access at 0x",
			" of ships is gone: its region was closed", "closed at "}},
	} {
		t.Run(c.child, func(t *testing.T) {
			if c.faults && vm.HeapStandIn() {
				t.Skip("blocks are Go heap memory in this build, where nothing faults")
			}
			says, code := runChild(t, c.child, "1/1")
			if code != c.code {
				t.Errorf("the child ended with status %d, want %d", code, c.code)
			}
			rest := says
			for _, want := range c.says {
				_, after, found := strings.Cut(rest, want)
				if !found {
					t.Fatalf("the output does not contain %q (in this order):\n%s", want, says)
				}
				rest = after
			}
		})
	}
}

// TestMalformedVariable checks that a malformed value is reported, and that "off" and the empty value are
// not. None of these values guards an allocation.
func TestMalformedVariable(t *testing.T) {
	for value, reports := range map[string]int{"often": 1, "1/0": 1, "off": 0, "": 0} {
		says, code := runChild(t, "double free", value)
		if n := strings.Count(says, "is ignored: write VAST_GUARD=1/1000 to guard one in a thousand "+
			"allocations"); n != reports {
			t.Errorf("VAST_GUARD=%s: the value was reported as invalid %d times, want %d:\n%s", value, n,
				reports, says)
		}
		if code != 2 || !strings.Contains(says, "it was freed already: free an allocation once") ||
			strings.Contains(says, "guard:") {
			t.Errorf("VAST_GUARD=%s: status %d, output\n%s", value, code, says)
		}
	}
}
