package bulk

import (
	"cmp"
	"errors"
	"iter"
	"math"
	"strings"
	"testing"
	"unsafe"

	"github.com/vastgo/vast/internal/faulttest"
	"github.com/vastgo/vast/internal/longtest"
	"github.com/vastgo/vast/internal/modeltest"
	"github.com/vastgo/vast/vm"
)

// Some keys are equal although their bytes differ, such as 0 and -0. NaN differs from itself.
func TestHashKeys(t *testing.T) {
	f := newHashIndex[float64, uint32](t, Options{Capacity: 100})
	minusZero := math.Copysign(0, -1)
	if !f.Add(0, 1) || f.Add(minusZero, 1) || !f.Add(minusZero, 2) || f.Count(0) != 2 {
		t.Errorf("0 has %d values", f.Count(0))
	}
	text := modeltest.PanicText(func() { f.Add(math.NaN(), 1) })
	if !strings.Contains(text, "the key NaN to bulk.HashIndex[float64,uint32]: NaN equals nothing") ||
		f.Len() != 2 {
		t.Errorf("Add of NaN: %q", text)
	}
	if _, ok := f.First(math.NaN()); ok || f.Remove(math.NaN(), 1) || f.RemoveAll(math.NaN()) != 0 {
		t.Error("NaN is found")
	}
	type blanked struct {
		a uint32
		_ uint32
	}
	b := newHashIndex[blanked, uint32](t, Options{Capacity: 100})
	junk := [2]uint32{7, 99}
	if b.hash.short {
		t.Error("a blank field is hashed")
	}
	if b.Add(*(*blanked)(unsafe.Pointer(&junk)), 1); !b.Contains(blanked{a: 7}) {
		t.Error("a key with a blank field is lost")
	}
	h := newHashIndex[Handle[unit], Handle[unit]](t, Options{Capacity: 100})
	if h.Add(Handle[unit]{1, 2}, Handle[unit]{3, 4}); !h.hash.short ||
		!h.Has(Handle[unit]{1, 2}, Handle[unit]{3, 4}) {
		t.Error("a handle is lost")
	}
	o := newOrderedIndex[float64, uint32](t, Options{Capacity: 100})
	if !o.Add(0, 1) || o.Add(minusZero, 1) || !o.Add(minusZero, 2) || !o.Add(math.Inf(-1), 0) ||
		o.Count(0) != 2 {
		t.Errorf("0 has %d values", o.Count(0))
	}
	text = modeltest.PanicText(func() { o.Add(math.NaN(), 1) })
	if !strings.Contains(text, "NaN equals nothing") || o.Len() != 3 {
		t.Errorf("Add of NaN: %q", text)
	}
	if _, ok := o.First(math.NaN()); ok || o.Remove(math.NaN(), 1) || o.RemoveAll(math.NaN()) != 0 {
		t.Error("NaN is found")
	}
	for range o.From(math.NaN()) {
		t.Error("there are pairs from NaN on")
	}
}

// Keys in regular patterns must not make searches longer than random keys do.
func TestSearchesAreShort(t *testing.T) {
	n := boundedPairs() / 2
	patterns := map[string]func(i int) uint64{
		"sequence":         func(i int) uint64 { return uint64(i) },
		"high bits":        func(i int) uint64 { return uint64(i) << 40 },
		"steps of 2^20":    func(i int) uint64 { return uint64(i) << 20 },
		"steps of 4096":    func(i int) uint64 { return 0xc000000000 + uint64(i)*4096 },
		"both halves":      func(i int) uint64 { return uint64(i)<<32 | uint64(i) },
		"handles":          func(i int) uint64 { return uint64(i) | 0x55000001<<32 },
		"multiples":        func(i int) uint64 { return uint64(i) * 0x9e3779b97f4a7c15 },
		"reversed numbers": func(i int) uint64 { return ^uint64(i) },
	}
	for name, key := range patterns {
		x := newHashIndex[uint64, uint32](t, Options{Capacity: n})
		longest, total := 0, 0
		for i := range n {
			x.Add(key(i), uint32(i))
		}
		for i := range x.end {
			length := 1
			for j := i; *x.control(j) >= onePassed && j+1 < x.end; j++ {
				length++
			}
			longest = max(longest, length)
			total += length
		}
		// In the fullest table with random hashes, a search passes 2.3 ± 0.1 buckets on average, and at most
		// about 170 buckets.
		if mean := float64(total) / float64(x.end); longest > 300 || mean > 3 {
			t.Errorf("%s: a search that finds nothing passes up to %d buckets, on average %.2f", name,
				longest, mean)
		}
	}
}

