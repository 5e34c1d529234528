package vast

import "iter"

// Batch is a part of a query's matches for one worker: the matches in a range of words of 64 slots. It is
// valid until the world's structure changes. The batches of a query share no word, so they may run on
// different goroutines at the same time.
type Batch struct {
	q       *query
	joined  *joined // the state of the query's joins, shared by all batches; nil if it has none
	changes uint64  // the world's count of changes when the batch was made
	lo, end uint32  // range [lo, end) of words
	n       int     // number of entities
}

// Batches cuts the matching entities into batches of n to n+63 entities, because the cuts lie between words.
// The last batch may have fewer. The cuts depend only on the world and on n. If the results of the batches
// are combined in the order of the batches, they are equal for any number of workers. Batches panics if n is
// not positive. The rules of [Query.Runs] hold. Complexity: one step for each run and for each batch. Batches
// reads no components except those that [Query.Count] reads.
func (q Query) Batches(n int) iter.Seq[Batch] {
	if n <= 0 {
		panic("vast: Query.Batches: the number of entities must be positive")
	}
	return func(yield func(Batch) bool) {
		k := walk{settled: true}
		k.start(q.q)
		k.goBySlot()
		if k.joined != nil {
			k.joined.shared = true
		}
		b := Batch{q: k.q, joined: k.joined, changes: k.changes}
		for k.next() {
			for lo, hi := k.cursor.Lo, k.cursor.Hi; lo < hi; {
				word := uint32(lo / 64)
				if b.n >= n && word >= b.end {
					if !yield(b) {
						return
					}
					k.check()
					b.n = 0
				}
				if b.n == 0 {
					b.lo = word
				}
				// Fill the batch with n entities, and with the other entities of the last word.
				end := hi
				if want := uint(max(n-b.n, 1)); want < hi-lo {
					end = min(hi, (lo+want+63)&^63)
				}
				b.n += int(end - lo)
				b.end = uint32((end + 63) / 64)
				lo = end
			}
		}
		if b.n > 0 {
			yield(b)
		}
	}
}

// Len returns the number of entities in the batch.
func (b Batch) Len() int { return b.n }

// Runs yields the batch's entities as [Query.Runs] does. If a border of the batch cuts a run, the run
// continues in the next batch.
func (b Batch) Runs() iter.Seq[Run] {
	return func(yield func(Run) bool) {
		if b.q == nil {
			return // the zero Batch is empty
		}
		var k walk
		b.start(&k, "Batch.Runs")
		k.runs(yield)
	}
}

// start positions a walk before the first match of the batch. The walk must be zero.
func (b Batch) start(k *walk, method string) {
	w := b.q.world
	w.mustBeOpen(method)
	k.world, k.q, k.changes, k.joined = w, b.q, b.changes, b.joined
	if k.q.epoch != w.epoch {
		k.q = k.q.renew()
	}
	k.source = k.q.source
	if w.changes != k.changes {
		w.changedWhile("batches of a query were in use")
	}
	k.goBySlot()
	k.startBetween(uint(b.lo), uint(b.end))
}

// All yields the batch's entities as [Query.All] does.
func (b Batch) All() iter.Seq[Entity] {
	return func(yield func(Entity) bool) {
		for s := range b.Slots() {
			if !yield(s.Entity()) {
				return
			}
		}
	}
}
