package vast

import (
	"iter"

	"github.com/vastgo/vast/internal/bitset"
)

// plainWalk is the state of a loop over a plain query (see query.plain). It is small, because each loop
// begins by clearing it.
type plainWalk struct {
	world   *World
	q       *query
	changes uint64        // World.changes when the walk began
	cursor  bitset.Cursor // the current run is [cursor.Lo, cursor.Hi)
}

// walk is the state of a loop over any query.
type walk struct {
	plainWalk

	// Queries that are not plain use the following fields.
	source    source
	end       uint // end of the run that is cut into parts; cursor.Hi is the end of the current part
	listed    listed
	linked    linkedSources
	unchecked uncheckedSlots
	pinned    int  // index of the next run in query.pinned
	at        uint // next slot of the current run; only nextPieceOfRun uses it
	pieces    bool // whether nextLinked may cut runs after 64 slots
	sifted    sifted

	joined  *joined // the state of the query's joins; nil if it has none
	settled bool    // whether changes during the walk must not change the result of the joins
}

func (k *walk) start(q *query) {
	if q == nil {
		panic(zeroQuery)
	}
	if q.epoch != q.world.epoch {
		q = q.renew()
	}
	k.world, k.q, k.changes = q.world, q, q.world.changes
	if q.flushes {
		q.flushDirty()
	}
	k.cursor.Start(&q.filter, uint(q.world.frontier))
	if !q.plain {
		k.startSource()
	}
}

// next moves to the next run and reports whether there is one.
func (k *walk) next() bool {
	if k.q.plain {
		return k.cursor.Next()
	}
	return k.nextPart()
}

func (k *plainWalk) run() Run {
	return Run{start: uint32(k.cursor.Lo), n: uint32(k.cursor.Hi - k.cursor.Lo), world: k.world}
}

// check panics if the structure changed since the walk began.
func (k *plainWalk) check() {
	if k.world.changes != k.changes {
		k.world.changedWhile("a query was running")
	}
}

func (q *query) runs(yield func(Run) bool) {
	var k walk
	k.start(q)
	k.runs(yield)
}

func (k *walk) runs(yield func(Run) bool) {
	for k.next() {
		if !yield(k.run()) {
			k.release()
			return
		}
		k.check()
	}
}

// each yields the slots of the remaining entities. It calls yield at one place only, so that the compiler can
// inline the body of the caller's loop.
func (k *walk) each(doing string) iter.Seq[Slot] {
	return func(yield func(Slot) bool) {
		world, changes, plain := k.world, k.changes, k.q.plain
		for {
			var base uint
			var mask uint64
			if plain { // not in nextPiece, which would cost one more call for each word
				base, mask = k.cursor.NextWord()
				base *= 64
			} else {
				base, mask = k.nextPiece()
			}
			if mask == 0 {
				return
			}
			for ; mask != 0; mask &= mask - 1 {
				if !yield(Slot{uint32(base) + trailingZeros(mask), world}) {
					return
				}
				if world.changes != changes {
					world.changedWhile(doing)
				}
			}
		}
	}
}

// nextPiece moves to the next entities of the walk. Bit i of the mask stands for the slot base + i. At the
// end of the walk the mask is zero.
func (k *walk) nextPiece() (base uint, mask uint64) {
	if k.source == fromLinks || k.source == fromPinned {
		return k.nextPieceOfRun()
	}
	word, mask := k.nextWord()
	return word * 64, mask
}

// nextPieceOfRun does the work of nextPiece for links and for pinned queries.
func (k *walk) nextPieceOfRun() (base uint, mask uint64) {
	if k.at == k.cursor.Hi {
		k.pieces = true
		if !k.nextPart() {
			return 0, 0
		}
		k.at = k.cursor.Lo
	}
	base = k.at
	n := min(k.cursor.Hi-k.at, 64)
	k.at += n
	return base, ^uint64(0) >> (64 - n)
}
