package bulk

import (
	"cmp"
	"fmt"
	"sync"
	"unsafe"

	"github.com/vastgo/vast/internal/state"
)

// pairState is a key and its value, as a file stores them.
type pairState[K, V any] struct {
	Key   K
	Value V
}

// bytes returns the memory of a pair, which holds no Go pointers.
func (p *pairState[K, V]) bytes() []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(p)), unsafe.Sizeof(*p))
}

// orderedIndexState implements state.Container. A file has the pairs in ascending order, but not the nodes:
// the loaded tree may have other nodes than the saved one.
type orderedIndexState[K cmp.Ordered, V any] struct {
	x     *OrderedIndex[K, V]
	once  sync.Once // collects the pairs at the first read
	pairs []pairState[K, V]
}

func (x *OrderedIndex[K, V]) keep() (any, error) {
	x.mustBeOpen()
	return &orderedIndexState[K, V]{x: x}, nil
}

func (s *orderedIndexState[K, V]) Of() []any { return []any{s.x} }

func (s *orderedIndexState[K, V]) Describe() state.Contents {
	return state.Contents{Kind: kindOrderedIndex, Len: s.x.Len()}
}

func (s *orderedIndexState[K, V]) Arrays(c state.Contents, column int) []state.Array {
	a := ordered(state.Pairs, column, c.Len, &s.pairs)
	read := a.Read
	a.Read = func(dst []byte, lo int) {
		s.once.Do(func() {
			s.pairs = make([]pairState[K, V], 0, s.x.Len())
			for k, v := range s.x.All() {
				s.pairs = appendPair(s.pairs, k, v)
			}
		})
		read(dst, lo)
	}
	a.Write = s.add
	return []state.Array{a}
}

// appendPair appends a pair field by field: an assignment of a whole pair could copy bytes of the stack into
// the padding between key and value.
func appendPair[K, V any](pairs []pairState[K, V], k K, v V) []pairState[K, V] {
	n := len(pairs)
	pairs = pairs[:n+1]
	pairs[n].Key, pairs[n].Value = k, v
	return pairs
}

func (s *orderedIndexState[K, V]) Reserve(c state.Contents) error {
	if s.x.Len() > 0 {
		return s.x.plan.wasUsed()
	}
	if err := s.x.plan.mustHold(c.Len); err != nil {
		return err
	}
	s.x.Clear() // gives back the memory that Grow has committed
	return nil
}

// add adds the pairs in src. lo is the number of the first pair in src, counted from the file's first pair.
func (s *orderedIndexState[K, V]) add(src []byte, lo int) error {
	t, name := &s.x.tree, s.x.plan.name
	if lo != t.len {
		return fmt.Errorf("%s: the next pair in the file should be number %d, but is number %d", name, t.len,
			lo)
	}
	for len(src) > 0 {
		var p pairState[K, V]
		src = src[copy(p.bytes(), src):]
		if p.Key != p.Key {
			return fmt.Errorf("%s: a key is NaN", name)
		}
		added, err := t.add(opGrow, p.Key, p.Value)
		if err != nil {
			return err
		}
		if !added {
			return fmt.Errorf("%s: the file has the pair of %v and %v twice", name, p.Key, p.Value)
		}
	}
	return nil
}

func (s *orderedIndexState[K, V]) Settle(c state.Contents, _ []state.Array) error {
	if s.x.Len() != c.Len {
		return fmt.Errorf("%s: the file has %d of %d pairs", s.x.plan.name, s.x.Len(), c.Len)
	}
	s.x.changed()
	return nil
}

func (s *orderedIndexState[K, V]) Abandon(state.Contents) { s.x.Clear() }
