package kernel

import (
	"strings"
	"testing"
	"unsafe"
)

type meters float32

type mixed struct {
	At   struct{ X, Y meters }
	Size [2]struct{ Mass int32 }
}

func TestViewSharesMemory(t *testing.T) {
	s := []struct {
		At   [2]meters
		Z, _ float32
	}{{Z: 1}, {Z: 2}, {Z: 3}}
	numbers := NewView[struct {
		At   [2]meters
		Z, _ float32
	}, float32]().Slice(s[1:])
	if len(numbers) != 8 || cap(numbers) != 8 {
		t.Fatalf("length %d, capacity %d, want 8 and 8", len(numbers), cap(numbers))
	}
	if unsafe.Pointer(&numbers[0]) != unsafe.Pointer(&s[1]) || numbers[2] != 2 || numbers[6] != 3 {
		t.Fatal("the numbers are not those of the elements:", numbers)
	}
	numbers[5] = 7
	if s[2].At != [2]meters{0, 7} {
		t.Error("the second element has", s[2])
	}
}

func TestViewOfNothing(t *testing.T) {
	v := NewView[[3]int64, int64]()
	if n := v.Slice(nil); n != nil {
		t.Error("numbers of nil:", n)
	}
	if n := v.Slice([][3]int64{}); len(n) != 0 {
		t.Error("numbers of an empty slice:", n)
	}
	if n := NewView[int64, int64]().Slice([]int64{4}); len(n) != 1 || n[0] != 4 {
		t.Error("numbers of a slice of numbers:", n)
	}
}

func TestViewRefusals(t *testing.T) {
	for _, c := range []struct {
		make func()
		want string
	}{
		{func() { NewView[mixed, float32]() },
			"kernel: NewView[mixed, float32]: mixed.Size[].Mass has the type int32: view a type that " +
				"consists of float32 only"},
		{func() { NewView[meters, float64]() }, "[meters, float64]: meters has the type kernel.meters"},
		{func() { NewView[struct{}, int32]() }, "struct {} has no size"},
		{func() {
			NewView[struct {
				X float64
				_ [0]func()
			}, float64]()
		}, "._ has no size"},
		{func() { NewView[[2]uint32, int32]() }, "[2]uint32[] has the type uint32"},
		{func() { NewView[[]float32, float32]() }, "[]float32 has the type []float32"},
		{func() { NewView[complex64, float32]() }, "complex64 has the type complex64"},
		{func() { (View[[2]int32, int32]{}).Slice(make([][2]int32, 1)) }, "make the view with NewView"},
	} {
		func() {
			defer func() {
				if text, _ := recover().(string); !strings.Contains(text, c.want) {
					t.Errorf("panic %q, want %q", text, c.want)
				}
			}()
			c.make()
		}()
	}
}

func TestNothingAllocates(t *testing.T) {
	s, v := make([][3]float32, 100), NewView[[3]float32, float32]()
	if n := testing.AllocsPerRun(100, func() {
		AddScaled(v.Slice(s), v.Slice(s), v.Slice(s), 0.5)
		Min(v.Slice(s), v.Slice(s), v.Slice(s))
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
