// Package state describes what a world keeps in memory. Package store writes this state to files and restores
// it, and packages vast and bulk export nothing for that.
package state

import (
	"reflect"
	"unsafe"

	"github.com/vastgo/vast/internal/bitset"
	"github.com/vastgo/vast/internal/probing"
)

// Vast holds the methods that package store calls. Package vast sets it in an init function. The type is any
// because the parameters have types of package vast, which this package cannot import. Package store asserts
// an interface.
var Vast any

// Bulk does for package bulk what Vast does for package vast.
var Bulk any

// World is the state of a world, apart from the bytes of its arrays and the values on the Go heap.
type World struct {
	Mark       uint32 // of the world's generations
	Alignment  int    // extents that fill this many bytes begin at a multiple of it; 0 if none does
	Words      int    // 64-slot words up to the last one that an archetype owns
	Used       int    // 64-slot words up to the last one that an archetype owned
	Columns    []Column
	Archetypes [][]int // the columns of each archetype, as indices into Columns
	Extents    []Extent
	Arrays     []Array
}

// Column is a column of a world.
type Column struct {
	Name    string
	Linked  string // the name of the relation or edges that the column belongs to, or empty
	Private bool   // whether the column holds the targets of a relation or edges
	Names   bool   // whether the column is that of the world's names
	Cyclic  bool   // whether the column holds the sources of a relation that may have circles
	// OnDelete is the vast.OnDelete of the relation or edges whose sources the column holds.
	OnDelete uint8
	Storage  probing.Storage
	Type     reflect.Type // of a component; nil for a tag
	Slots    int          // every entity with the component has a slot below it; a multiple of 64
	Pool     *Contents    // of the elements of a sparse column or of edges; else nil
	Notes    []int        // for each tracker of the column, the end of the slots that it has notes about

	// Of is the column of package vast. A column that is to be restored and that the program no longer has
	// is nil here.
	Of any
}

// Contents is the state of a container of package bulk, apart from the bytes of its arrays.
type Contents struct {
	Kind    string            // of the container
	Len     int               // elements, rows, lists or pairs; 0 for a pool
	Slots   int               // of a pool or a dense: all slots that were taken lie below it
	Mark    uint32            // of the generations of a pool or a dense
	Numbers map[string]uint64 // other numbers that decide how the container continues
	Fields  []string          // the names of a table's fields
	Indices []Contents        // the indices that a bulk.Indexed keeps for the pool
}

// Extent is a run of 64-slot words that an archetype owns.
type Extent struct {
	Archetype, Word, Words uint32
	Spare                  uint32 // 1 if the extent was emptied and kept
}

// The kinds of arrays.
const (
	Floors          = "floors"           // the least generation of the slots of each 64-slot word
	Generations     = "generations"      // of each slot
	Live            = "live"             // a bit for each slot: whether it holds an entity
	Presence        = "presence"         // a bit for each slot: whether its entity has the component
	Elements        = "elements"         // of each slot
	Links           = "links"            // a relation's link of each slot
	PoolLive        = "pool live"        // a bit for each slot of a pool: whether it holds an element
	PoolWords       = "pool words"       // the generations that 64 slots of a pool share
	PoolGenerations = "pool generations" // of each slot of a pool that has one of its own
	PoolElements    = "pool elements"    // of each slot of a pool
	Changed         = "changed"          // a tracker's bits for slots whose element was written or gained
	Touched         = "touched"          // a tracker's bits for slots that gained or lost the component
	Had             = "had"              // a tracker's bits for touched slots that had it at the last look
	HadGenerations  = "had generations"  // of each slot in had
	DenseSlots      = "slots"            // of a dense: the generation of each slot, and 1 + its element
	Fields          = "field"            // of each row of a table
	Slabs           = "slabs"            // of lists: the slabs and stretches
	ReadyCells      = "ready cells"      // of lists: the cells that are handed out next
	Lists           = "lists"            // the place, generation and length of each list
	Control         = "control"          // of each bucket of a hash index
	Pairs           = "pairs"            // of an index, in the order of its loops
)

