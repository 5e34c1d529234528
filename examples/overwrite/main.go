// Command overwrite shows how package guard finds a memory overwrite. Code with this bug writes to memory
// that it has freed. Later, wrong values appear in unrelated data, so the bug is hard to find.
//
// The function voyage contains such a bug. The command runs voyage with a [bulk.Pool], and a ship has a wrong
// value. Then it runs voyage with a [guard.Pool], and prints where the bug is.
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

// fleet is a [bulk.Pool] or a [guard.Pool].
type fleet interface {
	Insert(ship) (bulk.Handle[ship], *ship)
	Remove(bulk.Handle[ship]) bool
	Get(bulk.Handle[ship]) *ship
	Close() error
}

// yard repairs one ship at a time.
type yard struct {
	// The bug: the pointer outlives the ship. The field should be a bulk.Handle[ship].
	inDock *ship
}

func (y *yard) dock(s *ship) { y.inDock = s }

func (y *yard) work() { y.inDock.Hull += 25 }

func launch(ships fleet, name string, hull int) (bulk.Handle[ship], *ship) {
	s := ship{Hull: hull}
	copy(s.Name[:], name)
	return ships.Insert(s)
}

// sink does not tell the yard that the ship is gone.
func sink(ships fleet, h bulk.Handle[ship]) { ships.Remove(h) }

// voyage has the bug: the yard repairs a ship that has sunk.
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
	guarded, err := guard.NewPool[ship](bulk.Options{Name: "ships", Capacity: 1000}) // the only change
	if err != nil {
		return err
	}
	defer guarded.Close()
	run(out, guarded)
	return nil
}

// run calls voyage and prints the report of package guard. vm.Do turns a fault into a panic with a
// *guard.Fault.
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

// calls returns the two innermost calls of a stack, without the paths of packages and files.
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
