package bulk

import (
	"errors"
	"slices"
	"testing"

	"github.com/vastgo/vast/internal/modeltest"
	"github.com/vastgo/vast/vm"
)

// record is 40 bytes, so that some elements lie across two pages.
type record [5]uint64

func numbered(i int) record { return record{uint64(i), uint64(i) * 3, ^uint64(i), 7, uint64(i) << 32} }

// large is larger than a page of 4 KiB.
type large [700]uint64

func numberedLarge(i int) large { return large{0: uint64(i), 350: uint64(i), 699: ^uint64(i)} }

func numberedByte(i int) uint8 { return uint8(i*7 + i>>8) }

// pageKinds are the page policies to test. On the heap stand-in, all policies are alike, so two suffice.
var pageKinds = func() []vm.Pages {
	if vm.HeapStandIn() {
		return []vm.Pages{vm.PagesAuto, vm.PagesHeap}
	}
	return []vm.Pages{vm.PagesAuto, vm.PagesSmall, vm.PagesHuge, vm.PagesHeap}
}()

// exhausted calls f and returns the *vm.Error that f panics with, or nil if f returns.
func exhausted(f func()) (e *vm.Error) {
	defer func() {
		if r := recover(); r != nil {
			var ok bool
			if e, ok = r.(*vm.Error); !ok {
				panic(r)
			}
		}
	}()
	f()
	return nil
}

const arrayCapacity = 3000

type anyArray[T any] interface {
	Append(v T) *T
	AppendN(n int) ([]T, error)
	Grow(n int) error
	At(i int) *T
	Slice() []T
	Len() int
}

func playArray[T comparable](t *testing.T, o Options, data []byte, element func(int) T) {
	o.Capacity = arrayCapacity
	a, err := NewArray[T](o)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	playAnyArray(t, a, a.Truncate, data, element)
}

// playAnyArray applies the operations in data to an empty array and to a slice, and compares them. truncate
// is nil for an array without Truncate.
func playAnyArray[T comparable](t *testing.T, a anyArray[T], truncate func(n int), data []byte,
	element func(int) T) {
	const capacity = arrayCapacity
	var zero T
	var m []T
	number := 0
	first := (*T)(nil)
	for in := modeltest.NewStream(data); in.More(); number++ {
		switch in.Byte() % 6 {
		case 0:
			e := exhausted(func() {
				p := a.Append(element(number))
				if *p != element(number) || p != a.At(len(m)) {
					t.Fatalf("Append did not return element %d, or the element is wrong", len(m))
				}
			})
			if len(m) == capacity {
				if e == nil || !errors.Is(e, vm.ErrCapacity) {
					t.Fatalf("Append to a full array: %v", e)
				}
			} else if e != nil {
				t.Fatal(e)
			} else {
				m = append(m, element(number))
			}
		case 1:
			n := in.Below(1000)
			added, err := a.AppendN(n)
			if len(m)+n > capacity {
				if added != nil || !errors.Is(err, vm.ErrCapacity) {
					t.Fatalf("AppendN(%d) with %d of %d elements in use returns %d elements and the error %v",
						n, len(m), capacity, len(added), err)
				}
				break
			}
			if err != nil || len(added) != n || cap(added) != n {
				t.Fatalf("AppendN(%d) returned a slice of length %d and capacity %d: %v", n, len(added),
					cap(added), err)
			}
			for i := range added {
				if added[i] != zero {
					t.Fatalf("AppendN(%d): element %d is not zero", n, i)
				}
				added[i] = element(number + i)
				m = append(m, element(number+i))
			}
		case 2:
			if n := in.Below(len(m) + 1); truncate != nil {
				truncate(n)
				m = m[:n]
			}
		case 3:
			n := in.Below(2 * capacity)
			if err := a.Grow(n); (err == nil) != (len(m)+n <= capacity) {
				t.Fatalf("Grow(%d) with %d of %d elements in use: %v", n, len(m), capacity, err)
			}
		case 4:
			if len(m) > 0 {
				i := in.Below(len(m))
				*a.At(i) = element(^number)
				m[i] = element(^number)
			}
		case 5:
			i := in.Below(2 * capacity)
			if text := modeltest.PanicText(func() { a.At(i) }); (text == "") != (i < len(m)) {
				t.Fatalf("At(%d) in an array of %d elements panics with %q", i, len(m), text)
			}
		}
		if a.Len() != len(m) {
			t.Fatalf("Len() = %d, want %d", a.Len(), len(m))
		}
		if len(m) > 0 {
			if first == nil {
				first = a.At(0)
			}
			if a.At(0) != first || *a.At(len(m) - 1) != m[len(m)-1] {
				t.Fatalf("the first element moved, or the last of %d elements is wrong", len(m))
			}
		}
	}
	if !slices.Equal(a.Slice(), m) {
		t.Fatal("Slice() differs from the model")
	}
}
