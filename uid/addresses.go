package uid

import (
	"math"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/vastgo/vast/vm"
)

// span is a range of addresses for IDs. next may exceed end, because a failed takeOne increments next.
type span struct {
	next atomic.Uint64
	end  uint64
}

func (s *span) takeOne() (address uint64, ok bool) {
	next := s.next.Add(1)
	return next - 1, next <= s.end
}

// take returns the first of n consecutive addresses, or false if fewer than n addresses are left.
func (s *span) take(n uint64) (first uint64, ok bool) {
	for {
		first = s.next.Load()
		if first > s.end || n > s.end-first {
			return 0, false
		}
		if s.next.CompareAndSwap(first, first+n) {
			return first, true
		}
	}
}

var (
	current   atomic.Pointer[span]
	reserving sync.Mutex
	regions   []*vm.Region // kept so that vm does not report them as leaked; never closed
)

func init() { current.Store(&span{}) }

// sizes are the sizes of a reservation in bytes, in the order in which reserve tries them. If an address
// limit (RLIMIT_AS) forbids one size, a smaller size may fit.
var sizes = []int{1 << min(36, strconv.IntSize-4), 1 << 28, 1 << 20}

// take returns the first of n consecutive addresses that no other call returns. It returns the errors of
// [vm.Reserve], and a [*vm.Error] that wraps [vm.ErrSize] if n is too large.
func take(n uint64) (first uint64, err error) {
	if n > math.MaxInt/8 {
		return 0, tooMany(n)
	}
	for {
		s := current.Load()
		if first, ok := s.take(n); ok {
			return first, nil
		}
		if err := reserve(s, n); err != nil {
			return 0, err
		}
	}
}

// reserve replaces the current span, old, by a new span of at least n addresses. It does nothing if another
// goroutine has replaced the span already. The remaining addresses of the old span are lost.
func reserve(old *span, n uint64) error {
	reserving.Lock()
	defer reserving.Unlock()
	if current.Load() != old {
		return nil
	}
	if vm.HeapStandIn() {
		current.Store(counted(old, n))
		return nil
	}
	var err error
	for _, size := range sizes {
		var r *vm.Region
		if r, err = vm.Reserve(max(size, int(n)), vm.Options{Name: "uid", Pages: vm.PagesSmall}); err == nil {
			regions = append(regions, r)
			s := &span{end: uint64(uintptr(r.Base())) + uint64(r.Size())}
			s.next.Store(uint64(uintptr(r.Base())))
			current.Store(s)
			return nil
		}
	}
	return err
}

// counted returns the span after old for the heap stand-in, where IDs are numbers from a counter. The numbers
// begin at 1<<63, above all addresses.
func counted(old *span, n uint64) *span {
	first := max(old.end, 1<<63)
	s := &span{end: first + max(n, 1<<36)}
	s.next.Store(first)
	return s
}

func tooMany(n uint64) error {
	return &vm.Error{Op: "reserve", Purpose: "uid", Bytes: math.MaxInt, Err: vm.ErrSize,
		Detail: strconv.FormatUint(n, 10) + " identifiers do not fit in the address space: ask for fewer"}
}
