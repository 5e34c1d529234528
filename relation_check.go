package vast

// check checks that links, lists, counts and levels agree.
func (k *relation) check(must func(bool, string, ...any)) {
	name := k.sources.name
	must(len(k.detached) == 0, "%s: the list of detached slots is not empty after an operation", name)
	linked := 0
	for t := k.targets.set.Next(0); t < uint(k.targets.slots); t = k.targets.set.Next(t + 1) {
		f := k.family(uint32(t))
		if f.count == 0 {
			must(false, "%s: slot %d is a target without sources", name, t)
		}
		n, prev := uint32(0), none
		for slot := f.first; slot != none; slot = k.link(slot).next {
			l := k.link(slot)
			if n >= f.count || l.prev != prev {
				must(false, "%s: the list of slot %d is broken at slot %d", name, t, slot)
			}
			if !k.sources.set.Test(uint(slot)) || *k.target(slot) != k.entity(uint32(t)) {
				must(false, "%s: slot %d is in the list of slot %d and has another target or no target", name,
					slot, t)
			}
			if !k.cyclic {
				level := k.below(uint32(t))
				if l.level != level || !k.levels[level-1].Test(uint(slot)) {
					must(false, "%s: slot %d is at level %d, want %d", name, slot, l.level, level)
				}
			}
			n++
			prev = slot
		}
		if n != f.count || prev != f.last {
			must(false, "%s: slot %d has the count %d and the last source %d, but its list has %d sources "+
				"and ends with slot %d", name, t, f.count, f.last, n, prev)
		}
		linked += int(n)
	}
	must(linked == k.sources.set.Count(), "%s: %d sources are in lists, %d have a target", name, linked,
		k.sources.set.Count())
	atLevels := 0
	for i, set := range k.levels {
		set.CheckInvariants()
		atLevels += set.Count()
		if i > 0 && set.Len() > k.levels[i-1].Len() {
			must(false, "%s: level %d has more slots than level %d", name, i+1, i)
		}
	}
	must(k.cyclic || atLevels == linked, "%s: %d slots are at levels, %d are sources", name, atLevels, linked)
	for slot := range k.linkRoom {
		if k.link(slot).level != 0 && !k.sources.set.Test(uint(slot)) {
			must(false, "%s: slot %d is not a source and has a level", name, slot)
		}
	}
}
