// Package access lets a schedule see which columns the system that it runs touches. Package vast reports every look-up and
// change of a column here, in builds that check invariants only: a look-up is a few instructions, and has no time for it
// otherwise.
package access

import "sync"

// watchers holds a func(column int, write bool) for each world that is watched.
var watchers sync.Map

// Watch has f called for every column of the world that is touched, by number, until stop is called. One watcher a world.
func Watch(world any, f func(column int, write bool)) (stop func()) {
	watchers.Store(world, f)
	return func() { watchers.Delete(world) }
}

// Touch tells who watches the world that a column is read, or is written or may be.
func Touch(world any, column int, write bool) {
	if f, ok := watchers.Load(world); ok {
		f.(func(int, bool))(column, write)
	}
}
