// Package modeltest helps tests that compare a container with a model. A [Stream] turns bytes into numbers,
// from which a test chooses its operations. So the bytes of a fuzzer and random bytes can drive the same
// test, and the same bytes can drive several configurations.
package modeltest

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// Stream turns bytes into numbers.
type Stream struct{ rest []byte }

// NewStream returns a stream of the bytes in data. The caller must not change data.
func NewStream(data []byte) *Stream { return &Stream{data} }

// More reports whether there are bytes left.
func (s *Stream) More() bool { return len(s.rest) > 0 }

// Byte returns the next byte, or 0 at the end.
func (s *Stream) Byte() int {
	if len(s.rest) == 0 {
		return 0
	}
	b := s.rest[0]
	s.rest = s.rest[1:]
	return int(b)
}

// Below returns a number in [0, n), often a small number.
func (s *Stream) Below(n int) int {
	v := s.Byte()
	if v >= 128 {
		v = (v-128)<<8 | s.Byte()
	}
	return v % n
}

// RandomBytes returns n random bytes for a stream, and logs their seed.
func RandomBytes(t *testing.T, n int) []byte {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	data := make([]byte, n)
	for i := range data {
		data[i] = byte(r.Uint32())
	}
	return data
}

// PanicText returns the text of the panic of f, or "" if f does not panic.
func PanicText(f func()) (text string) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case error:
			text = r.Error()
		default:
			text = fmt.Sprint(r)
		}
	}()
	f()
	return ""
}
