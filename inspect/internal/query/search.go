package query

import (
	"cmp"
	"math"
	"math/bits"
	"reflect"
	"strings"
	"unsafe"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/probe"
)

// Numbers of slots in a step. A step takes some tens of microseconds.
const (
	stepPlain    = 64 << 10 // for presence bits
	stepRelated  = 8 << 10  // for targets
	stepCompared = 4 << 10  // for values smaller than a page
	stepPages    = 512      // for values of a page or more
	stepSlow     = 128      // for values that are read one at a time
	stepLarge    = 64       // for values that are expensive to copy
)

// CopyMost is the largest size in bytes of a component that a search copies. A search copies the components
// that are not in dense storage (sparse, heap and shared).
const CopyMost = 1 << 20

const (
	largeBytes = 2 << 10 // a component of this size or more is expensive to copy
	pageBytes  = 4 << 10 // a component of this size or more fills a page
)

// isCopied reports whether a search copies the components of the column.
func (c *Column) isCopied() bool { return c.Storage != probe.StorageDense }

func (c *Column) size() int { return int(c.Type.Size()) }

// Step returns the number of slots to read between two checks of the time limit. Do not call Step for a tag.
func (c *Column) Step() int {
	switch {
	case c.isCopied() && c.size() >= largeBytes:
		return stepLarge
	case c.isCopied():
		return stepSlow
	case c.size() >= pageBytes:
		return stepPages
	}
	return stepCompared
}

// Step returns the number of slots that a call of [Search.Words] should search. The number is a multiple of
// 64. The call takes some tens of microseconds.
func (s *Search) Step() int { return s.slots }

// Plain reports whether each term is a condition on components, or a single target such as ChildOf(Paris).
// Terms with comparisons, terms about names, terms with where or up, and terms with a target after ! or in
// alternatives are not plain. The result of a plain search changes only when World.Changes changes, or when
// entities are disabled or enabled (see [Plan.NamesDisabled]).
func (s *Search) Plain() bool { return len(s.tests) == 0 }

// Key identifies the targets of terms such as ChildOf(Paris). If these targets differ between two searches of
// a plan, the keys differ. Targets after ! and in alternatives, and entities in comparisons, are not part of
// the key.
func (s *Search) Key() string { return s.key }

// Words searches the slots [lo, hi) and sets the bits of the matches: bit i % 64 of word i / 64 stands for
// slot lo + i. lo must be a multiple of 64, and words must be zero. Words returns the number of matches.
func (s *Search) Words(lo, hi int, words []uint64) (n int) {
	first := lo / 64
	for word, mask := range s.base.Between(lo, hi).Words() {
		words[word-first] = mask
		n += bits.OnesCount64(mask)
	}
	for i := range s.tests {
		if n == 0 {
			return 0
		}
		if len(s.passed) < len(words) {
			s.passed = make([]uint64, len(words))
		}
		passed := s.passed[:len(words)]
		clear(passed)
		n = s.tests[i].keep(s.names, lo, hi, words, passed)
	}
	return n
}

// keep clears the bits of the slots that fail the test, and returns the number of bits that stay set. passed
// is scratch memory, and must be zero.
func (t *boundTest) keep(names Names, lo, hi int, words, passed []uint64) (n int) {
	for i := range t.either {
		t.either[i].pass(names, lo, hi, words, passed)
	}
	for i := range words {
		if t.not {
			words[i] &^= passed[i]
		} else {
			words[i] &= passed[i]
		}
		n += bits.OnesCount64(words[i])
	}
	return n
}

// pass looks for the slots for which the alternative holds, and sets their bits in passed. It may skip the
// slots whose bits in words are clear.
func (a *boundAlternative) pass(names Names, lo, hi int, words, passed []uint64) {
	c := a.compare
	for run := range a.query.Between(lo, hi).Runs() {
		from := run.Start() - lo
		switch {
		case a.join != nil:
			for i := range run.Len() {
				setBit(passed, from+i, a.join.holds(a.world, a.relation, run.Entity(i)))
			}
		case c == nil:
			setBits(passed, from, from+run.Len())
		case c.packed:
			c.passPacked(probe.Bytes(a.column.AnyColumn, run), run.Len(), from, a.value, passed)
		default:
			for i := range run.Len() {
				if words[(from+i)/64]>>((from+i)%64)&1 != 0 {
					setBit(passed, from+i, c.passOne(names, a.column, run.Entity(i), a.value))
				}
			}
		}
	}
}

func setBits(words []uint64, lo, hi int) {
	for lo < hi {
		end := min(lo/64*64+64, hi)
		words[lo/64] |= math.MaxUint64 >> (64 - (end - lo)) << (lo % 64)
		lo = end
	}
}

func setBit(words []uint64, i int, set bool) {
	if set {
		words[i/64] |= 1 << (i % 64)
	}
}

