package sched

import (
	"fmt"
	"strings"

	"github.com/vastgo/vast/vm"
)

// OrderError says why the systems cannot be brought into an order.
type OrderError struct {
	// Systems are those concerned; for a cycle the way around it, from a system back to itself.
	Systems []string
	detail  string
}

func (e *OrderError) Error() string { return "sched: " + e.detail }

// PanicError says that a system panicked, or ended its goroutine, or made a memory fault.
type PanicError struct {
	// System is the system's name; empty where a hook panicked while commands were applied.
	System string
	// Value is what it panicked with; where it touched memory that is not there, a [*vm.Fault] that says what it was, or a
	// [*guard.Fault]. So it is on every goroutine of a schedule, but not on those that a system starts: see [vm.Watch].
	//
	// [*guard.Fault]: https://pkg.go.dev/github.com/vastgo/vast/guard#Fault
	Value any
	// Stack is where, as by runtime/debug.Stack.
	Stack []byte
}

func (e *PanicError) Error() string {
	if e.System == "" {
		return fmt.Sprintf("sched: a hook panicked while commands were applied: %v", e.Value)
	}
	return fmt.Sprintf("sched: system %q panicked: %v", e.System, e.Value)
}

// explained returns what is known of a memory fault, and any other value as it is.
func explained(v any) any {
	if err, ok := vm.Explain(v); ok {
		return err
	}
	return v
}

// Unwrap returns the value if it is an error, such as the *vm.Error of a full memory limit.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// StructureError says that the structure of the world changed while systems ran that are not exclusive. The changes are
// made; another system may have seen only some of them.
type StructureError struct {
	// Systems are those that were running, one of which made the changes.
	Systems []string
}

func (e *StructureError) Error() string {
	who := "one of the systems"
	if len(e.Systems) == 1 {
		who = "system"
	}
	return fmt.Sprintf("sched: %s %s changed the structure of the world directly: record it in Context.Commands, or make "+
		"the system Exclusive", who, quoted(e.Systems))
}

// AccessError says that a system touched a column that it does not declare. Only builds with the tag invariants look.
type AccessError struct {
	// System and Column are the names of the two.
	System, Column string
	// Write tells whether it wrote the column, or may have.
	Write bool
	// Others are the systems of its phase whose declared use of the column conflicts with this one, by name.
	Others []string
}

func (e *AccessError) Error() string {
	did, list := "reads", "Reads or Writes"
	if e.Write {
		did, list = "writes", "Writes"
	}
	others := ""
	if len(e.Others) > 0 {
		others = ", and may run beside " + quoted(e.Others) + ", which declares it"
	}
	return fmt.Sprintf("sched: system %q %s column %s and does not say so%s: name the column in its %s", e.System, did,
		e.Column, others, list)
}

func quoted(names []string) string {
	var b strings.Builder
	for i, name := range names {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%q", name)
	}
	return b.String()
}
