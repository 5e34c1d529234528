package vast

import (
	"fmt"
	"math/bits"
	"slices"
)

// SetAll makes target the target of every entity that matches the query, as [Relation.Set] does, and returns
// the number of matching entities. If target is stale, SetAll changes nothing and returns 0. The query sees
// the world as it was before the call. SetAll links the entities in the order of their slots. SetAll panics
// if the query is of another world. If it panics because of a circle or a lack of memory, nothing has
// changed. Complexity: a few writes for each entity without sources; as [Relation.Set] for the other
// entities.
func (r Relation) SetAll(q Query, target Entity) int {
	k := r.made()
	k.world.mustBeOpen("Relation.SetAll")
	if q.q != nil && q.q.world != k.world {
		panic("vast: Relation.SetAll: the query belongs to another world")
	}
	if q.q == nil {
		panic(zeroQuery)
	}
	if !k.world.Alive(target) {
		return 0
	}
	return k.setRuns(q.pin().q.pinned, target)
}

// SetRun makes target the target of every entity of a run, as [Relation.Set] does, and reports whether target
// is alive. SetRun is the fast way to link entities that were made together: collect the runs that
// [Archetype.NewN] passes to its callback, and link these runs afterwards. SetRun panics if the run is of
// another world, or if a slot of the run holds no entity. If it panics because of a circle or a lack of
// memory, nothing has changed.
func (r Relation) SetRun(run Run, target Entity) bool {
	k := r.made()
	w := k.world
	w.mustBeOpen("Relation.SetRun")
	if run.n > 0 && run.world != w {
		panic("vast: Relation.SetRun: the run belongs to another world")
	}
	for lo, end := run.start, run.start+run.n; lo < end; {
		word, mask, hi := wordOf(lo, end)
		if lo >= w.size || w.live.Word(uint(word))&mask != mask {
			panic(fmt.Sprintf("vast: Relation.SetRun: the run [%d, %d) holds slots without an entity: link "+
				"runs before any of their entities is deleted", run.start, end))
		}
		lo = hi
	}
	if !w.Alive(target) {
		return false
	}
	if run.n > 0 {
		k.setRuns([]Run{run}, target)
	}
	return true
}

// setRuns links the entities of runs to a target, and returns their number. The runs must ascend by slot.
func (k *relation) setRuns(runs []Run, target Entity) (n int) {
	k.world.mustNotBeInCallback(opRelate)
	if !k.cyclic {
		k.runsMustNotClose(runs, target)
	}
	if err := k.try(func() error { return k.roomForRuns(runs, target) }); err != nil {
		panic(err)
	}
	gains := make([]wordMask, 0, len(runs))
	changes := 0
	for _, run := range runs {
		k.sources.adviseHuge(run.start, run.start+run.n)
		for lo, end := run.start, run.start+run.n; lo < end; {
			word, mask, hi := wordOf(lo, end)
			lo = hi
			gained := mask &^ k.sources.set.Word(uint(word))
			changes += k.enterAll(word, mask, target)
			if gained != 0 {
				gains = append(gains, wordMask{word, gained})
			}
			n += bits.OnesCount64(mask)
		}
	}
	k.world.changedAll(opRelate, changes)
	k.sources.tellGains(gains)
	return n
}

