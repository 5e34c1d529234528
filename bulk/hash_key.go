package bulk

import (
	"hash/maphash"
	"math/bits"
	"math/rand/v2"
	"reflect"
	"unsafe"
)

// hasher hashes keys with random seeds, so that no set of keys is slow in every process.
type hasher[K comparable] struct {
	seed    maphash.Seed
	a, b, c uint64 // seeds for short keys
	short   bool   // keys have 1, 2, 4 or 8 bytes, and are equal exactly if their bytes are equal
	hasNaN  bool   // keys may contain a NaN
}

func newHasher[K comparable]() hasher[K] {
	t := reflect.TypeFor[K]()
	h := hasher[K]{seed: maphash.MakeSeed(), a: rand.Uint64(), b: rand.Uint64() | 1, c: rand.Uint64() | 1,
		hasNaN: floats(t)}
	switch t.Size() {
	case 1, 2, 4, 8:
		h.short = solid(t) && !h.hasNaN && !blank(t)
	}
	return h
}

// of returns the hash of a key. All bits of the hash are mixed well: the high bits choose the bucket, the low
// bits the tag.
//
// A short key is combined with the seed a by XOR, and multiplied by the seed b. The halves of the product are
// combined by XOR, as in wyhash (Wang Yi). A second multiplication, by the seed c, follows: after one
// multiplication, keys at regular distances would have hashes at regular distances, and for some seeds equal
// hashes. The two multiplications take half as long as the hash of Go's maps, which is the hash for keys that
// are not short.
func (h *hasher[K]) of(k K) uint64 {
	if h.short {
		return h.mixed(number(&k))
	}
	return h.long(k)
}

// mixed and long are the two cases of hasher.of. The compiler inlines mixed, but not hasher.of. Therefore
// Add, Remove and First choose between mixed and long themselves.

func (h *hasher[K]) mixed(n uint64) uint64 {
	high, low := bits.Mul64(n^h.a, h.b)
	high, low = bits.Mul64(high^low, h.c)
	return high ^ low
}

func (h *hasher[K]) long(k K) uint64 { return maphash.Comparable(h.seed, k) }

// number returns the bytes of a short key (see hasher.short) as a number. Reading these bytes is sound
// because a short key has no Go pointers and no padding.
func number[K any](k *K) uint64 {
	if unsafe.Sizeof(*k) == 1 {
		return uint64(*(*uint8)(unsafe.Pointer(k)))
	}
	if unsafe.Sizeof(*k) == 2 {
		return uint64(*(*uint16)(unsafe.Pointer(k)))
	}
	if unsafe.Sizeof(*k) == 4 {
		return uint64(*(*uint32)(unsafe.Pointer(k)))
	}
	w := (*[2]uint32)(unsafe.Pointer(k))
	return uint64(w[0]) | uint64(w[1])<<32
}

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

// blank reports whether type t has fields named _, which comparisons ignore.
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
