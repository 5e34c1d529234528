// Package probing connects package probe with package vast, so that package vast need not export anything for
// package probe.
package probing

import (
	"reflect"

	"github.com/vastgo/vast/internal/bitset"
	"github.com/vastgo/vast/vm"
)

// Vast holds the methods that package probe calls. Package vast sets Vast in an init function. The type is
// any because the parameters have types of package vast, which this package cannot import. Package probe
// converts Vast to an interface by a type assertion.
var Vast any

// Storage is the way in which a column keeps its elements. The constants are untyped, so that package probe
// can give them a type of its own.
type Storage uint8

const (
	StorageDense = iota
	StorageTag
	StorageSparse
	StorageHeap
	StorageShared
)

// Column describes a column.
type Column struct {
	ID      int
	Name    string
	Type    reflect.Type // type of an element; nil for a tag
	Storage Storage
	Linked  string // name of the relation or the edges that own the column; empty for other columns
	Private bool   // whether the column holds the targets of a relation or edges

	Disabled bool  // whether vast.NewDisabled made the column
	Disables []int // IDs of the columns whose components the tag switches off
}

// Kind is the kind of a [Part]. The constants are untyped, so that package probe can give them a type of its
// own.
type Kind uint8

const (
	KindElements = iota
	KindPresence
	KindSummaries
	KindGenerations
	KindOwners
	KindLive
	KindLinks
	KindLevels
	KindWritten
	KindMarks
	KindMarkGenerations
	KindGroups
	KindStore
	KindCommands
	KindHeap
)

// Part is an array, or a set of bits with its summaries, that a world keeps. It lies in Span, Seam or Set: at
// most one of these fields has a value. A part without a value in these fields lies outside of the world's
// regions and has Reserved bytes.
type Part struct {
	Kind   Kind
	Number int // index among the parts of the same kind and column

	Span *vm.Span
	Skew int // bytes before the first element of Span

	Seam  *vm.Seam
	Below bool // whether the part is the array of Seam that grows downwards

	Set *bitset.Set

	Stride int // number of bytes that a group of Share consecutive slots takes, in Span or Seam
	Share  int // number of slots in a group; 0 stands for 1

	Reserved, Committed int // bytes of a part that lies outside of the regions
}