// If adding or removing one of many values of a key took linear time, this test would take far too long.
func TestManyValues(t *testing.T) {
	longtest.OneGoroutine(t)
	n := longtest.Pick(100_000, 1_000_000)
	if heapStandIn() {
		n = 100_000
	}
	h := newHashIndex[uint64, uint32](t, Options{Capacity: n + 10})
	o := newOrderedIndex[uint64, uint32](t, Options{Capacity: n + 10})
	for _, x := range []Index[uint64, uint32]{h, o} {
		x.Add(6, 1)
		for i := range n {
			x.Add(7, uint32(i*7919%n))
		}
		if x.Count(7) != n || x.Count(6) != 1 || x.Add(7, 5) || x.Len() != n+1 {
			t.Fatalf("key 7 has %d values, want %d", x.Count(7), n)
		}
		for i := range n - 20 {
			if !x.Remove(7, uint32(i*31%n)) {
				t.Fatalf("value %d is lost", i*31%n)
			}
		}
		if x.Count(7) != 20 || x.RemoveAll(7) != 20 || x.Contains(7) || x.Len() != 1 {
			t.Fatalf("%d pairs are left", x.Len())
		}
	}
	h.checkInvariants()
	o.tree.checkInvariants("")
}

func indices(t *testing.T, o Options) map[string]Index[uint64, uint32] {
	o.Name = "hash"
	h := newHashIndex[uint64, uint32](t, o)
	o.Name = "ordered"
	return map[string]Index[uint64, uint32]{"hash": h, "ordered": newOrderedIndex[uint64, uint32](t, o)}
}

