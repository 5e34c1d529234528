package bulk

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/vastgo/vast/internal/modeltest"
)

// body has fields of different sizes.
type body struct {
	alive    uint8
	position [3]float32
	mass     float64
	velocity [3]float32
	number   int
}

func numberedBody(i int) body {
	return body{1, [3]float32{float32(i), 1, 2}, float64(i) + 1, [3]float32{1, float32(-i), 3}, i}
}

type bodyColumns struct {
	*Transpose[body]
	x, vx *Temporary[float32]
	mass  *Temporary[float64]
}

func newBodyColumns(scratch int) bodyColumns {
	t := NewTranspose[body](TransposeOptions{Scratch: scratch})
	return bodyColumns{t,
		ColumnOf(t, func(b *body) *float32 { return &b.position[0] }),
		InputOf(t, func(b *body) *float32 { return &b.velocity[0] }),
		ColumnOf(t, func(b *body) *float64 { return &b.mass }).Safe(-1),
	}
}

// stepBody makes the same calculation on one element as bodyColumns.step on columns.
func stepBody(b *body) {
	b.position[0] += b.velocity[0] * 2
	b.mass *= 3
}

func (c bodyColumns) step() {
	x, vx, mass := c.x.Slice(), c.vx.Slice(), c.mass.Slice()
	for i := range x {
		x[i] += vx[i] * 2
		mass[i] *= 3
		vx[i] = float32(math.NaN()) // must not be written back
	}
}

func TestTransposeSlice(t *testing.T) {
	for _, scratch := range []int{1, 2048, 0, 100_000} {
		c := newBodyColumns(scratch)
		for _, n := range []int{0, 1, 15, 16, 63, 64, 65, 1000, 5000} {
			s, want := make([]body, n), make([]body, n)
			for i := range s {
				s[i] = numberedBody(i)
				want[i] = s[i]
				stepBody(&want[i])
			}
			rows := 0
			for block := range c.Transpose.Slice(s) {
				if len(c.x.Slice()) != block || len(c.mass.Slice()) != block || c.Index(0) != rows ||
					c.Index(block-1) != rows+block-1 {
					t.Fatalf("a block of %d rows has slices of %d, from element %d on", block,
						len(c.x.Slice()), c.Index(0))
				}
				padded := c.mass.Padded()
				if len(padded) != roundUp(block, 16) || len(c.x.Padded()) != len(padded) {
					t.Fatalf("%d rows are padded to %d", block, len(padded))
				}
				for i := block; i < len(padded); i++ {
					if padded[i] != -1 || math.Float32bits(c.x.Padded()[i]) != 0 {
						t.Fatalf("row %d of the padding holds %v and %v", i, padded[i], c.x.Padded()[i])
					}
					padded[i] = math.NaN()
				}
				if p := uintptr(unsafe.Pointer(&padded[0])); p%64 != 0 ||
					uintptr(unsafe.Pointer(&c.x.Slice()[0]))%64 != 0 {
					t.Fatalf("columns begin at %#x and %p", p, &c.x.Slice()[0])
				}
				if block*(4+4+8) > max(scratch, 64*16) && scratch > 0 {
					t.Fatalf("%d rows do not fit into %d bytes", block, scratch)
				}
				rows += block
				c.step()
			}
			if rows != n || !slices.Equal(s, want) {
				t.Fatalf("scratch %d: the blocks have %d of %d rows; the elements are right: %t", scratch,
					rows, n, slices.Equal(s, want))
			}
			if len(c.x.Slice()) != 0 {
				t.Fatal("a column has rows after the iteration")
			}
		}
	}
}

