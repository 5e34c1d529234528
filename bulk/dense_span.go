package bulk

import "github.com/vastgo/vast/vm"

// denseSpan is a span whose committed prefix is used from end to end, so that only the last huge page may be
// partly unused. The span requests huge pages only when the prefix is as long as a huge page: a small
// container never touches a huge page.
type denseSpan struct {
	vm.Span
	advised bool
}

// hugeUnit returns the size of a huge page if a span of this many bytes can have one, else 0.
func hugeUnit(bytes int) int {
	if huge := vm.HugePageSize(); bytes >= huge {
		return huge
	}
	return 0
}

// alignedSize returns the largest number of bytes that carve takes from a region for a span of this many
// bytes.
func alignedSize(bytes int) int { return bytes + vm.PageSize() + hugeUnit(bytes) }

// carve takes a dense span from r. A span that can have a huge page begins at the start of a huge page. Once
// its committed prefix is as long as a huge page, the prefix grows by whole huge pages. Therefore small pages
// can fill a part of the first huge page only.
func carve(r *vm.Region, bytes int) (denseSpan, error) {
	span, err := r.Carve(bytes, hugeUnit(bytes))
	return denseSpan{Span: span}, err
}

// grow commits a prefix of at least need bytes. It fails as [vm.Span.CommitTo] does, and then nothing has
// changed.
func (s *denseSpan) grow(need int) error {
	// The containers choose how far to commit ahead. With a step of one byte, the span only rounds up: to
	// whole pages, and from one huge page on to whole huge pages.
	if err := s.CommitTo(need, 1); err != nil {
		return err
	}
	if huge := vm.HugePageSize(); !s.advised && huge > 0 && s.Committed() >= huge {
		s.advised = true
		// Huge pages only make the span faster: it works without them.
		_ = s.Region().Huge(s.Offset(), s.Size())
	}
	return nil
}

// shrinkTo decommits down to an earlier committed prefix. After a failure, unused memory stays committed.
func (s *denseSpan) shrinkTo(committed int) { _ = s.DecommitTo(committed) }
