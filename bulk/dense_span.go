package bulk

import "github.com/vastgo/vast/vm"

// denseSpan is a span whose committed prefix is used without gaps. It requests huge pages when the prefix is
// as long as a huge page, so that a small container takes no huge page.
type denseSpan struct {
	vm.Span
	advised bool
}

// hugeUnit returns the size of a huge page. It returns 0 if a span of the given size is smaller, and without
// huge pages.
func hugeUnit(bytes int) int {
	if huge := vm.HugePageSize(); bytes >= huge {
		return huge
	}
	return 0
}

// alignedSize returns the largest number of bytes that carve takes from a region for a span of the given
// size.
func alignedSize(bytes int) int { return bytes + vm.PageSize() + hugeUnit(bytes) }

// carve carves a denseSpan from r. A span that can have a huge page begins at the start of a huge page.
func carve(r *vm.Region, bytes int) (denseSpan, error) {
	span, err := r.Carve(bytes, hugeUnit(bytes))
	return denseSpan{Span: span}, err
}

// grow commits a prefix of at least need bytes. It returns an error as [vm.Span.CommitTo] does; then nothing
// has changed.
func (s *denseSpan) grow(need int) error {
	// The containers choose how far to commit ahead. With a step of one byte, CommitTo only rounds up to
	// whole pages or huge pages.
	if err := s.CommitTo(need, 1); err != nil {
		return err
	}
	if huge := vm.HugePageSize(); !s.advised && huge > 0 && s.Committed() >= huge {
		s.advised = true
		// Without huge pages the span is only slower.
		_ = s.Region().Huge(s.Offset(), s.Size())
	}
	return nil
}

// shrinkTo decommits the memory behind the first n bytes. If this fails, the memory stays committed.
func (s *denseSpan) shrinkTo(n int) { _ = s.DecommitTo(n) }
