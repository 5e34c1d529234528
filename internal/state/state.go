// Package state describes the data that a world keeps in memory. Package store writes this state to files and
// restores it. Through package state, packages vast and bulk need not export anything for package store.
package state

import (
	"reflect"
	"unsafe"

	"github.com/vastgo/vast/internal/bitset"
	"github.com/vastgo/vast/internal/probing"
)

// Vast holds the methods of package vast that other packages, such as store and clone, call. Package vast
// sets Vast in an init function. The type is any because the parameters have types of package vast, which
// this package cannot import. The callers convert Vast to an interface by a type assertion.
var Vast any

// Bulk holds the methods of package bulk that other packages, such as store, call. Package bulk sets Bulk, as
// package vast sets Vast.
var Bulk any

// Events holds the method of package event that package store calls. Package event sets Events, as package
// vast sets Vast. Events is nil if the program does not import package event.
var Events any

// World is the state of a world, apart from the bytes of its arrays and the values on the Go heap.
type World struct {
	Mark       uint32 // the generation.Mark of the world's generations
	Alignment  int    // large extents begin at a multiple of this many bytes; 0 if no extent is aligned
	Words      int    // number of 64-slot words up to the last word that an archetype owns
	Used       int    // number of 64-slot words up to the last word that an archetype ever owned
	Columns    []Column
	Archetypes [][]int // indices into Columns for each archetype
	Extents    []Extent
	Arrays     []Array
}

// Column is a column of a world.
type Column struct {
	Name    string
	Linked  string // name of the relation or edges that the column belongs to, or empty
	Private bool   // whether the column holds the targets of a relation or edges
	Names   bool   // whether the column holds the world's names
	Cyclic  bool   // whether the column holds the sources of a relation that may have cycles
	// Disabled reports whether vast.NewDisabled made the column. Disables are the numbers of the columns
	// whose components the tag switches off; none if it switches entities off.
	Disabled bool
	Disables []int
	// OnDelete is the vast.OnDelete of the relation or edges whose sources the column holds.
	OnDelete uint8
	Storage  probing.Storage
	Type     reflect.Type // type of a component; nil for a tag
	Slots    int          // number above the slots of all entities with the component; a multiple of 64
	Pool     *Contents    // elements of a sparse column or of edges; nil for other columns
	Notes    []int        // for each tracker, a number above all slots with a bit in Changed, Touched or Had

	// Of is the column of package vast. In a restoration, Of is nil if the program no longer has the column.
	Of any
}

// Contents is the state of a container (see [Container]), apart from the bytes of its arrays.
type Contents struct {
	Kind    string            // kind of the container
	Len     int               // number of elements, rows, lists, pairs, events or jobs; 0 for a pool
	Slots   int               // number above all slots that were taken, in a pool or a bulk.Dense
	Mark    uint32            // the generation.Mark of a pool or a bulk.Dense
	Numbers map[string]uint64 // other numbers that the container needs for later operations
	Fields  []string          // names of a table's fields
	Indices []Contents        // indices that a bulk.Indexed keeps for the pool
}

// Extent is a run of 64-slot words that an archetype owns.
type Extent struct {
	Archetype, Word, Words uint32
	Spare                  uint32 // 1 if the extent was emptied and kept
}

// The kinds of arrays.
const (
	Floors          = "floors"           // per 64 slots: upper bound of the generations that Trim discarded
	Generations     = "generations"      // generation of each slot
	Live            = "live"             // bit of each slot: whether it holds an entity
	Presence        = "presence"         // bit of each slot: whether its entity has the component
	Elements        = "elements"         // element of each slot
	Links           = "links"            // link of each slot in a relation
	PoolLive        = "pool live"        // bit of each slot of a pool: whether it holds an element
	PoolWords       = "pool words"       // generations that 64 slots of a pool share
	PoolGenerations = "pool generations" // generation of each slot of a pool, for slots that share none
	PoolElements    = "pool elements"    // element of each slot of a pool
	Changed         = "changed"          // bits of a tracker for slots whose component was written or added
	Touched         = "touched"          // bits of a tracker for slots whose component was added or removed
	Had             = "had"              // bits of a tracker for touched slots that had the component before
	HadGenerations  = "had generations"  // generation of each slot in Had at the last look (see vast.Tracker)
	DenseSlots      = "slots"            // generation and 1 + element index of each slot of a bulk.Dense
	Fields          = "field"            // value of each row in a field of a table
	Slabs           = "slabs"            // slabs and stretches of lists
	ReadyCells      = "ready cells"      // cells that lists will use next
	Lists           = "lists"            // place, generation and length of each list
	Control         = "control"          // control word of each bucket of a hash index
	Pairs           = "pairs"            // pairs of an index, in the order of its loops
)

