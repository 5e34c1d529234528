package vast

import (
	"math/bits"
	"slices"
	"sync"
	"unsafe"

	"github.com/vastgo/vast/internal/bitset"
)

// way is the way in which a walk tests a join.
type way uint8

const (
	byEntity    way = iota // look at the target, or at the ancestors, of each candidate
	byTargetBit            // test the bit of each candidate's target in condition.targets
	byAncestors            // test the bits of each candidate's ancestors in condition.targets
	bySources              // find the sources of the matching targets before the walk
	byOthers               // find the sources of the other targets before the walk
	byLevels               // find all entities with a matching ancestor before the walk
	always                 // all targets match
	never                  // no target matches
)

// condition is the state of a join in a walk. While the walk runs, the state does not change.
type condition struct {
	*join
	way        way
	targets    []uint64 // bits of the matching targets
	sources    []uint64 // bits of the entities that the ways bySources, byOthers and byLevels found
	candidates int      // number of entities that meet the other conditions, except other joins
	matching   int      // number of matching targets
	steps      int      // number of steps that the way takes, or an estimate
}

// joined is the state of the joins of a walk. When the walk ends, it gives the state back to the world. A
// state that is not given back is left to the garbage collector.
type joined struct {
	conditions []condition
	shared     bool // whether several walks use the state, so no walk gives it back
}

// joinedPool holds states that no walk uses.
type joinedPool struct {
	mu   sync.Mutex
	free []*joined
}

func (p *joinedPool) take() *joined {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.free); n > 0 {
		j := p.free[n-1]
		p.free = p.free[:n-1]
		return j
	}
	return new(joined)
}

func (p *joinedPool) put(j *joined) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free = append(p.free, j)
}

// drop leaves the memory of the states to the garbage collector.
func (p *joinedPool) drop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free = nil
}

// startJoins chooses a way for each join of the query. The walk must be positioned before its first run.
func (k *walk) startJoins() {
	k.joined = k.world.joined.take()
	j, n := k.joined, len(k.q.joins)
	j.conditions = slices.Grow(j.conditions[:0], n)[:n]
	candidates := k.candidates()
	for i, of := range k.q.joins {
		c := &j.conditions[i]
		c.join, c.candidates = of, candidates
		c.start(k.settled)
		if c.way == never {
			k.cursor = bitset.Cursor{}
			k.cursor.StartAt(&k.q.filter, 0, 0)
		}
	}
}

// release gives the state of the joins back to the world.
func (k *walk) release() {
	if k.joined != nil && !k.joined.shared {
		k.giveBack()
	}
}

//go:noinline
func (k *walk) giveBack() {
	for i := range k.joined.conditions {
		k.joined.conditions[i].join = nil
	}
	k.world.joined.put(k.joined)
	k.joined = nil
}

// candidates returns the number of entities that meet the conditions of the filter and of the source, or an
// upper bound.
func (k *walk) candidates() int {
	switch k.source {
	case fromList:
		return len(k.q.list)
	case fromLinks:
		if k.linked.next == none {
			return 0
		}
		return int(k.linked.of.relation.family(k.linked.of.target.slot).count)
	}
	return k.q.filter.Count(k.q.lo, min(k.q.hi, uint(k.world.frontier)*64))
}

// These constants are measured with BenchmarkJoin. Walks over entities and words read memory in sequence, and
// walks over links read it at random.
const (
	// sourceSteps: testing the bits of this number of entities takes as long as following the link of one
	// source.
	sourceSteps = 32
	// entitySteps: visiting this number of words of bits takes as long as looking at the target of one
	// entity.
	entitySteps = 8
	// ancestorSteps: visiting this number of entities of a level takes as long as looking at one ancestor of
	// an entity.
	ancestorSteps = 4
)

// start chooses a way, and finds the targets and sources that the way needs. If settled is true, start
// chooses no way that reads components, or links of entities other than the candidate, during the walk.
func (c *condition) start(settled bool) {
	w := c.to.world
	depth := 1
	if c.up {
		depth = max(len(c.relation.levels), 1)
	}
	if steps := c.candidates * depth; !settled && steps*entitySteps < int(w.frontier) {
		c.way, c.steps = byEntity, steps
		c.query.flush()
		return
	}
	c.findTargets()
	switch {
	case c.matching == 0:
		c.way, c.steps = never, 0
	case c.up:
		c.way, c.steps = c.chooseUp(depth, settled)
	default:
		c.way, c.steps = c.choose()
	}
	c.mark()
}

// cleared returns a slice of n zeros, in the memory of words if it is large enough.
func cleared(words []uint64, n uint32) []uint64 {
	words = slices.Grow(words[:0], int(n))[:n]
	clear(words)
	return words
}

// findTargets sets the bits of the matching targets.
func (c *condition) findTargets() {
	var k walk
	k.start(c.query)
	c.targets = cleared(c.targets, k.world.frontier)
	c.matching = 0
	for word, mask := k.nextWord(); mask != 0; word, mask = k.nextWord() {
		c.targets[word] = mask
		c.matching += bits.OnesCount64(mask)
	}
}

// choose returns the way for a join that does not go up, and the number of its steps.
func (c *condition) choose() (way, int) {
	all := c.to.len()
	if c.matching == all {
		return always, 0
	}
	most := c.candidates / sourceSteps
	if n := c.countSources(0, c.matching, most); n <= most {
		return bySources, n
	}
	if c.relation != nil {
		if n := c.countSources(^uint64(0), all-c.matching, most); n <= most {
			return byOthers, n
		}
	}
	return byTargetBit, c.candidates
}