// An index reaches a limit while it grows. No pair is lost, and the index grows again when room returns.
func TestIndicesUnderLimit(t *testing.T) {
	longtest.OneGoroutine(t)
	for _, pages := range pageKinds {
		if pages == vm.PagesHuge {
			continue // a huge page is larger than the limit
		}
		for _, valuesPerKey := range []int{1, 7, 30, 100_000} {
			limit := vm.NewLimit(1 << 20)
			other := newArray[record](t, Options{Limit: limit, Pages: pages, Capacity: 13_000})
			if err := other.Grow(12_000); err != nil {
				t.Fatal(err)
			}
			for name, x := range indices(t, Options{Limit: limit, Pages: pages, Capacity: 200_000}) {
				key := func(i int) uint64 { return uint64(i / valuesPerKey * 31) }
				n := 0
				fill := func() (e *vm.Error) {
					return exhausted(func() {
						for n < 100_000 {
							x.Add(key(n), uint32(n))
							n++
						}
					})
				}
				check := func() {
					t.Helper()
					if x.Len() != n {
						t.Fatalf("%s: %d pairs, want %d", name, x.Len(), n)
					}
					for i := range n {
						if !x.Has(key(i), uint32(i)) {
							t.Fatalf("%s: pair %d of %d is lost", name, i, n)
						}
					}
					checkIndex(x)
				}
				for range 3 {
					if e := fill(); !errors.Is(e, vm.ErrLimit) || e.Purpose != name || n < 15_000 {
						t.Fatalf("%s: after %d pairs: %v", name, n, e)
					}
				}
				check()
				if err := x.Grow(50_000); !errors.Is(err, vm.ErrLimit) {
					t.Fatalf("%s: Grow beyond the limit: %v", name, err)
				}
				check()
				for range 100 {
					n--
					if !x.Remove(key(n), uint32(n)) {
						t.Fatalf("%s: pair %d is lost", name, n)
					}
				}
				other.Truncate(0)
				before := n
				if fill(); n < before+5000 {
					t.Fatalf("%s: only %d more pairs fit after room returned", name, n-before)
				}
				check()
				if err := x.Close(); err != nil {
					t.Fatal(err)
				}
				if err := other.Grow(12_000); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

func checkIndex(x Index[uint64, uint32]) {
	switch x := x.(type) {
	case *HashIndex[uint64, uint32]:
		x.checkInvariants()
	case *OrderedIndex[uint64, uint32]:
		x.tree.checkInvariants("")
	}
}

// The insertions that Grow has promised commit no memory, whatever the keys.
func TestGrowOfIndicesHolds(t *testing.T) {
	longtest.OneGoroutine(t)
	const n = 20_000
	for _, before := range []int{0, 1000, 8000} {
		for _, valuesPerKey := range []int{1, 8, 9, 50, n} {
			for name, x := range indices(t, Options{Capacity: 2 * n}) {
				for i := range before {
					x.Add(uint64(i/8), uint32(i))
				}
				if err := x.Grow(n); err != nil {
					t.Fatal(err)
				}
				committed := x.(interface{ Committed() int }).Committed()
				for i := range n {
					if got := x.(interface{ Committed() int }).Committed(); got != committed {
						t.Fatalf("%s, %d pairs before Grow, %d values for each key: the first %d of %d "+
							"insertions commit %d bytes", name, before, valuesPerKey, i, n, got-committed)
					}
					x.Add(uint64(i*7919%n/valuesPerKey), uint32(before+i))
				}
				// After the last promised insertion the promise ends, and unused memory may be given back.
				if got := x.(interface{ Committed() int }).Committed(); got > committed ||
					x.Len() != before+n {
					t.Errorf("%s, %d pairs before Grow, %d values for each key: %d pairs after all "+
						"insertions, and %d more bytes committed", name, before, valuesPerKey, x.Len(),
						got-committed)
				}
				checkIndex(x)
			}
		}
	}
}

func TestIndicesWithFailingCalls(t *testing.T) {
	longtest.OneGoroutine(t)
	scale := vm.PageSize() / (4 << 10)
	o := Options{Capacity: 3000 * scale, Pages: vm.PagesSmall}
	for _, make := range []func() (Index[uint64, uint32], error){
		func() (Index[uint64, uint32], error) { return NewHashIndex[uint64, uint32](o) },
		func() (Index[uint64, uint32], error) { return NewOrderedIndex[uint64, uint32](o) },
	} {
		calls := faulttest.EachCall(t, func() (err error) {
			x, err := make()
			if err != nil {
				return err
			}
			n := 0
			defer func() {
				if x.Len() != n {
					t.Errorf("%d pairs, want %d", x.Len(), n)
				}
				for i := range n {
					if !x.Has(uint64(i%170), uint32(i)) {
						t.Errorf("pair %d of %d is lost", i, n)
					}
				}
				checkIndex(x)
				if x.Close() != nil {
					if err := x.Close(); err != nil {
						t.Errorf("the second Close: %v", err)
					}
				}
			}()
			add := func() error {
				if e := exhausted(func() { x.Add(uint64(n%170), uint32(n)) }); e != nil {
					return e
				}
				n++
				return nil
			}
			for n < 2000*scale && err == nil {
				err = add()
			}
			if err == nil {
				err = x.Grow(1000)
			}
			for n > 100 {
				n--
				x.Remove(uint64(n%170), uint32(n))
			}
			trimmed := x.Trim()
			for n < 1000 && err == nil {
				err = add()
			}
			n = 0
			x.Clear()
			return cmp.Or(err, trimmed)
		})
		if calls < 10 {
			t.Errorf("only %d calls were made to fail, want at least 10", calls)
		}
	}
}

func TestIndexMisuse(t *testing.T) {
	h := newHashIndex[uint64, uint32](t, Options{Capacity: 100, Name: "hash"})
	o := newOrderedIndex[uint64, uint32](t, Options{Capacity: 100, Name: "ordered"})
	for i := range uint64(30) {
		h.Add(i/20, uint32(i))
		o.Add(i/20, uint32(i))
	}
	inLoop := func(x Index[uint64, uint32], seq iter.Seq2[uint64, uint32]) func() {
		return func() {
			for k, v := range seq {
				x.Remove(k, v)
			}
		}
	}
	keys := func(x Index[uint64, uint32], k uint64) iter.Seq2[uint64, uint32] {
		return func(yield func(uint64, uint32) bool) {
			x.Values(k)(func(v uint32) bool { return yield(k, v) })
		}
	}
	for want, f := range map[string]func(){
		"NewHashIndex[string]: string is a string": func() {
			_, _ = NewHashIndex[string, uint32](Options{})
		},
		"NewOrderedIndex[string]: string is a string": func() {
			_, _ = NewOrderedIndex[string, uint32](Options{})
		},
		"NewHashIndex[uint64,uint16]: a value is 2 bytes": func() {
			_, _ = NewHashIndex[uint64, uint16](Options{})
		},
		"NewOrderedIndex[uint64,padded]: a value is 12": func() {
			_, _ = NewOrderedIndex[uint64, padded](Options{})
		},
		"NewHashIndex[struct {},uint32]: keys without a size are all": func() {
			_, _ = NewHashIndex[struct{}, uint32](Options{})
		},
		"NewHashIndex[uint64,uint32]: Options.Capacity is -1 and": func() {
			_, _ = NewHashIndex[uint64, uint32](Options{Capacity: -1})
		},
		"Grow(-1) on hash: a number of pairs is zero or more":              func() { _ = h.Grow(-1) },
		"Grow(-1) on ordered: a number of pairs is zero or more":           func() { _ = o.Grow(-1) },
		"hash was changed in the body of a loop over Values: note what":    inLoop(h, keys(h, 0)),
		"hash was changed in the body of a loop over All: note what":       inLoop(h, h.All()),
		"ordered was changed in the body of a loop over Values: note what": inLoop(o, keys(o, 0)),
		"ordered was changed in the body of a loop over All: note what":    inLoop(o, o.All()),
		"ordered was changed in the body of a loop over Descend: note":     inLoop(o, o.Descend()),
		"ordered was changed in the body of a loop over Range: note what":  inLoop(o, o.Range(0, 5)),
		"ordered was changed in the body of a loop over From: note what":   inLoop(o, o.From(0)),
		"ordered was changed in the body of a loop over Runs: note what": func() {
			for range o.Runs(0, 5) {
				o.Add(9, 9)
			}
		},
	} {
		if got := modeltest.PanicText(f); !strings.Contains(got, want) {
			t.Errorf("panic %q, want %q", got, want)
		}
	}
	for _, o := range []Options{{Capacity: math.MaxInt}, {Capacity: math.MaxInt / 16}} {
		_, errHash := NewHashIndex[uint64, uint32](o)
		_, errOrdered := NewOrderedIndex[uint64, uint32](o)
		if !errors.Is(errHash, vm.ErrSize) || !errors.Is(errOrdered, vm.ErrSize) {
			t.Errorf("capacity %d: %v, %v", o.Capacity, errHash, errOrdered)
		}
	}
	for name, x := range indices(t, Options{MaxBytes: 120}) {
		if err := x.Grow(math.MaxInt); !errors.Is(err, vm.ErrLimit) {
			t.Errorf("%s: %v", name, err)
		}
		for i := range uint32(10) {
			x.Add(5, i)
		}
		if e := exhausted(func() { x.Add(5, 10) }); !errors.Is(e, vm.ErrLimit) || x.Add(5, 9) ||
			x.Len() != 10 {
			t.Errorf("%s: beyond the budget: %v", name, e)
		}
	}
}

func TestClosedIndices(t *testing.T) {
	for name, x := range indices(t, Options{Capacity: 100}) {
		x.Add(1, 2)
		for range 2 {
			if x.Close() != nil || x.Len() != 0 {
				t.Errorf("%s: Close fails", name)
			}
		}
		for call, f := range map[string]func(){
			"Add":       func() { x.Add(1, 2) },
			"Remove":    func() { x.Remove(1, 2) },
			"RemoveAll": func() { x.RemoveAll(1) },
			"First":     func() { x.First(1) },
			"Values":    func() { x.Values(1)(func(uint32) bool { return true }) },
			"Contains":  func() { x.Contains(1) },
			"Has":       func() { x.Has(1, 2) },
			"Count":     func() { x.Count(1) },
			"Grow":      func() { _ = x.Grow(1) },
			"Trim":      func() { _ = x.Trim() },
			"Clear":     func() { x.Clear() },
		} {
			if got := modeltest.PanicText(f); !strings.Contains(got, name+" is used after Close") {
				t.Errorf("%s of a closed index: panic %q", call, got)
			}
		}
	}
}

// TestCallsWithoutEffectInLoops makes calls that change nothing in the bodies of loops over an index.
func TestCallsWithoutEffectInLoops(t *testing.T) {
	h, err := NewHashIndex[int, int](Options{Capacity: 100})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	o, err := NewOrderedIndex[int, int](Options{Capacity: 100})
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	for _, x := range []interface {
		Add(int, int) bool
		Remove(int, int) bool
		RemoveAll(int) int
		All() iter.Seq2[int, int]
	}{h, o} {
		for i := range 10 {
			x.Add(i, i)
		}
		n := 0
		for k, v := range x.All() {
			if x.Add(k, v) || x.Remove(k, v+1) || x.RemoveAll(k+100) != 0 {
				t.Errorf("%T: a call has changed the index", x)
			}
			n++
		}
		if n != 10 {
			t.Errorf("%T: the loop gave %d pairs, want 10", x, n)
		}
	}
}