// Array is an array in the state of a world or a container. Its memory does not move.
type Array struct {
	Kind      string
	Column    int // index into World.Columns; -1 for an array of the world or of a container
	Container int // number of the container that the array belongs to, from 1 on; 0 for no container
	// Number distinguishes arrays of one kind. It is the number of a tracker among the trackers of its
	// column, the number of a table's field, or 1 + the number of a pool's index.
	Number int
	Type   reflect.Type
	Len    int // number of elements
	// Base is the address of the first element. It is nil if the elements do not lie side by side in memory:
	// such an array has the functions Read and Write.
	Base unsafe.Pointer
	// Read copies elements to dst, beginning with element lo. Several goroutines may call Read at the same
	// time.
	Read func(dst []byte, lo int)
	// Write copies elements from src, beginning with element lo. The caller must write the elements in their
	// order.
	Write func(src []byte, lo int) error
	// Kept returns a mask of the 64 elements from 64×group on: the bit of an element is set if the element
	// belongs to the state. Other elements need not be stored. The memory is usable up to the last element
	// that belongs to the state. Kept is nil if all elements belong to the state.
	Kept func(group int) uint64
	set  *bitset.Set // the set whose words Kept returns; nil if there is no such set
	// Bits reports whether the elements are words of bits. A restoration keeps these words on the Go heap
	// until it has checked them.
	Bits bool
	// Derived reports whether the array can be computed from other arrays of the state. If the element type
	// has changed, a restoration ignores the array in the file.
	Derived bool
	// Converted reports whether a restoration has found elements of another type in the file.
	Converted bool
	// Filled are the ranges [lo, hi) of elements that a restoration has written.
	Filled [][2]int
}

// ClearRest clears the filled elements that do not belong to the state. Package store writes zeros for these
// elements, but a forged file may hold other bytes. The function live returns a mask of the 64 elements of a
// word, as Array.Kept does.
func (a *Array) ClearRest(live func(word int) uint64) {
	for _, f := range a.Filled {
		for i := f[0]; i < f[1]; i++ {
			word := live(i / 64)
			if word == ^uint64(0) {
				i |= 63
			} else if word>>(i%64)&1 == 0 {
				clear(a.Bytes(i, i+1))
			}
		}
	}
}

// ArrayOf returns an array that describes a slice. Elements that are not zero belong to the state.
func ArrayOf[T comparable](kind string, column, number int, s []T) Array {
	return Array{Kind: kind, Column: column, Number: number, Type: reflect.TypeFor[T](), Len: len(s),
		Base: unsafe.Pointer(unsafe.SliceData(s)), Kept: func(group int) uint64 {
			return NotZero(s[group*64 : min(group*64+64, len(s))])
		}}
}

// In returns a copy of a in which the elements in s belong to the state.
func (a Array) In(s *bitset.Set) Array {
	a.Kept, a.set = func(group int) uint64 { return s.Word(uint(group)) }, s
	return a
}

// Masks fills masks, which has a word for each 64 elements, with the results of Kept. Kept must not be nil.
func (a *Array) Masks(masks []uint64) {
	if a.set != nil {
		copy(masks, unsafe.Slice((*uint64)(a.set.Words()), len(masks)))
		return
	}
	for i := range masks {
		masks[i] = a.Kept(i)
	}
}

// BitsOf returns an array that describes the first words of a set.
func BitsOf(kind string, column, number, words int, s *bitset.Set) Array {
	return Array{Kind: kind, Column: column, Number: number, Type: reflect.TypeFor[uint64](), Len: words,
		Base: s.Words(), Bits: true, Kept: func(group int) uint64 {
			mask, _ := s.Block(uint(group))
			if rest := words - group*64; rest < 64 {
				mask &= 1<<rest - 1
			}
			return mask
		}}
}

// NotZero returns a mask of up to 64 elements: the bit of an element is set if the element is not zero.
func NotZero[T comparable](s []T) (mask uint64) {
	var zero T
	for i, v := range s {
		if v != zero {
			mask |= 1 << i
		}
	}
	return mask
}

// Bytes returns the bytes of the elements [lo, hi), which must lie in the array. The result is a copy if Read
// is not nil.
func (a *Array) Bytes(lo, hi int) []byte {
	size := int(a.Type.Size())
	if a.Read != nil {
		b := make([]byte, (hi-lo)*size)
		a.Read(b, lo)
		return b
	}
	return unsafe.Slice((*byte)(unsafe.Add(a.Base, lo*size)), (hi-lo)*size)
}

// Container gives access to the state of a container of package bulk, of a queue of package event, or of the
// jobs of package sched. The rooms.Pool of a bulk.Pool also implements Container. A Container serves one
// description or one restoration.
type Container interface {
	// Of returns the containers of package bulk whose state the Container describes, an events.Queue, or a
	// *sched.Jobs.
	Of() []any
	// Describe returns the state of the container.
	Describe() Contents
	// Arrays returns the container's arrays. column is the index of the column that the container belongs to,
	// or -1.
	Arrays(c Contents, column int) []Array
	// Reserve prepares an unused container for the bytes of its arrays. The container may be used only after
	// Settle. If the container ever had an element, Reserve returns an error and changes nothing. If the
	// container has no room or the state contradicts itself, Reserve returns an error, and the container has
	// no elements.
	Reserve(c Contents) error
	// Settle ends a restoration: it computes the data that the arrays do not hold. The argument arrays is the
	// result of Arrays. Settle returns an error if the arrays contradict each other.
	Settle(c Contents, arrays []Array) error
	// Abandon empties a container whose restoration failed after Reserve.
	Abandon(c Contents)
}
