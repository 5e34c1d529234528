package bulk

import (
	"hash/maphash"
	"math/bits"
	"math/rand/v2"
	"reflect"
	"unsafe"
)

// hasher makes numbers of keys that nobody outside can foresee: its seeds are random, so that no set of keys is slow in
// every process.
type hasher[K comparable] struct {
	seed   maphash.Seed
	a, b   uint64 // the seeds of short keys
	short  bool   // keys are 1, 2, 4, 8 or 16 bytes, and equal exactly where their bytes are
	hasNaN bool   // a key may be unlike itself
}

func newHasher[K comparable]() hasher[K] {
	t := reflect.TypeFor[K]()
	h := hasher[K]{seed: maphash.MakeSeed(), a: rand.Uint64(), b: rand.Uint64() | 1, hasNaN: floats(t)}
	switch t.Size() {
	case 1, 2, 4, 8, 16:
		h.short = solid(t) && !h.hasNaN && !blank(t)
	}
	return h
}

// of returns the hash of a key. All its bits are good: the high ones choose the bucket, the low ones the tag.
//
// Short keys are multiplied by a secret number, and the halves of the product added without carry, as wyhash does (Wang
// Yi); that takes a third of the time of the function of Go's maps, which has the other keys. Reading a short key as
// numbers is sound because it has no Go pointers and no padding.
func (h *hasher[K]) of(k K) uint64 {
	if h.short {
		p := unsafe.Pointer(&k)
		switch unsafe.Sizeof(k) {
		case 1:
			return fold(uint64(*(*uint8)(p))^h.a, h.b)
		case 2:
			return fold(uint64(*(*uint16)(p))^h.a, h.b)
		case 4:
			return fold(uint64(*(*uint32)(p))^h.a, h.b)
		case 8:
			w := (*[2]uint32)(p)
			return fold((uint64(w[0])|uint64(w[1])<<32)^h.a, h.b)
		case 16:
			w := (*[4]uint32)(p)
			x := fold((uint64(w[0])|uint64(w[1])<<32)^h.a, h.b)
			return fold((uint64(w[2])|uint64(w[3])<<32)^x, h.b)
		}
	}
	return maphash.Comparable(h.seed, k)
}

func fold(x, y uint64) uint64 {
	high, low := bits.Mul64(x, y)
	return high ^ low
}

// floats reports whether type t holds floating-point numbers.
func floats(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Float32, reflect.Float64, reflect.Complex64, reflect.Complex128:
		return true
	case reflect.Array:
		return floats(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if floats(t.Field(i).Type) {
				return true
			}
		}
	}
	return false
}

// blank reports whether type t has fields named _, which comparing passes over.
func blank(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Array:
		return blank(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if f := t.Field(i); f.Name == "_" || blank(f.Type) {
				return true
			}
		}
	}
	return false
}
