package vast

import (
	"reflect"
	"unsafe"

	"github.com/vastgo/vast/internal/probing"
)

// runtimeHeapStore is a heapStore for a type that is known only at run time.
type runtimeHeapStore struct {
	inPlace
	typ    reflect.Type
	blocks []unsafe.Pointer // first element of each block; nil if the block has no elements
	used   []int            // number of elements in each block
	live   int              // number of blocks that have elements
	shift  uint32           // a block has 1 << shift slots
}

func newRuntimeHeapStore(typ reflect.Type) *runtimeHeapStore {
	s := &runtimeHeapStore{typ: typ, shift: heapBlockShift}
	for s.shift > 0 && typ.Size()<<s.shift > heapBlockBytes {
		s.shift--
	}
	return s
}

func (s *runtimeHeapStore) storage() probing.Storage { return probing.StorageHeap }

// at is sound for a slot with an element, because the slot's block exists and has memory for all of its
// 1 << shift slots.
func (s *runtimeHeapStore) at(slot uint32) unsafe.Pointer {
	return unsafe.Add(s.blocks[slot>>s.shift], uintptr(slot&(1<<s.shift-1))*s.typ.Size())
}

func (s *runtimeHeapStore) value(slot uint32) reflect.Value {
	return reflect.NewAt(s.typ, s.at(slot)).Elem()
}

func (s *runtimeHeapStore) put(e Entity) {
	i := int(e.slot >> s.shift)
	if i >= len(s.blocks) {
		s.blocks = append(s.blocks, make([]unsafe.Pointer, i+1-len(s.blocks))...)
		s.used = append(s.used, make([]int, i+1-len(s.used))...)
	}
	if s.blocks[i] == nil {
		n := 1 << s.shift
		s.blocks[i] = reflect.MakeSlice(reflect.SliceOf(s.typ), n, n).UnsafePointer()
		s.live++
	}
	s.used[i]++
}

func (s *runtimeHeapStore) assign(slot uint32, v unsafe.Pointer) {
	s.value(slot).Set(reflect.NewAt(s.typ, v).Elem())
}

func (s *runtimeHeapStore) drop(slot uint32) {
	s.value(slot).SetZero()
	i := slot >> s.shift
	if s.used[i]--; s.used[i] == 0 {
		s.blocks[i] = nil
		s.live--
	}
}

func (s *runtimeHeapStore) move(old, new Entity) {
	s.put(new)
	s.value(new.slot).Set(s.value(old.slot))
	s.drop(old.slot)
}

func (s *runtimeHeapStore) empty() { s.blocks, s.used, s.live = nil, nil, 0 }

func (s *runtimeHeapStore) close() error {
	s.empty()
	return nil
}

func (s *runtimeHeapStore) memory() (reserved, committed, heap int) {
	return 0, 0, s.live << s.shift * int(s.typ.Size())
}

func (s *runtimeHeapStore) check(c *column, must func(bool, string, ...any)) {
	total, live := 0, 0
	for i, used := range s.used {
		if used > 0 {
			live++
		}
		first := uint(i) << s.shift
		n := c.set.CountRange(first, first+1<<s.shift)
		must(n == used, "column %s: block %d counts %d elements for %d entities", c.name, i, used, n)
		must((s.blocks[i] != nil) == (used > 0),
			"column %s: block %d with %d elements is missing, or was not freed", c.name, i, used)
		total += n
	}
	must(live == s.live, "column %s: %d blocks have elements, the store counts %d", c.name, live, s.live)
	must(total == c.set.Count(), "column %s: %d elements for %d entities", c.name, total, c.set.Count())
}