func TestTransposePool(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for _, scratch := range []int{1, 0, 50_000} {
		c := newBodyColumns(scratch)
		for _, keep := range []float64{0, 0.001, 0.1, 0.5, 0.98, 0.9999, 1} {
			p := newPool[body](t, Options{Capacity: 20_000})
			n := r.IntN(9000) + 100
			want := make(map[Handle[body]]body)
			var gone []uint
			for i := range n {
				h, b := p.Insert(numberedBody(i))
				want[h] = *b
			}
			for h := range want {
				if r.Float64() >= keep {
					p.Remove(h)
					delete(want, h)
					gone = append(gone, uint(h.Slot()))
				}
			}
			holes := make(map[uint]body)
			for _, slot := range gone {
				holes[slot] = *p.slot(slot)
			}
			seen := 0
			for rows := range c.Pool(p) {
				x, mass := c.x.Slice(), c.mass.Slice()
				if len(x) != rows || rows%64 != 0 || len(c.x.Padded()) != rows {
					t.Fatalf("a block of %d rows has a slice of %d values", rows, len(x))
				}
				for i := range x {
					h := c.HandleAt(i)
					if h.IsZero() {
						if c.Index(i) != -1 || math.Float32bits(x[i]) != 0 || mass[i] != -1 {
							t.Fatalf("a hole, row %d, has index %d, %v and %v", i, c.Index(i), x[i], mass[i])
						}
						continue
					}
					b, ok := want[h]
					if !ok || int(h.Slot()) != c.Index(i) || x[i] != b.position[0] || mass[i] != b.mass {
						t.Fatalf("row %d stands for %v, slot %d, with %v, want %v", i, h, c.Index(i), x[i], b)
					}
					seen++
				}
				c.step()
			}
			if seen != len(want) {
				t.Fatalf("the blocks have %d of %d elements", seen, len(want))
			}
			for h, b := range want {
				stepBody(&b)
				if *p.Get(h) != b {
					t.Fatalf("element %v is %v, want %v", h, *p.Get(h), b)
				}
			}
			for slot, b := range holes {
				if got := *p.slot(slot); string(bytesOf(&got)) != string(bytesOf(&b)) {
					t.Fatalf("hole %d was written", slot)
				}
			}
			p.Close()
		}
	}
}

func TestTransposeRemoves(t *testing.T) {
	p := newPool[body](t, Options{Capacity: 10_000})
	for i := range 1000 {
		p.Insert(numberedBody(i))
	}
	c := newBodyColumns(0)
	for rows := range c.Pool(p) {
		x := c.x.Slice()
		for i := range rows {
			h := c.HandleAt(i)
			x[i]++
			if i%3 == 0 {
				if p.Remove(h) == h.IsZero() {
					t.Fatalf("Remove for row %d with handle %v returns the wrong result", i, h)
				}
			}
		}
	}
	left := 0
	for _, b := range p.All() {
		if b.number%3 == 0 || b.position[0] != float32(b.number)+1 {
			t.Fatalf("element %d is at %v", b.number, b.position[0])
		}
		left++
	}
	if left != p.Len() || left != 666 {
		t.Fatalf("%d elements are left, Len() is %d", left, p.Len())
	}
	s := make([]body, 3000)
	blocks := 0
	for range c.Transpose.Slice(s) {
		c.mass.Slice()[0] = 5
		if blocks++; blocks == 2 {
			break
		}
	}
	written := 0
	for i := range s {
		if s[i].mass == 5 {
			written++
		}
	}
	if written != 2 || len(c.x.Slice()) != 0 {
		t.Fatalf("%d of 2 blocks were written back", written)
	}
}

