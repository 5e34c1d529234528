package sampling_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/vastgo/vast/arena"
	"github.com/vastgo/vast/bulk"
	"github.com/vastgo/vast/internal/childtest"
	"github.com/vastgo/vast/vm"
)

// childVariable is the environment variable that selects what a child process runs: a key of the map
// children.
const childVariable = "VAST_SAMPLING_TEST_CHILD"

// inSecondPage is the index of an 8-byte element in the second page. Without VAST_GUARD, this page stays
// usable if a container is truncated to ten elements.
var inSecondPage = vm.PageSize() * 3 / 2 / 8

// children are programs that access elements whose memory a container has given up.
var children = map[string]func(){
	"arena": func() {
		a := made(arena.New(arena.Options{Name: "frame"}))
		first := arena.Make[uint64](a)
		m := a.Mark()
		s := arena.MakeSlice[uint64](a, 10_000, 10_000)
		release(a, m)
		*first = 1
		arena.MakeSlice[uint64](a, 10, 10)
		s[9_999] = 1
	},
	"array": func() {
		a := made(bulk.NewArray[uint64](bulk.Options{Name: "events"}))
		s := made(a.AppendN(40_000))
		truncate(a)
		a.Append(1)
		s[0], s[9] = 1, 1
		s[inSecondPage] = 1
	},
	"emptied array": func() {
		a := made(bulk.NewArray[uint64](bulk.Options{Name: "events"}))
		s := made(a.AppendN(20_000))
		a.Truncate(0)
		for range 3 {
			a.Append(1)
		}
		fmt.Println("length", a.Len(), a.Slice())
		s[19_999] = 1
	},
	"table": func() {
		table := bulk.NewTable(bulk.TableOptions{Name: "planets"})
		f := bulk.NewField[uint64](table, "mass")
		made(table.AppendN(40_000))
		p := f.At(inSecondPage)
		table.Truncate(10)
		table.Append()
		*p = 1
	},
}

func made[C any](c C, err error) C {
	if err != nil {
		panic(err)
	}
	return c
}

//go:noinline
func release(a *arena.Arena, m arena.Mark) { a.Release(m) }

//go:noinline
func truncate(a *bulk.Array[uint64]) { a.Truncate(10) }

func TestMain(m *testing.M) {
	if child := children[os.Getenv(childVariable)]; child != nil {
		func() {
			defer vm.Watch()()
			child()
		}()
		fmt.Println("child has survived")
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// TestGivenUp: with VAST_GUARD, memory that a container gave up is inaccessible, even close to the remaining
// elements. Without VAST_GUARD, nothing detects most of these accesses, because a container keeps some memory
// for the next elements.
func TestGivenUp(t *testing.T) {
	if vm.HeapStandIn() {
		t.Skip("containers are Go heap memory in this build, where nothing faults")
	}
	childtest.Needed(t)
	for child, texts := range map[string][]string{
		"arena": {"byte 80000 of frame lies in memory that was given back: drop every pointer before its " +
			"mark is released or the arena is reset", "made at ",
			"given back at ", "vm/span.go:", "arena/mark.go:", "containers_test.go:"},
		"array": {fmt.Sprintf("element %d of events lies in memory that was given back: drop pointers and "+
			"slices", inSecondPage), "given back at ", "bulk/array.go:",
			"containers_test.go:"},
		"emptied array": {"length 3 [1 1 1]", "element 19999 of events lies in memory that was given back",
			"given back at "},
		"table": {fmt.Sprintf("row %d of field mass of planets lies in memory that was given back",
			inSecondPage), "given back at ", "containers_test.go:"},
	} {
		t.Run(child, func(t *testing.T) {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), childVariable+"="+child, "VAST_GUARD=1/1")
			out, err := cmd.CombinedOutput()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != 2 {
				t.Errorf("the program ended with %v, want exit status 2", err)
			}
			rest := string(out)
			for _, want := range texts {
				_, after, found := strings.Cut(rest, want)
				if !found {
					t.Fatalf("the report lacks %q, or has it in another order:\n%s", want, out)
				}
				rest = after
			}
			if child == "emptied array" {
				return // the array gives this much memory back even without VAST_GUARD
			}
			cmd = exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), childVariable+"="+child, "VAST_GUARD=off")
			if out, err := cmd.CombinedOutput(); err != nil ||
				!strings.Contains(string(out), "child has survived") {
				t.Errorf("without VAST_GUARD, the program must survive, but ended with %v:\n%s", err, out)
			}
		})
	}
}
