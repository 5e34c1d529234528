package uid

import (
	"math"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/vastgo/vast/vm"
)

// span is a range of addresses for IDs. next may run past end, by one for each goroutine that finds the span
// used up at the same time.
type span struct {
	next atomic.Uint64
	end  uint64
}

// one returns an address, or false if no address is left.
func (s *span) one() (address uint64, ok bool) {
	next := s.next.Add(1)
	return next - 1, next <= s.end
}

// take returns n addresses in a row, or false if the span does not have them.
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
	regions   []*vm.Region // kept so that they do not count as leaked; never closed
)

func init() { current.Store(&span{}) }

// sizes are the reservations to try, in bytes. If an address limit (RLIMIT_AS) forbids the first, a later one
// may fit.
var sizes = []int{1 << min(36, strconv.IntSize-4), 1 << 28, 1 << 20}

// take returns n addresses in a row that belong to this caller alone. It fails as [vm.Reserve] does.
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

// reserve replaces the current span, which must be the argument used, with a new span with room for n
// addresses. It does nothing if another goroutine has replaced used already. The remaining addresses of used
// are lost.
func reserve(used *span, n uint64) error {
	reserving.Lock()
	defer reserving.Unlock()
	if current.Load() != used {
		return nil
	}
	if vm.HeapStandIn() {
		current.Store(counted(used, n))
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

// counted returns the span that follows used on systems where IDs are numbers from a counter. The numbers lie
// in the upper half of all numbers, where no address lies.
func counted(used *span, n uint64) *span {
	first := max(used.end, 1<<63)
	s := &span{end: first + max(n, 1<<36)}
	s.next.Store(first)
	return s
}

func tooMany(n uint64) error {
	return &vm.Error{Op: "reserve", Purpose: "uid", Bytes: math.MaxInt, Err: vm.ErrSize,
		Detail: strconv.FormatUint(n, 10) + " identifiers are more than there are addresses: ask for fewer"}
}
