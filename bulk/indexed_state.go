package bulk

import (
	"fmt"

	"github.com/vastgo/vast/internal/state"
)

// attachment is an index that is attached to an Indexed, with the function that makes its keys.
type attachment[T any, K comparable] struct {
	index Index[K, Handle[T]]
	keyOf func(*T) K
}

// keptIndex is an attachment without its type parameters.
type keptIndex interface {
	of() any // the index
	// fits reports whether the index has exactly the pairs of the pool, a *Pool[T].
	fits(pool any) bool
}

func (a *attachment[T, K]) of() any { return a.index }

func (a *attachment[T, K]) fits(pool any) bool {
	p := pool.(*Pool[T])
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

// indexedState implements state.Container. A file has the state of the pool. It also has the states of the
// hash indices, because the order of a loop over a hash index does not follow from the pool. Loading makes
// the other indices from the elements. It does the same with a hash index that does not fit the elements.
type indexedState[T any] struct {
	x *Indexed[T]
	// parts has a state.Container for the pool, followed by one for each index. The element type is any: with
	// state.Container, the linker would keep its type description in every program with an Indexed.
	parts []any
	read  []bool // for each index: whether its state is saved, or loaded from the file
}

func (s *indexedState[T]) pool() state.Container { return s.parts[0].(state.Container) }

func (s *indexedState[T]) index(i int) state.Container { return s.parts[i+1].(state.Container) }

func (x *Indexed[T]) keep() (any, error) {
	if x.updating {
		return nil, fmt.Errorf("%s is being changed by Indexed.Update: wait for its end", x.pool.plan.name)
	}
	containers := []any{x.pool}
	for _, a := range x.indices {
		containers = append(containers, a.attachment.(keptIndex).of())
	}
	s := &indexedState[T]{x: x, read: make([]bool, len(x.indices))}
	for _, part := range containers {
		kept, err := keep(part)
		if err != nil {
			return nil, err
		}
		s.parts = append(s.parts, kept)
	}
	return s, nil
}

func (s *indexedState[T]) Of() []any {
	var containers []any
	for _, part := range s.parts {
		containers = append(containers, part.(state.Container).Of()...)
	}
	return containers
}

// Describe returns the description of the pool, with the descriptions of the indices in the field Indices.
// The kind is that of a pool, so that a later version of the program may attach other indices or none.
func (s *indexedState[T]) Describe() state.Contents {
	c := s.pool().Describe()
	for i := range s.read {
		one := s.index(i).Describe()
		s.read[i] = one.Kind == kindHashIndex
		c.Indices = append(c.Indices, one)
	}
	return c
}

func (s *indexedState[T]) Arrays(c state.Contents, column int) []state.Array {
	arrays := s.pool().Arrays(c, column)
	for i, read := range s.read {
		if !read {
			continue
		}
		for _, a := range s.index(i).Arrays(c.Indices[i], column) {
			a.Number, a.Derived = i+1, true
			arrays = append(arrays, a)
		}
	}
	return arrays
}

func (s *indexedState[T]) Reserve(c state.Contents) error {
	if err := s.pool().Reserve(c); err != nil {
		return err
	}
	for i := range s.read {
		index := s.index(i)
		s.read[i] = i < len(c.Indices) && c.Indices[i].Kind == kindHashIndex &&
			index.Describe().Kind == kindHashIndex && index.Reserve(c.Indices[i]) == nil
	}
	return nil
}

func (s *indexedState[T]) Settle(c state.Contents, arrays []state.Array) error {
	arraysOf := func(number int) (found []state.Array) {
		for _, a := range arrays {
			if a.Number == number {
				found = append(found, a)
			}
		}
		return found
	}
	if err := s.pool().Settle(c, arraysOf(0)); err != nil {
		return err
	}
	for i, read := range s.read {
		a := &s.x.indices[i]
		// Elements that loading has converted may have other keys, which fits detects.
		if read && s.index(i).Settle(c.Indices[i], arraysOf(i+1)) == nil &&
			a.attachment.(keptIndex).fits(s.x.pool) {
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
	s.pool().Abandon(c)
	for i := range s.read {
		s.index(i).Abandon(state.Contents{})
	}
}
