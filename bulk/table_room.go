package bulk

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/vastgo/vast/internal/invariants"
	"github.com/vastgo/vast/internal/sampling"
	"github.com/vastgo/vast/vm"
)

// Grow commits memory for the next n rows, so that appending them cannot fail. The first row, or Grow,
// reserves the addresses; no field can be added afterwards. Grow panics when n is negative or there are no
// fields.
//
// It returns an [*vm.Error] wrapping [vm.ErrCapacity] (TableOptions.Capacity), [vm.ErrLimit]
// (TableOptions.MaxBytes or Limit) or another error of [vm.Reserve] or [vm.Region.Commit]. After an error the
// rows are unchanged, and appending may still fail.
func (t *Table) Grow(n int) error {
	if n < 0 {
		panic(fmt.Sprintf("bulk: Grow(%d) on %s: a number of rows is zero or more", n, t.plan.name))
	}
	return t.makeRoom(opGrow, n)
}

// makeRoom commits memory for n more rows.
func (t *Table) makeRoom(op operation, n int) error {
	t.mustBeOpen()
	if t.region == nil {
		if err := t.reserve(); err != nil {
			return err
		}
	}
	if n > t.plan.capacity-t.len {
		return t.plan.full(op, n, t.len)
	}
	if n <= t.room-t.len {
		return nil
	}
	committed := 0
	for i := range t.arranged.parts {
		committed += t.arranged.parts[i].Committed()
	}
	need := ceil(t.len+n, t.group)
	most := ceil(t.plan.capacity, t.group)
	ahead := min(max(need, (committed+t.plan.stepFrom(committed))/t.arranged.bytesGroup()), most)
	err := op.commitAhead(need, ahead, t.commit)
	if err == nil && invariants.Enabled {
		t.checkInvariants()
	}
	return err
}

// commit commits memory for at least the given number of groups in each part. After an error, it decommits
// the memory that it has committed.
func (t *Table) commit(groups int) error {
	parts := t.arranged.parts
	for i := range parts {
		p := &parts[i]
		p.before = p.Committed()
		if err := p.grow(p.lead + groups*p.bytes); err != nil {
			for j := range i {
				parts[j].shrinkTo(parts[j].before)
			}
			// shrinkTo may fail and leave more memory committed, so room may be larger than before.
			t.setRoom()
			return err
		}
	}
	t.setRoom()
	return nil
}

// setRoom sets room to the number of rows for which all parts have memory.
func (t *Table) setRoom() {
	groups := ceil(t.plan.capacity, t.group)
	for i := range t.arranged.parts {
		p := &t.arranged.parts[i]
		groups = min(groups, max(0, p.Committed()-p.lead)/p.bytes)
	}
	t.room = groups * t.group
}

// reserve arranges the fields in the memory and reserves the addresses. After an error the table is still
// without addresses.
func (t *Table) reserve() error {
	if len(t.fields) == 0 {
		panic("bulk: " + t.plan.name + " has no fields: add some with NewField before the first row")
	}
	sizes := make([]int, len(t.fields))
	t.allZero = true
	for i, f := range t.fields {
		sizes[i] = f.size
		t.allZero = t.allZero && f.zero
	}
	a := arrange(t.options.Layout, t.options.PageAligned, sizes)
	p, err := t.options.plan(&a)
	if err != nil {
		return err
	}
	groups := max(1, ceil(p.capacity, a.group))
	total := 0
	for i := range a.parts {
		total += alignedSize(a.parts[i].lead + groups*a.parts[i].bytes)
	}
	r, err := vm.Reserve(total, vm.Options{Name: p.name, Limit: t.options.Limit, Pages: t.options.Pages})
	if err != nil {
		return err
	}
	for i := range a.parts {
		part := &a.parts[i]
		if part.denseSpan, err = carve(r, part.lead+groups*part.bytes); err != nil {
			_ = r.Close()
			return err
		}
	}
	t.perBlock = a.group
	for i, f := range t.fields {
		at := &a.parts[a.places[i].part]
		stride := at.bytes
		if t.options.Layout == LayoutColumns {
			r.Label(at.Offset()+at.lead, at.Size()-at.lead, vm.Label{What: "field " + f.name + " of " +
				p.name, Element: "row", Size: f.size})
			stride, t.perBlock = 0, math.MaxInt
		}
		f.rowLocator = newRowLocator(unsafe.Add(at.Base(), at.lead+a.places[i].offset), f.size, a.group,
			stride)
		t.magic = f.magic
		t.movers = append(t.movers, mover{f.base, f.skip, uintptr(f.size),
			unsafe.Pointer(unsafe.SliceData(f.safe))})
	}
	t.arranged, t.group, t.plan, t.region = a, a.group, p, r
	return nil
}

