// Package access lets a schedule see the columns that a running system reads and writes. Package vast calls
// [Touch] at every access to a column, but only in builds that check invariants, because an access takes only
// a few instructions and a call of Touch many more.
package access

import "sync"

// watchers holds a func(column int, write bool) for each watched world.
var watchers sync.Map

// Watch calls f at each access to a column of the world, until stop is called. f gets the arguments of
// [Touch]. A world must have at most one watcher.
func Watch(world any, f func(column int, write bool)) (stop func()) {
	watchers.Store(world, f)
	return func() { watchers.Delete(world) }
}

// Touch reports an access to a column to the watcher of the world. column is the number of the column. write
// is false for an access that only reads, and true for an access that writes or may write.
func Touch(world any, column int, write bool) {
	if f, ok := watchers.Load(world); ok {
		f.(func(int, bool))(column, write)
	}
}
