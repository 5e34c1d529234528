package vastsql

import (
	"math/bits"
	"unsafe"
)

// selection is a set of rows of an image: one bit for each row of the image.
type selection []uint64

// selectRows returns the rows that meet all conditions. A nil selection stands for all rows.
func selectRows(m *image, all []bounds) selection {
	if len(all) == 0 {
		return nil
	}
	s := make(selection, (m.rows+63)/64)
	for i := range s {
		s[i] = ^uint64(0)
	}
	if n := m.rows % 64; n > 0 {
		s[len(s)-1] = 1<<n - 1
	}
	for i := range all {
		b := &all[i]
		if b.empty() {
			return make(selection, len(s))
		}
		filter(m, b, s)
	}
	return s
}

// filter removes the rows that do not meet a condition.
func filter(m *image, b *bounds, s selection) {
	p, size := m.bases[b.field.part].first, m.bases[b.field.part].size
	p = unsafe.Add(p, b.field.offset)
	switch b.field.kind {
	case kindInt8:
		filterInts[int8](p, size, m.rows, b, s)
	case kindInt16:
		filterInts[int16](p, size, m.rows, b, s)
	case kindInt32:
		filterInts[int32](p, size, m.rows, b, s)
	case kindInt64:
		filterInts[int64](p, size, m.rows, b, s)
	case kindUint8, kindBool:
		filterInts[uint8](p, size, m.rows, b, s)
	case kindUint16:
		filterInts[uint16](p, size, m.rows, b, s)
	case kindUint32:
		filterInts[uint32](p, size, m.rows, b, s)
	case kindFloat32:
		filterFloats[float32](p, size, m.rows, b, s)
	case kindFloat64:
		filterFloats[float64](p, size, m.rows, b, s)
	}
}

// bit returns 1 for true. The compiler makes no branch of it: for random values, the processor could not
// predict a branch.
func bit(b bool) (n uint64) {
	if b {
		n = 1
	}
	return n
}

type integer interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32
}

func filterInts[T integer](p unsafe.Pointer, size uintptr, rows int, b *bounds, s selection) {
	lo, hi := b.minI, b.maxI
	for i := 0; i < rows; i += 64 {
		var word uint64
		for j := range min(64, rows-i) {
			v := int64(*(*T)(unsafe.Add(p, uintptr(i+j)*size)))
			word |= (bit(v >= lo) & bit(v <= hi)) << j
		}
		s[i/64] &= word
	}
}

// filterFloats removes NaN, too: NaN is NULL in SQL.
func filterFloats[T float32 | float64](p unsafe.Pointer, size uintptr, rows int, b *bounds, s selection) {
	lo, hi := b.minF, b.maxF
	for i := 0; i < rows; i += 64 {
		var word uint64
		for j := range min(64, rows-i) {
			v := float64(*(*T)(unsafe.Add(p, uintptr(i+j)*size)))
			word |= (bit(v >= lo) & bit(v <= hi)) << j
		}
		s[i/64] &= word
	}
}

// from returns the first selected row at or after a row, or the number of bits in s if there is none.
func (s selection) from(row int) int {
	i := row / 64
	if i >= len(s) {
		return 64 * len(s)
	}
	for word := s[i] &^ (1<<(row%64) - 1); ; word = s[i] {
		if word != 0 {
			return 64*i + bits.TrailingZeros64(word)
		}
		if i++; i == len(s) {
			return 64 * len(s)
		}
	}
}