// Array is an array of a world's state. Its memory does not move.
type Array struct {
	Kind      string
	Column    int // index into World.Columns; -1 for an array of the world or of a container
	Container int // the number of the container that the array belongs to, from 1 on; else 0
	// Number tells arrays of one kind apart: it is the number of a tracker among those of its column, the
	// number of a table's field, or 1 + the number of a pool's index.
	Number int
	Type   reflect.Type
	Len    int // elements
	// Base is nil if the elements do not lie side by side in memory. Then there are Read and Write.
	Base unsafe.Pointer
	// Read copies elements from number lo on to dst. Several goroutines may call it at once.
	Read func(dst []byte, lo int)
	// Write takes elements from number lo on. They must come in order.
	Write func(src []byte, lo int) error
	// Kept returns which of the 64 elements from 64×group on belong to the state. The others need not be
	// kept. The memory is usable up to the last element that belongs to the state. Kept is nil if all
	// elements belong to the state.
	Kept func(group int) uint64
	set  *bitset.Set // its words are those that Kept returns; nil if there is no such set
	// Bits is whether the elements are words of bits. A restoration puts them into Go memory until it knows
	// that they are sound.
	Bits bool
	// Derived is whether the state can do without the array: it is left out if its type has changed.
	Derived bool
	// Converted is whether a restoration has found elements of another type in the file.
	Converted bool
	// Filled are the ranges of elements that a restoration has written.
	Filled [][2]int
}

// ClearRest clears those of the filled elements that do not belong to the state: package store writes zeros
// there, but a forged file may hold anything. live returns which of the 64 elements of a word belong to the
// state.
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

// ArrayOf describes a slice as an array. The elements that are not zero belong to the state.
func ArrayOf[T comparable](kind string, column, number int, s []T) Array {
	return Array{Kind: kind, Column: column, Number: number, Type: reflect.TypeFor[T](), Len: len(s),
		Base: unsafe.Pointer(unsafe.SliceData(s)), Kept: func(group int) uint64 {
			return NotZero(s[group*64 : min(group*64+64, len(s))])
		}}
}

// In returns a copy of a whose Kept returns the words of s: the elements in s belong to the state.
func (a Array) In(s *bitset.Set) Array {
	a.Kept, a.set = func(group int) uint64 { return s.Word(uint(group)) }, s
	return a
}

// Masks sets masks, which has a word for each 64 elements: a bit says whether its element belongs to the
// state. Kept must not be nil.
func (a *Array) Masks(masks []uint64) {
	if a.set != nil {
		copy(masks, unsafe.Slice((*uint64)(a.set.Words()), len(masks)))
		return
	}
	for i := range masks {
		masks[i] = a.Kept(i)
	}
}

// BitsOf describes the first words of a set as an array of bits.
func BitsOf(kind string, column, number, words int, s *bitset.Set) Array {
	return Array{Kind: kind, Column: column, Number: number, Type: reflect.TypeFor[uint64](), Len: words,
		Base: s.Words(), Bits: true, Kept: func(group int) uint64 {
			any, _ := s.Block(uint(group))
			if rest := words - group*64; rest < 64 {
				any &= 1<<rest - 1
			}
			return any
		}}
}

// NotZero returns which of up to 64 elements are not zero.
func NotZero[T comparable](s []T) (mask uint64) {
	var zero T
	for i, v := range s {
		if v != zero {
			mask |= 1 << i
		}
	}
	return mask
}

// Bytes returns the bytes of the elements [lo, hi), which must lie in the array. They are a copy if the array
// has a method Read.
func (a *Array) Bytes(lo, hi int) []byte {
	size := int(a.Type.Size())
	if a.Read != nil {
		b := make([]byte, (hi-lo)*size)
		a.Read(b, lo)
		return b
	}
	return unsafe.Slice((*byte)(unsafe.Add(a.Base, lo*size)), (hi-lo)*size)
}

// Container is a container of package bulk whose state can be kept. The rooms.Pool of a bulk.Pool is one. A
// Container serves one description or one restoration.
type Container interface {
	// Of returns the containers of package bulk whose state it is.
	Of() []any
	// Describe returns the state of the container.
	Describe() Contents
	// Arrays returns the container's arrays. column is the index of the column that the container belongs to,
	// or -1.
	Arrays(c Contents, column int) []Array
	// Reserve prepares a container that never had an element for the bytes of its arrays. The container may
	// be used only after Settle. Reserve returns an error if the container was used, or has no room, or if
	// the state contradicts itself; then the container has no elements.
	Reserve(c Contents) error
	// Settle ends a restoration: it derives from the arrays what they do not hold. It gets the arrays that
	// Arrays has returned, in their order. It returns an error if they contradict each other.
	Settle(c Contents, arrays []Array) error
	// Abandon empties a container whose restoration failed after Reserve.
	Abandon(c Contents)
}
