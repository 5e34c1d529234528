package sched

import (
	"fmt"
	"slices"

	"github.com/vastgo/vast/internal/access"
)

// AccessError says that a system used a column without declaring it. Only builds with -tags invariants check
// this.
type AccessError struct {
	// System is the name of the system, and Column the name of the column.
	System, Column string
	// Write reports whether the system wrote the column, or may have written it.
	Write bool
	// Others are the names of the other systems of the phase that declare a conflicting use of the column.
	Others []string
}

func (e *AccessError) Error() string {
	verb, list := "reads", "Reads or Writes"
	if e.Write {
		verb, list = "writes", "Writes"
	}
	others := ""
	if len(e.Others) > 0 {
		others = " and other systems of the phase use it (" + quoted(e.Others) + ")"
	}
	return fmt.Sprintf("sched: system %q %s column %s without declaring it%s: name the column in the "+
		"system's %s", e.System, verb, e.Column, others, list)
}

// watch checks each column access against the declarations of the system. stop ends the check. An undeclared
// access panics with an [*AccessError], which [Schedule.Tick] returns.
func (s *Schedule) watch(n *node) (stop func()) {
	return access.Watch(s.world, func(column int, write bool) {
		declared, writes := n.uses(column)
		if writes || declared && !write {
			return
		}
		e := &AccessError{System: n.Name, Column: s.world.Stats().Columns[column].Name, Write: write}
		for _, other := range s.nodes {
			if other == n || other.Phase != n.Phase {
				continue
			}
			if declared, writes := other.uses(column); writes || write && declared {
				e.Others = append(e.Others, other.Name)
			}
		}
		slices.Sort(e.Others)
		s.failed(n, e) // stops the tick even if the system recovers from the panic
		panic(e)
	})
}