// plan returns the options with their defaults filled in.
func (o *TableOptions) plan(a *arrangement) (plan, error) {
	p := plan{name: o.Name, sizeElement: a.bytesRow, capacity: o.Capacity, budget: o.MaxBytes, step: o.Step}
	switch {
	case o.MaxBytes > 0 && (o.Capacity == 0 || o.MaxBytes/p.sizeElement < o.Capacity):
		p.capacity, p.byBudget = o.MaxBytes/p.sizeElement, true
		if p.capacity > maxSlots {
			p.capacity, p.byBudget = maxSlots, false
		}
	case o.Capacity == 0:
		p.capacity = min(max(a.group, defaultReserve(o.Pages)/a.bytesGroup()*a.group), maxSlots)
	}
	if most := min(maxSlots, math.MaxInt/8/a.bytesGroup()*a.group); p.capacity > most {
		return p, &vm.Error{Op: "reserve", Purpose: p.name, Bytes: math.MaxInt, Err: vm.ErrSize,
			Detail: fmt.Sprintf("TableOptions.Capacity is %d rows of %d bytes: ask for at most %d",
				p.capacity, p.sizeElement, most)}
	}
	return p, nil
}

func (t *Table) padded(n int) int {
	if t.group == 0 {
		return 0
	}
	return roundUp(n, t.group)
}

// prepare makes rows ready (see Table.ready), at least up to the end of the group of row end-1. These rows
// must have memory.
func (t *Table) prepare(end int) {
	to := t.padded(end)
	if to <= t.ready {
		return
	}
	stop := to
	if t.allZero {
		// Memory that was never written is zero already.
		stop = min(stop, t.written)
		if t.written <= to {
			to = t.room
		}
	}
	for _, f := range t.fields {
		f.fill(t.ready, stop)
	}
	t.ready = min(to, t.plan.capacity)
}

// markWritten notes that rows [len, end) may hold any values, so that no row from len on is ready.
func (t *Table) markWritten(end int) {
	t.written = max(t.written, end)
	t.ready = t.len
}

// giveBack decommits the memory that rows do not need.
func (t *Table) giveBack() {
	if t.region == nil {
		return
	}
	slack := minStep / t.plan.sizeElement
	if sampling.Pick() {
		slack = 0 // accesses to removed rows fault, except in pages that stay
	}
	groups := ceil(t.len+slack, t.group)
	for i := range t.arranged.parts {
		p := &t.arranged.parts[i]
		keep, unit := p.lead+groups*p.bytes, vm.PageSize()
		if huge := vm.HugePageSize(); p.advised && keep >= huge {
			unit = huge
		}
		p.shrinkTo(min(roundUp(keep, unit), p.Size()))
	}
	t.setRoom()
}

func ceil(n, unit int) int { return (n + unit - 1) / unit }

// Reserved returns the bytes of addresses that the table takes: 0 before the first row or Grow, and after
// Close.
func (t *Table) Reserved() int {
	if t.region == nil || t.ended != nil {
		return 0
	}
	return t.region.Size()
}

// Committed returns the bytes of memory that the table may touch; 0 after Close.
func (t *Table) Committed() int {
	if t.region == nil {
		return 0
	}
	return t.region.Committed()
}

// Resident returns how many bytes of the table are in memory. The number comes from the operating system; see
// [vm.Region.Resident].
func (t *Table) Resident() (int, error) {
	if t.region == nil {
		return 0, nil
	}
	return t.region.Resident()
}
