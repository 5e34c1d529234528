package heap

import (
	"errors"
	"math"
	"strings"
	"testing"
	"unsafe"

	"github.com/vastgo/vast/internal/modeltest"
	"github.com/vastgo/vast/vm"
)

type ship struct {
	Position [3]float64
	Crew     uint8
}

func TestTyped(t *testing.T) {
	h := open(t, Options{Name: "ships"})
	s, err := Alloc[ship](h)
	if err != nil || *s != (ship{}) {
		t.Fatal(s, err)
	}
	s.Position[2] = 4
	names := MakeSlice[uint16](h, 3, 10)
	if len(names) != 3 || cap(names) != 10 {
		t.Fatalf("length %d, capacity %d", len(names), cap(names))
	}
	first := &names[0]
	names = append(names, 7)
	if &names[0] != first || h.Stats().Allocations != 2 {
		t.Error("appending within the capacity moved the slice")
	}
	names, err = Resize(h, names, 5000)
	if err != nil || len(names) != 4 || cap(names) != 5000 || names[3] != 7 {
		t.Fatal(len(names), cap(names), err)
	}
	mustBeZero(t, unsafe.Pointer(&names[0]), 8, 10000)
	if names, err = Resize(h, names, 2); err != nil || len(names) != 2 || cap(names) != 2 {
		t.Fatal(len(names), cap(names), err)
	}
	if names, err = Resize(h, names, 0); err != nil || names != nil || h.Stats().Allocations != 1 {
		t.Fatal(names, err)
	}
	if names, err = Resize(h, names, 3); err != nil || cap(names) != 3 || len(names) != 0 {
		t.Fatal(len(names), cap(names), err)
	}
	FreeSlice(h, names)
	Free(h, s)
	FreeSlice[int](h, nil)
	Free[int](h, nil)
	if none := MakeSlice[int](h, 0, 0); none != nil {
		t.Error("a slice without capacity is not nil")
	}
	if p := Make[struct{}](h); p == nil {
		t.Error("the pointer to a value without size is nil")
	}
	for _, capacity := range []int{math.MaxInt, math.MaxInt/8 + 1} {
		if _, err := AllocSlice[int64](h, 0, capacity); !errors.Is(err, vm.ErrSize) {
			t.Errorf("AllocSlice(%d): %v", capacity, err)
		}
		if _, err := Resize[int64](h, nil, capacity); !errors.Is(err, vm.ErrSize) {
			t.Errorf("Resize(%d): %v", capacity, err)
		}
	}
	var e *vm.Error
	func() {
		defer func() { e, _ = recover().(*vm.Error) }()
		MakeSlice[int64](h, 0, 1<<27)
	}()
	if e == nil || !errors.Is(e, vm.ErrCapacity) {
		t.Errorf("MakeSlice panics with %v", e)
	}
}

func TestTypedMisuse(t *testing.T) {
	h := open(t, Options{Name: "ships"})
	for says, use := range map[string]func(){
		"heap: Alloc[string]: string is a string": func() { Make[string](h) },
		"heap: AllocSlice[": func() {
			MakeSlice[struct{ Crew []*ship }](h, 1, 1)
		},
		".Crew is a slice": func() {
			MakeSlice[struct{ Crew []*ship }](h, 1, 1)
		},
		"heap: Resize[func()]": func() {
			_, _ = Resize[func()](h, nil, 1)
		},
		"heap: Grow[error]": func() {
			_ = Grow[error](h, 1)
		},
		"heap: Grow[int64](-1) of 8 bytes each on ships": func() {
			_ = Grow[int64](h, -1)
		},
		"a number is zero or more, and the size at most": func() {
			_ = Grow[[1 << 20]byte](h, 1)
		},
		"heap: AllocSlice[int](2, 1) on ships: a length is from zero": func() {
			MakeSlice[int](h, 2, 1)
		},
		"heap: AllocSlice[int](-1, 1) on ships: a length is from zero": func() {
			MakeSlice[int](h, -1, 1)
		},
		"heap: Resize[int](0, -1) on ships": func() {
			_, _ = Resize[int](h, nil, -1)
		},
		"heap: AllocSlice[struct {}] on ships: the elements have no size: cou": func() {
			MakeSlice[struct{}](h, 1, 1)
		},
	} {
		for range 2 { // the second round uses cached types
			if text := modeltest.PanicText(use); !strings.Contains(text, says) {
				t.Errorf("panic %q, want %q", text, says)
			}
		}
	}
}