// roomForRuns makes room for links from the runs' entities to a target. After a failure, the caller gives
// back the room.
func (k *relation) roomForRuns(runs []Run, target Entity) error {
	// Begin with the last run: room for its sources is also room for the sources of the other runs.
	for i := len(runs) - 1; i >= 0; i-- {
		run := runs[i]
		err := k.room(run.start+run.n-1, target.slot)
		targets := k.targets.set
		end := uint(min(run.start+run.n, k.targets.slots))
		// If Next finds nothing, it returns a slot that is not below end.
		for slot := targets.Next(uint(run.start)); err == nil && slot < end; slot = targets.Next(slot + 1) {
			err = k.room(uint32(slot), target.slot)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// enterAll links the entities in the slots of mask in a word to target, and returns the number of entities
// that had another target or no target.
func (k *relation) enterAll(word uint32, mask uint64, target Entity) (changes int) {
	had := k.sources.set.Word(uint(word))
	simple := mask &^ had
	if word < k.targets.slots/64 {
		simple &^= k.targets.set.Word(uint(word))
	}
	if simple == mask && bits.OnesCount64(mask) > 1 {
		// appendAll needs a target that has sources, so enter links the first source.
		first := trailingZeros(mask)
		k.enter(word*64+first, target)
		k.appendAll(word, mask&(mask-1), target)
		k.sources.giveIn(word, mask)
		return bits.OnesCount64(mask)
	}
	for m := mask; m != 0; m &= m - 1 {
		slot := word*64 + trailingZeros(m)
		if had&(m&-m) != 0 {
			if *k.target(slot) == target {
				continue
			}
			k.unlink(slot)
		}
		k.enter(slot, target)
		if k.sources.tracked {
			k.sources.wroteIn(word, m&-m)
		}
		changes++
	}
	k.sources.giveIn(word, mask)
	return changes
}

// appendAll does the work of enter for slots of a word that are neither sources nor targets. The target must
// have sources.
func (k *relation) appendAll(word uint32, mask uint64, target Entity) {
	f := k.family(target.slot)
	level := uint32(0)
	if !k.cyclic {
		level = k.below(target.slot)
		k.levels[level-1].Or(uint(word), mask)
	}
	last := f.last
	for m := mask; m != 0; m &= m - 1 {
		slot := word*64 + trailingZeros(m)
		k.link(last).next = slot
		*k.link(slot) = link{next: none, prev: last, level: level}
		*k.target(slot) = target
		last = slot
	}
	f.last = last
	f.count += uint32(bits.OnesCount64(mask))
}

// runsMustNotClose panics if target or one of its ancestors is in the runs.
func (k *relation) runsMustNotClose(runs []Run, target Entity) {
	for slot := target.slot; ; slot = k.target(slot).slot {
		at, found := slices.BinarySearchFunc(runs, slot, func(run Run, slot uint32) int {
			switch {
			case run.start > slot:
				return 1
			case run.start+run.n <= slot:
				return -1
			}
			return 0
		})
		if found {
			panic(k.circle(runs[at].Entity(int(slot-runs[at].start)), target))
		}
		if k.level(slot) == 0 {
			return
		}
	}
}

// RemoveAll removes the links of all entities that match the query and have a target. It returns the number
// of removed links. The query sees the world as it was before the call. RemoveAll panics if the query is of
// another world. Complexity: one step for each removed link and for each descendant of its source.
func (r Relation) RemoveAll(q Query) int {
	k := r.made()
	var w walk
	k.sources.startAll("Relation.RemoveAll", q, &w)
	k.world.mustNotBeInCallback(opRemoveAll)
	q = q.pin()
	k.sources.tellLossesOf(q)
	n := 0
	for _, run := range q.q.pinned {
		n += k.sources.take(run.start, run.start+run.n)
	}
	k.sources.store.dropped()
	k.world.changedAll(opRemoveAll, n)
	return n
}

// pinForLosses returns the query for an operation that removes the components of the given columns. It pins
// the query if one of the columns holds links, because removing links changes which other entities match.
func pinForLosses(q Query, lost []*column) Query {
	for _, c := range lost {
		if c.linked != "" && q.q.pinned == nil {
			q = q.pin()
		}
	}
	return q
}

// mustNotSeverTargets panics if one of the columns is the column of targets of a relation or of edges.
func mustNotSeverTargets(lost []*column) {
	for _, c := range lost {
		if c.internal {
			panic(fmt.Sprintf("vast: World.Exchange: %s is not a component: remove the links from their "+
				"sources", c.name))
		}
	}
}
