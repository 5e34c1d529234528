package query

import (
	"math"
	"math/bits"
	"reflect"
	"unsafe"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/probe"
)

// Keep clears the bits of the entities without the component, and returns the number of bits that stay set.
// Bit i stands for slot lo + i, as in [Search.Words].
func (n Named) Keep(w *vast.World, lo int, words []uint64) (kept int) {
	next := 0
	for word, mask := range n.has(w, lo, lo+64*len(words)).Words() {
		i := word - lo/64
		clear(words[next:i])
		words[i] &= mask
		kept += bits.OnesCount64(words[i])
		next = i + 1
	}
	clear(words[next:])
	return kept
}

// AppendNumbers appends the value of part for each entity whose bit is set. Bit i stands for slot lo + i, as
// in [Search.Words]. A bool counts as 0 or 1, and a value that is not a number counts as NaN. AppendNumbers
// skips entities without the component. Call AppendNumbers on one goroutine at a time, and only while this
// goroutine may read the world. Complexity: a few nanoseconds for each slot of a dense column, a few hundred
// nanoseconds for each entity of other columns.
func (n Named) AppendNumbers(to []float64, w *vast.World, part *Part, lo int, words []uint64) []float64 {
	size := int(n.Column.Type.Size())
	read := numberReader(part.Type.Kind())
	for run := range n.has(w, lo, lo+64*len(words)).Runs() {
		from := run.Start() - lo
		var elements unsafe.Pointer
		if n.Column.Storage == probe.StorageDense {
			elements = unsafe.Pointer(unsafe.SliceData(probe.Bytes(n.Column.AnyColumn, run)))
		}
		for i := range run.Len() {
			at := from + i
			if words[at/64]>>(at%64)&1 == 0 {
				continue
			}
			if elements != nil {
				// Sound because the run has more than i elements, and part lies within an element.
				to = append(to, read(unsafe.Add(elements, i*size+part.Offset)))
			} else if v, ok := probe.Value(n.Column.AnyColumn, run.Entity(i)); ok {
				to = append(to, read(unsafe.Add(v.Addr().UnsafePointer(), part.Offset)))
			}
		}
	}
	return to
}

func numberReader(k reflect.Kind) func(unsafe.Pointer) float64 {
	switch k {
	case reflect.Float32:
		return func(p unsafe.Pointer) float64 { return float64(*(*float32)(p)) }
	case reflect.Float64:
		return func(p unsafe.Pointer) float64 { return *(*float64)(p) }
	case reflect.Int8:
		return func(p unsafe.Pointer) float64 { return float64(*(*int8)(p)) }
	case reflect.Int16:
		return func(p unsafe.Pointer) float64 { return float64(*(*int16)(p)) }
	case reflect.Int32:
		return func(p unsafe.Pointer) float64 { return float64(*(*int32)(p)) }
	case reflect.Int64:
		return func(p unsafe.Pointer) float64 { return float64(*(*int64)(p)) }
	case reflect.Int:
		return func(p unsafe.Pointer) float64 { return float64(*(*int)(p)) }
	case reflect.Bool, reflect.Uint8:
		return func(p unsafe.Pointer) float64 { return float64(*(*uint8)(p)) }
	case reflect.Uint16:
		return func(p unsafe.Pointer) float64 { return float64(*(*uint16)(p)) }
	case reflect.Uint32:
		return func(p unsafe.Pointer) float64 { return float64(*(*uint32)(p)) }
	case reflect.Uint64:
		return func(p unsafe.Pointer) float64 { return float64(*(*uint64)(p)) }
	case reflect.Uint:
		return func(p unsafe.Pointer) float64 { return float64(*(*uint)(p)) }
	case reflect.Uintptr:
		return func(p unsafe.Pointer) float64 { return float64(*(*uintptr)(p)) }
	}
	return func(unsafe.Pointer) float64 { return math.NaN() }
}
