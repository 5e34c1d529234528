// Package sharing connects package shared with package vast, so that package vast need not export anything
// for package shared. It has the [Table] of the distinct values of a shared column.
package sharing

import "unsafe"

// Vast holds the methods that package shared calls. Package vast sets Vast in an init function. The type is
// any because the parameters have types of package vast, which this package cannot import. Package shared
// converts Vast to an interface by a type assertion.
var Vast any

// Cells is the memory of a column. The addresses never change.
type Cells struct {
	Base  unsafe.Pointer // the element of slot 0; the elements of usable slots are committed
	Words unsafe.Pointer // the presence words; the words of usable slots are committed
	Slots *uint32        // number of usable slots, a multiple of 64
}

// Matcher is a condition on the component of an entity. A query tests it 64 slots at a time.
type Matcher interface {
	// Match returns the slots of mask whose components meet the condition. mask is a set of slots of a
	// 64-slot word; each slot of mask has the component. Several goroutines may call Match at the same time.
	Match(word uint32, mask uint64) uint64
}

// Piece is a range of slots whose components have the same value.
type Piece struct{ Start, Len uint32 }
