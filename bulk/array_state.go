package bulk

import (
	"reflect"
	"unsafe"

	"github.com/vastgo/vast/internal/state"
)

// arrayState implements state.Container.
type arrayState[T any] struct{ a *Array[T] }

func (a *Array[T]) keep() (any, error) {
	a.mustBeOpen()
	return &arrayState[T]{a}, nil
}

func (s *arrayState[T]) Of() []any { return []any{s.a} }

func (s *arrayState[T]) Describe() state.Contents {
	return state.Contents{Kind: kindArray, Len: s.a.Len()}
}

func (s *arrayState[T]) Arrays(c state.Contents, column int) []state.Array {
	return []state.Array{{Kind: state.Elements, Column: column, Type: reflect.TypeFor[T](), Len: c.Len,
		Base: unsafe.Pointer(s.a.base)}}
}

func (s *arrayState[T]) Reserve(c state.Contents) error {
	if s.a.Len() > 0 {
		return s.a.plan.wasUsed()
	}
	if err := s.a.plan.mustHold(c.Len); err != nil {
		return err
	}
	return s.a.makeRoom(opGrow, c.Len)
}

func (s *arrayState[T]) Settle(c state.Contents, _ []state.Array) error {
	s.a.next = after(s.a.base, c.Len)
	return nil
}

func (s *arrayState[T]) Abandon(c state.Contents) {
	s.a.next = after(s.a.base, c.Len)
	s.a.Truncate(0) // clears the elements that were read, because memory beyond the end must be zero
}
