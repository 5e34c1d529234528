package layout

import (
	"strings"
	"testing"
	"unsafe"
)

type vec struct{ X, Y, Z float32 }

type plain struct {
	Position vec
	Flags    [4]uint8
	Address  uintptr
	Depth    complex128
	Alive    bool
	_        [0]func()
}

type crew struct {
	Age  int
	Name string
}

type ship struct {
	Hull vec
	Crew [3]crew
}

type pair[K, V any] struct {
	Key   K
	Value V
}

type node struct{ Next *node }

type embedding struct {
	vec
	crew
}

func TestCheckAcceptsPlainTypes(t *testing.T) {
	Check[plain]("t")
	Check[[8]vec]("t")
	Check[struct{}]("t")
	Check[uintptr]("t")
	Check[[0]*int]("t")
	Check[pair[int, vec]]("t")
}

// message returns the text of f's panic, or an empty text.
func message(f func()) (s string) {
	defer func() { s, _ = recover().(string) }()
	f()
	return ""
}

func TestCheckNamesThePath(t *testing.T) {
	for _, c := range []struct {
		check func()
		want  string
	}{
		{func() { Check[ship]("bulk: NewPool") }, "bulk: NewPool[ship]: ship.Crew[].Name is a string: "},
		{func() { Check[ship]("vast: NewColumn") }, "vast: NewColumn[ship]: ship.Crew[].Name is a string: "},
		{func() { Check[node]("t") }, "t[node]: node.Next is a pointer: "},
		{func() { Check[string]("t") }, "t[string]: string is a string: "},
		{func() { Check[[2][]int]("t") }, "t[[2][]int]: [2][]int[] is a slice: "},
		{func() { Check[struct{ M map[int]int }]("t") }, ".M is a map: "},
		{func() { Check[struct{ C chan int }]("t") }, ".C is a channel: "},
		{func() { Check[struct{ F func() }]("t") }, ".F is a function: "},
		{func() { Check[struct{ I any }]("t") }, ".I is an interface: "},
		{func() { Check[struct{ P unsafe.Pointer }]("t") }, ".P is an unsafe.Pointer: "},
		{func() { Check[embedding]("t") }, "t[embedding]: embedding.crew.Name is a string: "},
		{func() { Check[pair[int, *vec]]("t") }, ".Value is a pointer: "},
	} {
		for range 2 { // the second check uses the cache
			if got := message(c.check); !strings.Contains(got, c.want) {
				t.Errorf("panic %q, want it to contain %q", got, c.want)
			}
		}
	}
}

func TestSize(t *testing.T) {
	if got := Size[vec](); got != 12 {
		t.Errorf("Size[vec] = %d, want 12", got)
	}
	if got := Size[struct{}](); got != 1 {
		t.Errorf("Size of an empty type = %d, want 1", got)
	}
}
