package vast

import (
	"iter"

	"github.com/vastgo/vast/internal/bitset"
)

// plainWalk is the state of one loop over a plain query. It is kept small, because each loop begins with
// clearing it.
type plainWalk struct {
	world   *World
	q       *query
	changes uint64        // the world's number of changes when the walk began
	cursor  bitset.Cursor // the current run is [cursor.Lo, cursor.Hi)
}

// walk is the state of one loop over any query.
type walk struct {
	plainWalk

	// These fields serve the queries that are not plain.
	source source
	end    uint // end of the run that is cut into parts; cursor.Hi is the end of the current part
	listed listed
	linked linkedSources
	slots  related
	pinned int  // number of runs of a pinned query that the walk has passed
	at     uint // the next slot of the current run, for nextPieceOfRun
	pieces bool // whether runs of links may be cut after 64 slots
}

func (k *walk) start(q *query) {
	if q == nil {
		panic(zeroQuery)
	}
	k.world, k.q, k.changes = q.world, q, q.world.changes
	if q.world.closed {
		q.world.mustBeOpen("Query")
	}
	if q.written != nil {
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

// run returns the current run.
func (k *plainWalk) run() Run {
	return Run{start: uint32(k.cursor.Lo), n: uint32(k.cursor.Hi - k.cursor.Lo), world: k.world}
}

// check panics if the structure changed since the walk began.
func (k *plainWalk) check() {
	if k.world.changes != k.changes {
		k.world.changedWhile("a query was running")
	}
}

// runs yields the runs of any query.
func (q *query) runs(yield func(Run) bool) {
	var k walk
	k.start(q)
	k.runs(yield)
}

// runs yields the remaining runs.
func (k *walk) runs(yield func(Run) bool) {
	for k.next() {
		if !yield(k.run()) {
			return
		}
		k.check()
	}
}

// each yields the slots of the remaining entities. The compiler copies the body of a caller's loop into this
// loop, as long as this loop calls yield at one place only.
func (k *walk) each(doing string) iter.Seq[Slot] {
	return func(yield func(Slot) bool) {
		world, changes, plain := k.world, k.changes, k.q.plain
		for {
			var base uint
			var mask uint64
			if plain { // done here, because nextPiece would cost one more call for each word
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

// nextPiece moves to the next entities of a walk. Bit i of the mask stands for the slot base + i. The mask is
// zero at the end of the walk.
func (k *walk) nextPiece() (base uint, mask uint64) {
	if k.source == fromLinks || k.source == fromPinned {
		return k.nextPieceOfRun()
	}
	word, mask := k.nextWord()
	return word * 64, mask
}

// nextPieceOfRun does the work of nextPiece for walks over links and over pinned queries.
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
