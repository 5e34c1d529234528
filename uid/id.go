package uid

import (
	"errors"
	"fmt"

	"github.com/vastgo/vast/internal/layout"
)

// ErrLocal is the error of encoding an [ID] for another process, or of decoding an ID.
var ErrLocal = errors.New("uid: an ID means nothing outside the process that made it: " +
	"store and send a key of your own, such as a UUID, and keep a map from it to the ID")

// ID identifies one thing of type T among all things of the program. It is 8 bytes, comparable and not a Go
// pointer, so it may be a map key and lie outside Go's heap. The zero ID identifies nothing.
type ID[T any] struct {
	_       [0]*T // prevents conversion between IDs of different types
	address uint64
}

// IsZero reports whether id is the zero ID.
func (id ID[T]) IsZero() bool { return id.address == 0 }

// Compare returns -1, 0 or 1, for sorting and searching. IDs that one [Source] takes from one reservation,
// which usually has over 64 billion addresses, compare in the order in which they were made. The order of
// other IDs is arbitrary but fixed.
func (id ID[T]) Compare(other ID[T]) int {
	switch {
	case id.address < other.address:
		return -1
	case id.address > other.address:
		return 1
	}
	return 0
}

// Format writes the ID as Ship(local 7f21c0000041), for any verb. The text is for debugging. It cannot be
// decoded to an ID.
func (id ID[T]) Format(out fmt.State, _ rune) {
	fmt.Fprintf(out, "%s(local %x)", layout.Name[T](), id.address)
}

// String returns one text for all IDs of a type, so that a reader does not take the text for an identifier.
// To see the number of an ID, print the ID with package fmt, which calls [ID.Format].
func (id ID[T]) String() string { return layout.Name[T]() + "(local)" }

// Scan returns [ErrLocal].
func (id *ID[T]) Scan(fmt.ScanState, rune) error { return ErrLocal }

// MarshalText returns [ErrLocal]. It makes encoding/json and encoding/xml refuse an ID.
func (id ID[T]) MarshalText() ([]byte, error) { return nil, ErrLocal }

// UnmarshalText returns [ErrLocal].
func (id *ID[T]) UnmarshalText([]byte) error { return ErrLocal }

// MarshalBinary returns [ErrLocal]. It makes encoding/gob refuse an ID.
func (id ID[T]) MarshalBinary() ([]byte, error) { return nil, ErrLocal }

// UnmarshalBinary returns [ErrLocal].
func (id *ID[T]) UnmarshalBinary([]byte) error { return ErrLocal }