// TestTransposeWithGoPointers uses a slice, because elements of pools cannot hold Go pointers.
func TestTransposeWithGoPointers(t *testing.T) {
	type named struct {
		name string
		age  int32
		next *int32
	}
	s := make([]named, 200)
	for i := range s {
		s[i] = named{fmt.Sprint("n", i), int32(i), new(int32)}
	}
	c := NewTranspose[named](TransposeOptions{})
	age := ColumnOf(c, func(n *named) *int32 { return &n.age })
	for range c.Slice(s) {
		for i := range age.Slice() {
			age.Slice()[i] *= 2
		}
	}
	for i := range s {
		if s[i].name != fmt.Sprint("n", i) || s[i].age != int32(2*i) || s[i].next == nil {
			t.Fatalf("element %d is %v", i, s[i])
		}
	}
	if text := modeltest.PanicText(func() {
		ColumnOf(c,
			func(n *named) *int32 { return n.next })
	}); !strings.Contains(text,
		"must return the address of a field") {
		t.Errorf("a pointer in the element: %q", text)
	}
}

func TestTransposeAllocatesNothing(t *testing.T) {
	p := newPool[body](t, Options{Capacity: 50_000})
	for i := range 40_000 {
		if h, _ := p.Insert(numberedBody(i)); i%7 == 0 {
			p.Remove(h)
		}
	}
	c := newBodyColumns(0)
	pass := func() {
		for range c.Pool(p) {
			c.step()
		}
	}
	pass()
	if n := testing.AllocsPerRun(5, pass); n != 0 {
		t.Errorf("%v allocations in an iteration over a pool", n)
	}
}

func TestTransposeMisuse(t *testing.T) {
	other, elsewhere := newBodyColumns(0), new(float32)
	s := make([]body, 100)
	closed := newPool[body](t, Options{Capacity: 100})
	closed.Insert(body{})
	live := newPool[body](t, Options{Capacity: 100})
	live.Insert(body{})
	for _, c := range []struct {
		name, want string
		f          func()
	}{
		{"negative", "Scratch is -1: leave it zero",
			func() { NewTranspose[body](TransposeOptions{Scratch: -1}) }},
		{"no columns", "name the fields with ColumnOf", func() {
			for range NewTranspose[body](TransposeOptions{}).Slice(s) {
			}
		}},
		{"outside", "must return the address of a field", func() {
			ColumnOf(NewTranspose[body](TransposeOptions{}), func(*body) *float32 { return elsewhere })
		}},
		{"nil", "must return the address of a field", func() {
			ColumnOf(NewTranspose[body](TransposeOptions{}), func(*body) *float32 { return nil })
		}},
		{"twice", "name each part once", func() {
			c := newBodyColumns(0)
			ColumnOf(c.Transpose, func(b *body) *[3]float32 { return &b.position })
		}},
		{"no size", "the field has no size", func() {
			type empty struct{ e struct{} }
			ColumnOf(NewTranspose[empty](TransposeOptions{}), func(v *empty) *struct{} { return &v.e })
		}},
		{"pointers", "is a string", func() {
			type named struct{ s string }
			ColumnOf(NewTranspose[named](TransposeOptions{}), func(v *named) *string { return &v.s })
		}},
		{"safe", "the value is not a number", func() { newBodyColumns(0).x.Safe(float32(math.NaN())) }},
		{"inside itself", "inside its own iteration", func() {
			for range other.Transpose.Slice(s) {
				for range other.Transpose.Slice(s) {
				}
			}
		}},
		{"named inside", "name all fields before", func() {
			c := newBodyColumns(0)
			for range c.Transpose.Slice(s) {
				InputOf(c.Transpose, func(b *body) *int { return &b.number })
			}
		}},
		{"row", "row 100 of a block of 100 rows", func() {
			c := newBodyColumns(0)
			for range c.Transpose.Slice(s) {
				c.Index(100)
			}
		}},
		{"closed", "is used after Close", func() {
			closed.Close()
			for range newBodyColumns(0).Pool(closed) {
			}
		}},
		{"closed inside", "is used after Close", func() {
			for range newBodyColumns(0).Pool(live) {
				live.Close()
			}
		}},
	} {
		if got := modeltest.PanicText(c.f); !strings.Contains(got, c.want) {
			t.Errorf("%s: panics with %q, want %q", c.name, got, c.want)
		}
	}
}
