package sched

import (
	"slices"

	"github.com/vastgo/vast/internal/access"
)

// watch has every column that a system touches looked up in what it declares, until stop is called. What it does not declare
// panics with an [*AccessError], which [Schedule.Tick] returns.
func (s *Schedule) watch(n *node) (stop func()) {
	return access.Watch(s.world, func(column int, write bool) {
		declared, writes := n.uses(column)
		if writes || declared && !write {
			return
		}
		e := &AccessError{System: n.Name, Column: s.world.Stats().Columns[column].Name, Write: write}
		for _, other := range s.nodes {
			if declared, writes := other.uses(column); other != n && other.Phase == n.Phase && (writes || write && declared) {
				e.Others = append(e.Others, other.Name)
			}
		}
		slices.Sort(e.Others)
		s.failed(n, e) // now, lest the system catch the panic
		panic(e)
	})
}
