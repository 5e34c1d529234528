// Package access tells a schedule which columns a running system reads and writes. In builds that check
// invariants, package vast calls [Touch] when a component is read or written, or a column changes. Tests of
// presence, such as Column.Has, and most reads of links do not call Touch. Other builds never call Touch,
// because the call takes much longer than the access.
package access

import "sync"

// watchers holds a func(column int, write bool) for each watched world.
var watchers sync.Map

// Watch makes each call of [Touch] for the world call f, until stop is called. f gets the arguments column
// and write of Touch. A world must have at most one watcher.
func Watch(world any, f func(column int, write bool)) (stop func()) {
	watchers.Store(world, f)
	return func() { watchers.Delete(world) }
}

// Touch reports an access to a column to the watcher of the world. column is the number of the column. write
// reports whether the access may write.
func Touch(world any, column int, write bool) {
	if f, ok := watchers.Load(world); ok {
		f.(func(int, bool))(column, write)
	}
}
