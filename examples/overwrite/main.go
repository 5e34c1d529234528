// Command overwrite finds a memory overwrite, one of the hardest bugs to find: code writes to memory that it
// has freed, and the damage shows later in unrelated data.
//
// The program below contains such a bug. It first runs with a [bulk.Pool] and shows the symptom. Then it runs
// with a [guard.Pool] and shows the report. One line of code makes the difference.
package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/vastgo/vast/bulk"
	"github.com/vastgo/vast/guard"
	"github.com/vastgo/vast/vm"
)

type ship struct {
	Name  [12]byte
	Hull  int
	Cargo int
}

// fleet is the interface of both pools: the methods that this program calls.
type fleet interface {
	Insert(ship) (bulk.Handle[ship], *ship)
	Remove(bulk.Handle[ship]) bool
	Get(bulk.Handle[ship]) *ship
	Close() error
}

// yard repairs one ship at a time.
type yard struct {
	// The bug: the pointer outlives the ship. It should be a bulk.Handle[ship].
	inDock *ship
}

func (y *yard) dock(s *ship) { y.inDock = s }

func (y *yard) work() { y.inDock.Hull += 25 }

// launch adds a ship to the fleet.
func launch(ships fleet, name string, hull int) (bulk.Handle[ship], *ship) {
	s := ship{Hull: hull}
	copy(s.Name[:], name)
	return ships.Insert(s)
}

// sink removes a ship from the fleet, but does not tell the yard.
func sink(ships fleet, h bulk.Handle[ship]) { ships.Remove(h) }

// voyage is the buggy program. It prints the hull of the merchant.
func voyage(out io.Writer, ships fleet) {
	var y yard
	raider, s := launch(ships, "raider", 100)
	y.dock(s)
	sink(ships, raider)
	merchant, _ := launch(ships, "merchant", 40)
	y.work()
	fmt.Fprintf(out, "The merchant was launched with hull 40 and never repaired. It has hull %d.\n",
		ships.Get(merchant).Hull)
}

func main() {
	if err := hunt(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "overwrite:", err)
		os.Exit(1)
	}
}

func hunt(out io.Writer) error {
	fmt.Fprintln(out, "With bulk.NewPool:")
	plain, err := bulk.NewPool[ship](bulk.Options{Name: "ships", Capacity: 1000})
	if err != nil {
		return err
	}
	defer plain.Close()
	run(out, plain)

	fmt.Fprintln(out, "\nWith guard.NewPool:")
	guarded, err := guard.NewPool[ship](bulk.Options{Name: "ships", Capacity: 1000}) // the line that differs
	if err != nil {
		return err
	}
	defer guarded.Close()
	run(out, guarded)
	return nil
}

// run makes the voyage and prints the report, if there is one. vm.Do does not disturb a pool without guards.
func run(out io.Writer, ships fleet) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case *guard.Fault:
			fmt.Fprintf(out, "%v of %s, byte %d of %d\n", r.Kind, r.Type, r.Offset, r.Size)
			fmt.Fprintf(out, "  accessed by  %s\n", calls(r.At))
			fmt.Fprintf(out, "  allocated by %s\n", calls(r.AllocatedAt))
			fmt.Fprintf(out, "  freed by     %s\n", calls(r.FreedAt))
		default:
			panic(r)
		}
	}()
	vm.Do(func() { voyage(out, ships) })
}

// calls returns the two innermost calls of a stack in short form. The text of a [guard.Fault] has the whole
// stack with full paths.
func calls(s guard.Stack) string {
	var short []string
	for f := range s.Frames() {
		function := f.Function[strings.LastIndex(f.Function, "/")+1:]
		_, function, _ = strings.Cut(function, ".")
		short = append(short, fmt.Sprintf("%s (%s:%d)", function, filepath.Base(f.File), f.Line))
		if len(short) == 2 {
			break
		}
	}
	return strings.Join(short, " from ")
}
