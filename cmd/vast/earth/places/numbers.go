package places

import (
	"bufio"
	"errors"
	"io"
	"math/bits"
)

// A column of numbers is packed as two parts. The first part has one byte for each number: its bit length.
// These bytes are repetitive, so they are compressed. The second part has the bits of each number below its
// highest 1 bit, lowest bit first, without gaps between the numbers. These bits are nearly random, so they
// are not compressed. For the columns of a List, both parts together are a tenth smaller than compressed
// varints.

// maxNumberBits is the largest bit length of a number. A uint64 has room for the 56 stored bits of such a
// number and for 7 pending bits.
const maxNumberBits = 57

var errNumberBits = errors.New("a number is longer than its column allows")

type numberWriter struct {
	lengths []byte
	packed  []byte
	pending uint64 // bits not yet in packed, lowest first
	count   int    // number of pending bits, below 8 between calls
}

// add appends v, which must be below 1<<maxNumberBits.
func (w *numberWriter) add(v uint64) {
	length := bits.Len64(v)
	w.lengths = append(w.lengths, byte(length))
	if length < 2 {
		return
	}
	w.pending |= (v &^ (1 << (length - 1))) << w.count
	w.count += length - 1
	for w.count >= 8 {
		w.packed = append(w.packed, byte(w.pending))
		w.pending >>= 8
		w.count -= 8
	}
}

// bits returns the second part of the column. Zero bits fill its last byte.
func (w *numberWriter) bits() []byte {
	if w.count > 0 {
		return append(w.packed, byte(w.pending))
	}
	return w.packed
}

type numberReader struct {
	lengths *bufio.Reader
	packed  []byte
	pending uint64
	count   int
	maxBits int // largest bit length of a number
}

func (r *numberReader) next() (uint64, error) {
	length, err := r.lengths.ReadByte()
	if err != nil {
		return 0, err
	}
	if int(length) > r.maxBits {
		return 0, errNumberBits
	}
	if length < 2 {
		return uint64(length), nil
	}
	need := int(length) - 1
	for r.count < need {
		if len(r.packed) == 0 {
			return 0, io.ErrUnexpectedEOF
		}
		r.pending |= uint64(r.packed[0]) << r.count
		r.packed = r.packed[1:]
		r.count += 8
	}
	v := r.pending&(1<<need-1) | 1<<need
	r.pending >>= need
	r.count -= need
	return v, nil
}

func (r *numberReader) end() error {
	if err := atEnd(r.lengths); err != nil {
		return err
	}
	if len(r.packed) > 0 || r.pending != 0 {
		return errTrailing
	}
	return nil
}
