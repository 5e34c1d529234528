package bulk

import (
	"unsafe"

	"github.com/vastgo/vast/vm"
)

// snugSpan is a part of a region that commits little more memory than needed, because an index must take
// little memory. The committed bytes are a prefix of the part. Other containers commit more: see "Waste" in
// the documentation of the package.
type snugSpan struct {
	region    *vm.Region
	base      unsafe.Pointer
	purpose   string
	off, size int  // the offset in the region and the size, in bytes
	committed int  // bytes
	promised  int  // bytes that Grow has promised; shrink leaves them committed
	ahead     int  // the method target adds need ÷ ahead bytes, or nothing if ahead is 0
	advised   bool // whether grow has asked for huge pages
}

// carveSnug takes a span of the given number of bytes from r. The span and its alignment take at most
// alignedSize(bytes) bytes of r.
func carveSnug(r *vm.Region, purpose string, bytes, ahead int) (snugSpan, error) {
	s, err := r.Carve(bytes, hugeUnit(bytes))
	if err != nil {
		return snugSpan{}, err
	}
	return snugSpan{region: r, base: s.Base(), off: s.Offset(), size: s.Size(), ahead: ahead,
		purpose: purpose}, nil
}

// target returns how many bytes to commit when need bytes are needed.
func (s *snugSpan) target(need int) int {
	unit := vm.PageSize()
	// From 16 huge pages on, rounding up to a whole huge page costs no more than a sixteenth.
	if huge := vm.HugePageSize(); huge > 0 && need >= 16*huge {
		unit = huge
	}
	if s.ahead > 0 {
		need += need / s.ahead
	}
	return min((need+unit-1)/unit*unit, s.size)
}

// grow commits a prefix of at least need bytes. If the span is too small, grow returns an [*vm.Error]
// wrapping [vm.ErrCapacity]. Other errors are those of [vm.Region.Commit]. After an error nothing has
// changed.
func (s *snugSpan) grow(op operation, need int) error {
	if need <= s.committed {
		return nil
	}
	if need > s.size {
		return &vm.Error{Op: op.String(), Purpose: s.purpose, Bytes: need - s.committed, Err: vm.ErrCapacity,
			Detail: vm.Bytes(s.size) + " of addresses are reserved: raise Options.Capacity"}
	}
	page := vm.PageSize()
	exact := (need + page - 1) / page * page
	err := op.commitAhead(exact, s.target(need), func(to int) error {
		err := s.region.Commit(s.off+s.committed, to-s.committed)
		if err == nil {
			s.committed = to
		}
		return err
	})
	if err != nil {
		return err
	}
	if huge := vm.HugePageSize(); !s.advised && huge > 0 && s.committed >= huge {
		s.advised = true
		// Huge pages only make the span faster: it works without them.
		_ = s.region.Huge(s.off, s.size)
	}
	return nil
}

// shrink decommits memory so that target(keep) bytes stay committed, or more if Grow has promised more. It
// does nothing if it would decommit at most a sixteenth of the committed memory. It returns an error as
// [vm.Region.Decommit] does; after an error the memory is still committed. Memory that is committed again is
// zero.
func (s *snugSpan) shrink(keep int) error {
	to := s.target(max(keep, s.promised))
	if to+s.committed/16 >= s.committed {
		return nil
	}
	err := s.region.Decommit(s.off+to, s.committed-to)
	if err == nil {
		s.committed = to
	}
	return err
}
