package bulk

import (
	"bytes"
	"fmt"
	"unsafe"

	"github.com/vastgo/vast/internal/invariants"
)

// value returns the memory of a row's value. The row must have memory.
func (f *field) value(row int) []byte {
	return unsafe.Slice((*byte)(f.at(row, uintptr(f.size))), f.size)
}

// poison overwrites the removed rows [from, to), so that tests notice reads through old pointers.
func (f *field) poison(from, to int) {
	for row := from; row < to; row++ {
		invariants.Poison(f.value(row))
	}
}

// checkInvariants panics when the bookkeeping contradicts itself. Complexity: one step for each value of the
// padding.
func (t *Table) checkInvariants() {
	fail := func(format string, args ...any) {
		panic("bulk: " + t.plan.name + ": broken invariant: " + fmt.Sprintf(format, args...))
	}
	if t.region == nil {
		if t.len != 0 || t.room != 0 {
			fail("%d rows and room for %d without memory", t.len, t.room)
		}
		return
	}
	if t.len > t.ready || t.ready > t.room || t.ready > t.plan.capacity || t.room%t.group != 0 {
		fail("%d rows, ready up to row %d, room for %d, capacity %d, groups of %d", t.len, t.ready,
			t.room, t.plan.capacity, t.group)
	}
	for i := range t.arranged.parts {
		p := &t.arranged.parts[i]
		if need := p.lead + t.room/t.group*p.bytes; t.room > 0 && need > p.Committed() {
			fail("part %d has %d bytes for %d rows, which need %d", i, p.Committed(), t.room, need)
		}
	}
	for _, f := range t.fields {
		for row := t.len; row < min(t.ready, t.padded(t.len)); row++ {
			if v := f.value(row); !bytes.Equal(v, f.safe) {
				fail("row %d of the padding holds % x in field %q instead of the safe value % x", row, v,
					f.name, f.safe)
			}
		}
	}
}
