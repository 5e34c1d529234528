package sched

import (
	"fmt"
	"strings"

	"github.com/vastgo/vast/vm"
)

// OrderError says why the systems have no valid order.
type OrderError struct {
	// Systems are the names of the systems in question. A cycle is listed in order, and its first name is
	// repeated at the end.
	Systems []string
	detail  string
}

func (e *OrderError) Error() string { return "sched: " + e.detail }

// PanicError says that a system, a job or a hook panicked or caused a memory fault, or that a system or a job
// ended its goroutine.
type PanicError struct {
	// System is the system's name. If a function of [Context.AfterTick] panicked, System is the name of the
	// system that passed the function. System is empty if a hook panicked while commands were applied.
	System string
	// Job is the name of the [Jobs] if the system received the result of a job that panicked or ended its
	// goroutine. Otherwise Job is empty.
	Job string
	// Value is the value of the panic, or a text if the system or the job ended its goroutine. For a fault in
	// memory of package vm, Value is a [*vm.Fault] that describes the memory, or a *guard.Fault.
	Value any
	// Stack is the stack of the panic, as runtime/debug.Stack formats it. It is nil if the system or the job
	// ended its goroutine.
	Stack []byte
}

func (e *PanicError) Error() string {
	if e.System == "" {
		return fmt.Sprintf("sched: a hook panicked while commands were applied: %v", e.Value)
	}
	if e.Job != "" {
		return fmt.Sprintf("sched: system %q received the result of a job of %q that panicked: %v", e.System,
			e.Job, e.Value)
	}
	return fmt.Sprintf("sched: system %q panicked: %v", e.System, e.Value)
}

// explained explains a memory fault and returns any other value unchanged.
func explained(v any) any {
	if err, ok := vm.Explain(v); ok {
		return err
	}
	return v
}

// Unwrap returns Value if it is an error, for example the [*vm.Error] of a full memory limit.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// StructureError says that a system that is not exclusive changed the structure of the world. The changes
// stay. Another system may have seen only some of them.
type StructureError struct {
	// Systems are the systems that were running when the changes were found. One of them made the changes.
	Systems []string
}

func (e *StructureError) Error() string {
	who := "one of the systems"
	if len(e.Systems) == 1 {
		who = "system"
	}
	return fmt.Sprintf("sched: %s %s changed the structure of the world directly: "+
		"record the changes in Context.Commands, or make the system Exclusive", who, quoted(e.Systems))
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
