package uid

import (
	"errors"
	"fmt"

	"github.com/vastgo/vast/internal/layout"
)

// ErrLocal is the error of writing an [ID] for another process to read, or of reading one.
var ErrLocal = errors.New("uid: an ID means nothing outside the process that made it: " +
	"store and send a key of your own, such as a UUID, and keep a map from it to the ID")

// ID identifies one thing of type T, or of whatever T stands for, among all things of the program. It is 8 bytes,
// comparable, and no Go pointer, so it may be a key of a map and lie outside Go's heap. The zero ID identifies nothing.
type ID[T any] struct {
	_       [0]*T // so that the ID of one type cannot be converted to that of another
	address uint64
}

// IsZero reports whether id is the zero ID.
func (id ID[T]) IsZero() bool { return id.address == 0 }

// Compare returns -1, 0 or 1. The order is that of making for the IDs of one [Source], and arbitrary but fixed for
// others; with it IDs can be sorted and searched.
func (id ID[T]) Compare(other ID[T]) int {
	switch {
	case id.address < other.address:
		return -1
	case id.address > other.address:
		return 1
	}
	return 0
}

// Format writes the ID for people who debug this process, as Ship(local 7f21c0000041), whatever the verb. There is no
// way back.
func (id ID[T]) Format(out fmt.State, _ rune) {
	fmt.Fprintf(out, "%s(local %x)", layout.Name[T](), id.address)
}

// String refuses to be an identifier: it is the same for all IDs of a type. For debugging print the ID itself.
func (id ID[T]) String() string { return layout.Name[T]() + "(local)" }

// Scan returns [ErrLocal].
func (id *ID[T]) Scan(fmt.ScanState, rune) error { return ErrLocal }

// MarshalText returns [ErrLocal]. With it encoding/json and encoding/xml refuse an ID.
func (id ID[T]) MarshalText() ([]byte, error) { return nil, ErrLocal }

// UnmarshalText returns [ErrLocal].
func (id *ID[T]) UnmarshalText([]byte) error { return ErrLocal }

// MarshalBinary returns [ErrLocal]. With it encoding/gob refuses an ID.
func (id ID[T]) MarshalBinary() ([]byte, error) { return nil, ErrLocal }

// UnmarshalBinary returns [ErrLocal].
func (id *ID[T]) UnmarshalBinary([]byte) error { return ErrLocal }