func (c *comparison) passOne(names Names, col *Column, e, value vast.Entity) bool {
	if col == nil {
		name, ok := names.Name(e)
		return ok && (c.op == opNamed || (c.holds(name) || e == value) != c.not)
	}
	v, ok := probe.Value(col.AnyColumn, e)
	if !ok {
		return false
	}
	// Sound because v is a complete copy of the component, and the part lies at the offset.
	p := unsafe.Add(v.Addr().UnsafePointer(), c.offset)
	if c.kind == KindString {
		return c.holds(*(*string)(p)) != c.not
	}
	var one [1]uint64
	c.passPacked(unsafe.Slice((*byte)(v.Addr().UnsafePointer()), c.size), 1, 0, value, one[:])
	return one[0] != 0
}

func (c *comparison) holds(text string) bool {
	switch c.op {
	case opEqual:
		return text == c.text
	case opLess:
		return cmp.Less(text, c.text)
	case opMore:
		return cmp.Less(c.text, text)
	}
	return strings.Contains(strings.ToLower(text), c.low)
}

// reach records where the value lies in a component, and how a search reads the value.
func (c *comparison) reach(col *Column, part *Part) {
	c.offset, c.size, c.slots = part.Offset, col.size(), col.Step()
	c.packed = !col.isCopied() && c.kind != KindString
}

// passPacked compares the values of n elements that lie side by side, and sets the bits of the elements that
// pass. start is the number of the bit for the first element.
func (c *comparison) passPacked(elements []byte, n, start int, value vast.Entity, passed []uint64) {
	if n == 0 {
		return
	}
	// Sound because the elements have the size of the column's type, with a value of this kind at the offset.
	v := values{unsafe.Add(unsafe.Pointer(unsafe.SliceData(elements)), c.offset), c.size, n}
	switch {
	case c.kind == KindEntity:
		each(v, start, passed, func(e vast.Entity) bool { return (e == value) != c.not })
	case c.kind == KindFloat && c.number == reflect.Float32:
		floats[float32](c, v, start, passed)
	case c.kind == KindFloat:
		floats[float64](c, v, start, passed)
	default:
		c.integersOf(v, start, passed)
	}
}

func (c *comparison) integersOf(v values, start int, passed []uint64) {
	switch c.number {
	case reflect.Int8:
		integers[int8](c, v, start, passed)
	case reflect.Int16:
		integers[int16](c, v, start, passed)
	case reflect.Int32:
		integers[int32](c, v, start, passed)
	case reflect.Int64:
		integers[int64](c, v, start, passed)
	case reflect.Int:
		integers[int](c, v, start, passed)
	case reflect.Bool, reflect.Uint8:
		integers[uint8](c, v, start, passed)
	case reflect.Uint16:
		integers[uint16](c, v, start, passed)
	case reflect.Uint32:
		integers[uint32](c, v, start, passed)
	case reflect.Uint64:
		integers[uint64](c, v, start, passed)
	case reflect.Uint:
		integers[uint](c, v, start, passed)
	case reflect.Uintptr:
		integers[uintptr](c, v, start, passed)
	}
}

// values are n values in memory at equal distances.
type values struct {
	first  unsafe.Pointer
	stride int // distance in bytes from the start of a value to the start of the next value
	n      int
}

func at[T any](v values, i int) T { return *(*T)(unsafe.Add(v.first, i*v.stride)) }

func each[T any](v values, start int, passed []uint64, pass func(T) bool) {
	for i := range v.n {
		setBit(passed, start+i, pass(at[T](v, i)))
	}
}

// integers sets the bit of each value for which the comparison holds. The first value has bit number start.
// integers collects the bits of a word in a register before it writes the word.
func integers[T ~int | ~int8 | ~int16 | ~int32 | ~int64 |
	~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr](
	c *comparison, v values, start int, passed []uint64) {
	lo, span := c.lo, c.span
	for i := 0; i < v.n; {
		at0 := start + i
		var mask uint64
		for bit := at0 % 64; bit < 64 && i < v.n; bit++ {
			if uint64(at[T](v, i))-lo <= span {
				mask |= 1 << bit
			}
			i++
		}
		passed[at0/64] |= c.turned(mask, at0%64, start+i-at0)
	}
}

// floats is like integers, for floating-point numbers.
func floats[T float32 | float64](c *comparison, v values, start int, passed []uint64) {
	least, most, nan := T(c.least), T(c.most), c.op == opNaN
	for i := 0; i < v.n; {
		at0 := start + i
		var mask uint64
		for bit := at0 % 64; bit < 64 && i < v.n; bit++ {
			x := at[T](v, i)
			if !nan && least <= x && x <= most || nan && x != x {
				mask |= 1 << bit
			}
			i++
		}
		passed[at0/64] |= c.turned(mask, at0%64, start+i-at0)
	}
}

// turned applies c.nothing and c.not to mask. mask has the bits of the values in the range, or for opNaN the
// bits of the NaN values. The bits [first, first+n) stand for values.
func (c *comparison) turned(mask uint64, first, n int) uint64 {
	if c.nothing {
		mask = 0
	}
	if c.not {
		mask = ^mask & (math.MaxUint64 >> (64 - n) << first)
	}
	return mask
}
