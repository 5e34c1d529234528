package guard_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"unsafe"

	"github.com/vastgo/vast/bulk"
	"github.com/vastgo/vast/guard"
	"github.com/vastgo/vast/internal/childtest"
	"github.com/vastgo/vast/vm"
)

// childVariable is the name of an environment variable. If the value of the variable is a key of children,
// the process runs this child in place of the tests.
const childVariable = "VAST_GUARD_TEST_CHILD"

// children maps a name to a program that dies of one bad access or one bad call.
var children = map[string]func(){
	"write after free": func() {
		defer vm.Watch()()
		p := childBlock(false)
		freeRecord(ofChild, p)
		writeByte(at(p), 16)
	},
	"write past the end":   func() { defer vm.Watch()(); writeByte(at(childBlock(false)), 44) },
	"write before a start": func() { defer vm.Watch()(); writeByte(at(childBlock(true)), -3) },
	"double free":          func() { p := childBlock(false); freeRecord(ofChild, p); freeRecord(ofChild, p) },
	"overwritten":          func() { p := childBlock(false); writeByte(at(p), -3); freeRecord(ofChild, p) },
	"stale element":        staleElement,
	"not watched": func() {
		p := childBlock(false)
		freeRecord(ofChild, p)
		fmt.Printf("writing to %#x\n", uintptr(at(p))+16)
		writeByte(at(p), 16)
	},
	"other goroutine": func() {
		defer vm.Watch()()
		p := childBlock(false)
		freeRecord(ofChild, p)
		fmt.Printf("writing to %#x\n", uintptr(at(p))+16)
		go writeByte(at(p), 16)
		select {}
	},
}

var ofChild *guard.Allocator

func at(p *record) unsafe.Pointer { return unsafe.Pointer(p) }

func childBlock(atStart bool) *record {
	var err error
	if ofChild, err = guard.NewAllocator(guard.Options{Name: "child", AtStart: atStart}); err != nil {
		fmt.Println(err)
		os.Exit(0)
	}
	return allocateRecord(ofChild)
}

func staleElement() {
	defer vm.Watch()()
	p, err := guard.NewPool[record](bulk.Options{Name: "records"})
	if err != nil {
		fmt.Println(err)
		os.Exit(0)
	}
	h, e := p.Insert(record{id: 1})
	p.Remove(h)
	p.Insert(record{id: 2})
	e.data[0] = 3 //vastvet:ignore useafter: the test needs this use
}

func TestMain(m *testing.M) {
	if child := children[os.Getenv(childVariable)]; child != nil {
		child()
		fmt.Println("child has survived")
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestDeath(t *testing.T) {
	for _, c := range []struct {
		child  string
		faults bool     // the child dies of a memory fault
		says   []string // parts of the output, in order
	}{
		{"write after free", true, []string{"panic: guard: use after free: byte 16 of record (40 bytes) of " +
			"child, which was freed",
			"at\n", "guard_test.writeByte ", "allocated at\n", "guard_test.allocateRecord ", "freed at\n",
			"guard_test.freeRecord "}},
		{"write past the end", true, []string{"panic: guard: access past the end: 5 bytes past the end of " +
			"record (40 bytes) of child",
			"at\n", "guard_test.writeByte ", "allocated at\n", "guard_test.allocateRecord "}},
		{"write before a start", true, []string{
			"panic: guard: access before the start: 3 bytes before the start of record (40 bytes) of child",
			"at\n", "guard_test.writeByte ",
			"allocated at\n", "guard_test.allocateRecord "}},
		{"double free", false, []string{"panic: guard: double free: record (40 bytes) of child", "at\n",
			"guard_test.freeRecord ",
			"allocated at\n", "guard_test.allocateRecord ", "freed at\n", "guard_test.freeRecord "}},
		{"overwritten", false, []string{"panic: guard: overwritten: 3 bytes before the start of record (40 " +
			"bytes) of child",
			"found at\n", "guard_test.freeRecord ", "allocated at\n", "guard_test.allocateRecord "}},
		{"stale element", true, []string{"panic: guard: use after free: byte 8 of record (40 bytes) of " +
			"records, which was freed",
			"at\n", "guard_test.staleElement ", "allocated at\n", "guard_test.staleElement ", "freed at\n",
			"guard_test.staleElement "}},
		{"not watched", true, []string{"unexpected fault address 0x", "fatal error: fault",
			"guard_test.writeByte("}},
		{"other goroutine", true, []string{"unexpected fault address 0x", "fatal error: fault",
			"guard_test.writeByte("}},
	} {
		t.Run(c.child, func(t *testing.T) {
			if c.faults {
				skipWhereNothingFaults(t)
			}
			childtest.Needed(t)
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), childVariable+"="+c.child)
			out, err := cmd.CombinedOutput()
			if errors.Is(err, errors.ErrUnsupported) {
				t.Skip("this system cannot start processes:", err)
			}
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != 2 {
				t.Errorf("the child ended with %v, want exit status 2", err)
			}
			rest := string(out)
			for _, want := range c.says {
				_, after, found := strings.Cut(rest, want)
				if !found {
					t.Fatalf("the output does not contain %q (in this order):\n%s", want, out)
				}
				rest = after
			}
			// The children "not watched" and "other goroutine" print the address of their bad write. The
			// runtime must name this address.
			if _, after, found := strings.Cut(string(out), "writing to "); found {
				address, _, _ := strings.Cut(after, "\n")
				if !strings.Contains(after, "unexpected fault address "+address+"\n") {
					t.Errorf("the output does not name the address %s:\n%s", address, out)
				}
			}
		})
	}
}
