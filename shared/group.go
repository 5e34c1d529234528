package shared

import (
	"iter"
	"math/bits"
	"slices"
	"sync"
	"unsafe"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/sharing"
)

// GroupBy yields the query's entities that have the component, grouped by their value: for each value, all
// runs of entities that have it, in ascending order of slots. The values come in the order in which the
// query meets them. For example, a renderer sets up each material once:
//
//	var bound Material
//	for material, run := range materials.GroupBy(visible) {
//		if material != bound { … }
//
// GroupBy groups the entities when the loop begins. The loop may write values of any column. If the loop
// changes the structure of the world, the next step panics, as in [vast.Query.Runs].
//
// Complexity: a few steps for each entity, 8 bytes for each run, and about 20 bytes for each value of the
// column. GroupBy keeps its memory for the next loop over groups, of any column.
func (c Column[T]) GroupBy(q vast.Query) iter.Seq2[T, vast.Run] {
	return func(yield func(T, vast.Run) bool) { c.groupBy(q, yield) }
}

func (c Column[T]) groupBy(q vast.Query, yield func(T, vast.Run) bool) {
	const method = "shared.Column.GroupBy"
	c.mustBeMade("GroupBy")
	w := engine.WorldOf(method, q, c.anyColumn)
	g := takeGroups()
	defer g.giveBack()
	c.table.Hold()
	defer c.table.Release()
	changes := w.Changes()
	g.gather(q, c.cells, 4, int(c.table.End()))
	for i, number := range g.keys {
		v := c.value(number)
		for _, p := range g.pieces[g.first(i):g.next[i]] {
			if !yield(v, engine.RunOf(w, p)) {
				return
			}
			if w.Changes() != changes {
				engine.PanicChanged(w, method+" was running")
			}
		}
	}
}

// GroupByTarget yields the query's entities that have a target in the relation, grouped by their target: for
// each target, all runs of sources, in ascending order of slots. The targets come in the order in which the
// query meets their sources. The rules of [Column.GroupBy] hold.
//
// Complexity: a few steps for each entity, 8 bytes for each run and each target, and about 10 bytes for each
// slot of the world. GroupByTarget keeps its memory like GroupBy.
func GroupByTarget(q vast.Query, rel vast.Relation) iter.Seq2[vast.Entity, vast.Run] {
	return func(yield func(vast.Entity, vast.Run) bool) { groupByTarget(q, rel, yield) }
}

func groupByTarget(q vast.Query, rel vast.Relation, yield func(vast.Entity, vast.Run) bool) {
	const method = "shared.GroupByTarget"
	w := engine.WorldOf(method, q, rel)
	g := takeGroups()
	defer g.giveBack()
	changes := w.Changes()
	g.gather(q, engine.Cells(rel), unsafe.Sizeof(vast.Entity{}), w.Slots())
	for i := range g.keys {
		pieces := g.pieces[g.first(i):g.next[i]]
		target, _ := rel.Target(engine.RunOf(w, pieces[0]).Entity(0))
		for _, p := range pieces {
			if !yield(target, engine.RunOf(w, p)) {
				return
			}
			if w.Changes() != changes {
				engine.PanicChanged(w, method+" was running")
			}
		}
	}
}

// groups sorts slots by keys of 32 bits, such as the numbers of values. It is a counting sort of pieces:
// ranges of slots with the same key.
type groups struct {
	known  []uint64 // for each key: the epoch in which the key was seen, and the number of its group
	epoch  uint32
	keys   []uint32        // the key of each group
	pieces []sharing.Piece // the pieces of each group, one group after the other
	// next has an element for each group. gather first counts the pieces of the groups in next. Then an
	// element is the index at which gather puts the next piece of the group, and at the end the index after
	// the last piece.
	next   []uint32
	counts []uint32 // for Column.Values: the number of entities of each value
}

// free holds groups whose memory the next loop uses.
var free = sync.Pool{New: func() any { return new(groups) }}

func takeGroups() *groups { return free.Get().(*groups) }

func (g *groups) giveBack() { free.Put(g) }

// first returns the index of the first piece of group i.
func (g *groups) first(i int) uint32 {
	if i == 0 {
		return 0
	}
	return g.next[i-1]
}

// gather sorts the slots of the query's entities that have a component. The key of a slot is the first 4
// bytes of the slot's element, which has `stride` bytes. All keys are below end.
func (g *groups) gather(q vast.Query, c sharing.Cells, stride uintptr, end int) {
	if end > len(g.known) {
		g.known = make([]uint64, end+end/4)
	}
	if g.epoch++; g.epoch == 0 {
		clear(g.known)
		g.epoch = 1
	}
	g.keys, g.next = g.keys[:0], g.next[:0]
	for key := range piecesOf(q, c, stride) {
		g.next[g.of(key)]++
	}
	total := uint32(0)
	for i, n := range g.next {
		g.next[i] = total
		total += n
	}
	g.pieces = slices.Grow(g.pieces[:0], int(total))[:total]
	for key, p := range piecesOf(q, c, stride) {
		at := &g.next[g.of(key)]
		g.pieces[*at] = p
		*at++
	}
}

// of returns the number of the key's group. It makes the group at the first call.
func (g *groups) of(key uint32) uint32 {
	known := &g.known[key]
	if uint32(*known>>32) != g.epoch {
		*known = uint64(g.epoch)<<32 | uint64(len(g.keys))
		g.keys, g.next = append(g.keys, key), append(g.next, 0)
	}
	return uint32(*known)
}

// allEqual reports whether all elements are equal to number.
func allEqual(numbers *[64]uint32, number uint32) bool {
	return numbers[0] == number && numbers[63] == number && equal(numbers, number) == ^uint64(0)
}

// piecesOf yields the longest ranges of slots whose entities match the query and have the same key. It is
// sound because it reads only elements of words with a component: the column has committed these elements.
func piecesOf(q vast.Query, c sharing.Cells, stride uintptr) iter.Seq2[uint32, sharing.Piece] {
	return func(yield func(uint32, sharing.Piece) bool) {
		var p sharing.Piece
		var key uint32
		for word, mask := range q.Words() {
			slot := uint32(word) * 64
			if slot >= *c.Slots {
				break
			}
			mask &= *(*uint64)(unsafe.Add(c.Words, word*8))
			first := unsafe.Add(c.Base, uintptr(slot)*stride)
			if mask == ^uint64(0) && p.Len > 0 && p.Start+p.Len == slot && stride == 4 &&
				allEqual((*[64]uint32)(first), key) {
				p.Len += 64
				continue
			}
			for ; mask != 0; mask &= mask - 1 {
				i := uint32(bits.TrailingZeros64(mask))
				k := *(*uint32)(unsafe.Add(first, uintptr(i)*stride))
				if k == key && slot+i == p.Start+p.Len {
					p.Len++
					continue
				}
				if p.Len > 0 && !yield(key, p) {
					return
				}
				key, p = k, sharing.Piece{Start: slot + i, Len: 1}
			}
		}
		if p.Len > 0 {
			yield(key, p)
		}
	}
}