// chooseUp returns the way for a join that goes up, and the number of its steps.
func (c *condition) chooseUp(depth int, settled bool) (way, int) {
	all := c.from.len()
	if steps := c.candidates * depth; !settled && steps*ancestorSteps <= all {
		return byAncestors, steps
	}
	return byLevels, all
}

// mark sets the bits that the way needs.
func (c *condition) mark() {
	switch c.way {
	case bySources:
		c.markAll(0)
	case byOthers:
		c.markAll(^uint64(0))
	case byLevels:
		c.markLevels()
	}
}

// countSources returns the number of sources of n targets: of the matching targets if invert is 0, and of the
// other targets if all bits of invert are set. If the number exceeds the limit most, the result exceeds most,
// too, but may be less than the number.
func (c *condition) countSources(invert uint64, n, most int) (sources int) {
	if n > most { // each target has a source
		return n
	}
	for word, in := range c.targets[:c.to.usableWords()] {
		for m := (in ^ invert) & c.to.set.Word(uint(word)); m != 0; m &= m - 1 {
			sources += c.links.countSources(uint32(word)*64 + trailingZeros(m))
			if sources > most {
				return sources
			}
		}
	}
	return sources
}

// markAll sets the bits of the sources that countSources counts.
func (c *condition) markAll(invert uint64) {
	c.sources = cleared(c.sources, uint32(len(c.targets)))
	for word, in := range c.targets[:c.to.usableWords()] {
		for m := (in ^ invert) & c.to.set.Word(uint(word)); m != 0; m &= m - 1 {
			c.links.markSources(c.sources, uint32(word)*64+trailingZeros(m))
		}
	}
}

// usableWords returns the number of words below the frontier whose slots are usable.
func (c *column) usableWords() uint32 { return min(c.slots/64, c.world.frontier) }

// markLevels sets the bits of the entities that have a matching ancestor. It visits each entity after its
// target.
func (c *condition) markLevels() {
	c.sources = cleared(c.sources, uint32(len(c.targets)))
	k := c.relation
	for i, set := range k.levels[:min(len(k.levels), deep-1)] {
		for b := uint(0); b*bitset.BlockBits < uint(set.Len()); b++ {
			any, _ := set.Block(b)
			for ; any != 0; any &= any - 1 {
				c.reachWord(set, uint32(b*64)+trailingZeros(any))
			}
		}
		if i == deep-2 && len(k.levels) == deep {
			c.reachDeep(set)
		}
	}
}

// reachWord visits the sources in a word of a level, and sets the bit of each source whose target matches or
// has a bit.
func (c *condition) reachWord(level *bitset.Set, word uint32) {
	var found uint64
	for m := level.Word(uint(word)); m != 0; m &= m - 1 {
		i := trailingZeros(m)
		to := c.relation.target(word*64 + i).slot
		found |= ((c.targets[to/64] | c.sources[to/64]) >> (to % 64) & 1) << i
	}
	c.sources[word] |= found
}

// reachDeep does the work of reachWord for all descendants of the entities of a level.
func (c *condition) reachDeep(level *bitset.Set) {
	k := c.relation
	for root := level.Next(0); root < uint(level.Len()); root = level.Next(root + 1) {
		for slot := k.first(uint32(root)); slot != none; slot = k.following(slot, uint32(root), true) {
			to := k.target(slot).slot
			c.sources[slot/64] |= ((c.targets[to/64] | c.sources[to/64]) >> (to % 64) & 1) << (slot % 64)
		}
	}
}

// unjoined returns the slots of mask whose entities do not meet the joins of the query. mask is a set of
// slots of one word, and each of these slots must hold an entity with the links of the joins.
func (k *walk) unjoined(word uint32, mask uint64) uint64 {
	met := mask
	for i := range k.joined.conditions {
		if met = k.joined.conditions[i].meet(word, met); met == 0 {
			break
		}
	}
	return mask &^ met
}

// meet returns the slots of mask whose entities meet the condition.
func (c *condition) meet(word uint32, mask uint64) (met uint64) {
	switch c.way {
	case always:
		return mask
	case never:
		return 0
	case bySources, byLevels:
		return mask & c.sources[word]
	case byOthers:
		return mask &^ c.sources[word]
	}
	if c.way == byTargetBit && c.relation != nil {
		return bitsOfTargets(c.relation.target(word*64), c.targets, mask)
	}
	to := members{bits: c.targets}
	if c.way == byEntity {
		to.q = c.query
	}
	for m := mask; m != 0; m &= m - 1 {
		if c.leads(word*64+trailingZeros(m), to) {
			met |= m & -m
		}
	}
	return met
}

// bitsOfTargets returns the slots of mask whose target has its bit set. first is the target of the word's
// first slot. The loops have no branches, because the bits are hard to predict. All 64 links of a usable word
// lie in usable memory, so the array may cover slots that are not in mask.
func bitsOfTargets(first *Entity, bits []uint64, mask uint64) (met uint64) {
	targets := (*[64]Entity)(unsafe.Pointer(first))
	if mask == ^uint64(0) {
		for i := range targets {
			to := targets[i].slot
			met = met>>1 | bits[to/64]>>(to%64)<<63
		}
		return met
	}
	for m := mask; m != 0; m &= m - 1 {
		i := trailingZeros(m)
		to := targets[i].slot
		met |= (bits[to/64] >> (to % 64) & 1) << i
	}
	return met
}

// leftOut returns the slots of mask whose entities fail a join or a condition of query.others. mask is as for
// unjoined.
func (k *walk) leftOut(word uint32, mask uint64) (lost uint64) {
	if k.joined != nil {
		lost = k.unjoined(word, mask)
	}
	if lost != mask {
		lost |= k.q.others(word, mask&^lost)
	}
	return lost
}
