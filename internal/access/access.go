// Package access lets a schedule see the columns that a running system touches. Package vast reports every
// access to a column here, but only in builds that check invariants: an access takes a few instructions, and
// a report would slow it down.
package access

import "sync"

// watchers holds a func(column int, write bool) for each watched world.
var watchers sync.Map

// Watch calls f with the number of each column of the world that is touched, until stop is called. A world
// has at most one watcher.
func Watch(world any, f func(column int, write bool)) (stop func()) {
	watchers.Store(world, f)
	return func() { watchers.Delete(world) }
}

// Touch reports to the watcher of the world that a column is read or, with write, is or may be written.
func Touch(world any, column int, write bool) {
	if f, ok := watchers.Load(world); ok {
		f.(func(int, bool))(column, write)
	}
}
