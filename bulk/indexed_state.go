package bulk

import (
	"fmt"

	"github.com/vastgo/vast/internal/state"
)

// attachment is an index that is attached to an Indexed, and the function for its keys.
type attachment[T any, K comparable] struct {
	index Index[K, Handle[T]]
	keyOf func(*T) K
}

// keptIndex is an attachment without its key type.
type keptIndex[T any] interface {
	container() (state.Container, error)
	// fits reports whether the index has exactly the pairs of the pool.
	fits(p *Pool[T]) bool
}

func (a *attachment[T, K]) container() (state.Container, error) {
	return states{}.Container(a.index)
}

func (a *attachment[T, K]) fits(p *Pool[T]) bool {
	if a.index.Len() != p.Len() {
		return false
	}
	for h, e := range p.All() {
		if !a.index.Has(a.keyOf(e), h) {
			return false
		}
	}
	return true
}

// indexedState implements state.Container. It is the state of the pool, and that of the hash indices, because
// the order of their loops cannot be derived. Indices that the file does not have, or whose keys have changed
// since, are made from the elements, as Attach makes them.
type indexedState[T any] struct {
	x       *Indexed[T]
	pool    state.Container
	indices []state.Container
	read    []bool // for each index whether the file has it
}

func (x *Indexed[T]) keep() (state.Container, error) {
	pool, err := x.pool.keep()
	if err != nil {
		return nil, err
	}
	if x.updating {
		return nil, fmt.Errorf("%s is being changed by Indexed.Update: wait for its end", x.pool.plan.name)
	}
	s := &indexedState[T]{x: x, pool: pool, read: make([]bool, len(x.indices))}
	for _, a := range x.indices {
		index, err := a.attachment.(keptIndex[T]).container()
		if err != nil {
			return nil, err
		}
		s.indices = append(s.indices, index)
	}
	return s, nil
}

func (s *indexedState[T]) Of() []any {
	of := s.pool.Of()
	for _, index := range s.indices {
		of = append(of, index.Of()...)
	}
	return of
}

// Describe returns the state of the pool: a file does not say whether its pool had indices, so that a later
// version of the program may attach some or none.
func (s *indexedState[T]) Describe() state.Contents {
	c := s.pool.Describe()
	for i, index := range s.indices {
		one := index.Describe()
		s.read[i] = one.Kind == kindHashIndex
		c.Indices = append(c.Indices, one)
	}
	return c
}

func (s *indexedState[T]) Arrays(c state.Contents, column int) []state.Array {
	arrays := s.pool.Arrays(c, column)
	for i, index := range s.indices {
		if !s.read[i] {
			continue
		}
		for _, a := range index.Arrays(c.Indices[i], column) {
			a.Number, a.Derived = i+1, true
			arrays = append(arrays, a)
		}
	}
	return arrays
}

func (s *indexedState[T]) Reserve(c state.Contents) error {
	if err := s.pool.Reserve(c); err != nil {
		return err
	}
	for i, index := range s.indices {
		s.read[i] = i < len(c.Indices) && c.Indices[i].Kind == kindHashIndex &&
			index.Describe().Kind == kindHashIndex && index.Reserve(c.Indices[i]) == nil
	}
	return nil
}

func (s *indexedState[T]) Settle(c state.Contents, arrays []state.Array) error {
	own := func(number int) (of []state.Array) {
		for _, a := range arrays {
			if a.Number == number {
				of = append(of, a)
			}
		}
		return of
	}
	if err := s.pool.Settle(c, own(0)); err != nil {
		return err
	}
	for i, index := range s.indices {
		a := &s.x.indices[i]
		// An element that has become another one gives other keys, so fits can tell.
		if s.read[i] && index.Settle(c.Indices[i], own(i+1)) == nil &&
			a.attachment.(keptIndex[T]).fits(s.x.pool) {
			continue
		}
		a.clear()
		if err := a.grow(s.x.pool.Len()); err != nil {
			return err
		}
		err := sound(func() { // Add panics for a key that is NaN
			for h, e := range s.x.pool.All() {
				a.add(h, e)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *indexedState[T]) Abandon(c state.Contents) {
	s.pool.Abandon(c)
	for _, index := range s.indices {
		index.Abandon(state.Contents{})
	}
}
