package vast

import (
	"bytes"
	"reflect"
	"unsafe"

	"github.com/vastgo/vast/internal/invariants"
)

// The methods below are for package prefab.

// SetOrigins makes later calls of Copy link each copy to its original, in a cyclic relation of the world. In
// the slice columns of Copying, the relation must have no counterpart.
func (k *copying) SetOrigins(r Relation) { k.origins = r.made() }

// originsFit reports whether there is room for the links to the originals.
func (k *copying) originsFit() bool {
	targets := uint32(0)
	for _, e := range k.originals {
		targets = max(targets, e.slot+1)
	}
	for _, g := range k.groups {
		if !k.origins.reaches(g.end, 0) {
			return false
		}
	}
	return targets <= k.origins.targets.slots
}

// roomForOrigins makes room for the links to the originals. After a failure, the caller gives back the room.
func (k *copying) roomForOrigins() error {
	for _, g := range k.groups {
		if err := k.origins.reach(g.end, 0); err != nil {
			return err
		}
	}
	for _, e := range k.originals {
		if e.slot >= k.origins.targets.slots {
			if err := k.origins.targets.grow(e.slot + 1); err != nil {
				return err
			}
		}
	}
	return nil
}

// linkOrigins links each copy to its original.
func (k *copying) linkOrigins(op operation) {
	l := k.origins
	k.gained, k.gains = k.gained[:0], k.gains[:0]
	if len(k.originals) == 1 {
		for _, r := range k.groups[0].runs {
			for lo, end := r.start, r.start+r.n; lo < end; {
				word, mask, hi := wordOf(lo, end)
				l.enterAll(word, mask, k.originals[0])
				k.gains = append(k.gains, wordMask{word, mask})
				lo = hi
			}
		}
	} else {
		for i, e := range k.copies {
			k.enter(l, e.slot, k.originals[i%len(k.originals)], 0)
		}
		for _, g := range k.sorted() {
			l.sources.giveIn(g.word, g.mask)
		}
	}
	k.to.changedAll(op, len(k.copies))
	l.sources.tellGains(k.gains)
}

// Roots calls f for each run of copies of the root.
func (k *copying) Roots(f func(Run)) {
	if k.groups[0].count == 1 {
		for _, r := range k.groups[0].runs {
			f(r)
		}
		return
	}
	for i := range k.n {
		f(Run{k.copies[i*len(k.originals)].slot, 1, k.to})
	}
}

// Aim prepares Translate: references to from[i] become references to to[i]. The entities of from must be
// alive. Aim forgets the originals that Find found.
func (k *copying) Aim(from, to []Entity) {
	k.forget()
	k.originals, k.copies = append(k.originals, from...), append(k.copies[:0], to...)
	for i, e := range from {
		k.rows[e.slot] = uint32(i + 1)
	}
}

// Translate translates the references in v, which is addressable. It copies memory on the Go heap that leads
// to references. It reports whether values of this type hold references.
func (k *copying) Translate(v reflect.Value) bool {
	r := referencesIn(v.Type())
	if r == nil {
		return false
	}
	k.translate(v.Addr().UnsafePointer(), r, 0)
	clear(k.owned)
	return true
}

// Refers reports whether values of a type hold references, also behind pointers, slices and maps.
func (states) Refers(t reflect.Type) bool { return referencesIn(t) != nil }

// Required returns the number of columns that a column requires, directly or through others. A column has a
// larger number than each column that it requires.
func (states) Required(of any) int { return len(of.(*column).requires) }

// Patch compares n bytes from offset `at` on. Where a component has the bytes of before, Patch writes the
// bytes of after. It returns the number of these components. before and after are addressable and have the
// column's type, which holds no Go pointers. In a column of package shared, Patch panics with a *vm.Error if
// there is no room for a value: see GrowAdditions.
func (states) Patch(of any, es []Entity, at, n uintptr, before, after reflect.Value) (patched int) {
	c := of.(*column)
	if invariants.Enabled {
		c.touch(true)
	}
	part := func(p unsafe.Pointer) []byte { return unsafe.Slice((*byte)(unsafe.Add(p, at)), n) }
	from, to := part(before.Addr().UnsafePointer()), part(after.Addr().UnsafePointer())
	shared, _ := c.store.(*sharedStore)
	for _, e := range es {
		if !c.has(e) || !bytes.Equal(part(c.at(e.slot)), from) {
			continue
		}
		if c.tracked {
			c.wrote(e.slot)
		}
		if shared != nil {
			shared.edit(e.slot, func(v unsafe.Pointer) bool { copy(part(v), to); return true })
		} else {
			copy(part(c.at(e.slot)), to)
		}
		patched++
	}
	return patched
}
