package bulk

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/vastgo/vast/internal/modeltest"
)

func TestTableMisuse(t *testing.T) {
	type ship struct {
		Hull float32
		Name string
	}
	open := NewTable(TableOptions{Name: "open"})
	x := NewField[float32](open, "x")
	open.Append()
	defer open.Close()
	other := NewTable(TableOptions{Name: "other", Layout: LayoutBlocks8})
	NewField[float32](other, "x")
	if _, err := other.AppendN(20); err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	foreign := slices.Collect(other.Blocks())
	shrunk := NewTable(TableOptions{Name: "shrunk", Layout: LayoutBlocks8})
	defer shrunk.Close()
	z := NewField[float32](shrunk, "z")
	if _, err := shrunk.AppendN(20); err != nil {
		t.Fatal(err)
	}
	old := slices.Collect(shrunk.Blocks())
	shrunk.Truncate(16)
	closed := NewTable(TableOptions{Name: "ships"})
	y := NewField[float32](closed, "y")
	closed.Append()
	last := slices.Collect(closed.Blocks())
	empty := NewTable(TableOptions{Name: "empty"})
	for range 2 {
		if err := closed.Close(); err != nil {
			t.Fatalf("Close: %v", err)
		}
	}
	nan := float32(math.NaN())
	for _, c := range []struct {
		name string
		f    func()
		want string
	}{
		{"capacity", func() { NewTable(TableOptions{Capacity: -1}) },
			"TableOptions.Capacity is -1: leave it zero"},
		{"budget", func() { NewTable(TableOptions{MaxBytes: -1}) }, "TableOptions.MaxBytes is -1"},
		{"step", func() { NewTable(TableOptions{Step: -1}) }, "TableOptions.Step is -1"},
		{"layout", func() { NewTable(TableOptions{Layout: 4}) }, "TableOptions.Layout is 4: use one of"},
		{"string", func() { NewField[ship](empty, "s") }, "bulk: NewField[ship]: ship.Name is a string"},
		{"pointer", func() { NewField[*int](empty, "p") }, "*int is a pointer"},
		{"no size", func() { NewField[struct{}](empty, "n") }, "the values have no size"},
		{"twice", func() { NewField[int](oneField("v"), "v") },
			`NewField[int]("v") on bulk.Table: there is a field of that name`},
		{"late", func() { NewField[int](open, "w") }, "add all fields before the first row"},
		{"no fields", func() { empty.Append() }, "empty has no fields: add some with NewField"},
		{"no fields, Grow", func() { _ = empty.Grow(1) }, "empty has no fields"},
		{"Safe late", func() { x.Safe(1) },
			`Safe(1) for field "x" of open: set safe values before the first row`},
		{"Safe NaN", func() { NewField[float32](oneField("v"), "f").Safe(nan) }, "the value is not a number"},
		{"Safe denormal", func() { NewField[[2]float64](oneField("v"), "f").Safe([2]float64{1, 1e-310}) },
			"the value is denormal"},
		{"At beyond the end", func() { x.At(1) }, "At(1) on open of length 1"},
		{"At before the start", func() { x.At(-1) }, "At(-1) on open"},
		{"At overflow", func() { x.At(math.MinInt) }, "on open of length 1"},
		{"RemoveSwap", func() { open.RemoveSwap(1) }, "RemoveSwap(1) on open of length 1"},
		{"AppendN", func() { _, _ = open.AppendN(-1) }, "AppendN(-1) on open"},
		{"Grow", func() { _ = open.Grow(-1) }, "Grow(-1) on open"},
		{"Truncate longer", func() { open.Truncate(2) }, "Truncate(2) on open of length 1"},
		{"Truncate negative", func() { open.Truncate(-1) }, "Truncate(-1) on open"},
		{"another table's block", func() { x.Slice(foreign[0]) },
			`rows 0 to 7 is used with field "x" of open, but is of another table, other`},
		{"zero block", func() { x.Slice(Block{}) }, "take blocks from Table.Blocks"},
		{"old block", func() { z.Slice(old[2]) },
			"rows 16 to 19 is used with field \"z\" of shrunk, but there are only 16 rows left"},
		{"closed Append", func() { closed.Append() }, "ships is used after Close"},
		{"closed AppendN", func() { _, _ = closed.AppendN(1) }, "ships is used after Close"},
		{"closed At", func() { y.At(0) }, "ships is used after Close"},
		{"closed Slice", func() { y.Slice(last[0]) }, "ships is used after Close"},
		{"closed RemoveSwap", func() { closed.RemoveSwap(0) }, "ships is used after Close"},
		{"closed Grow", func() { _ = closed.Grow(1) }, "ships is used after Close"},
		{"closed Truncate", func() { closed.Truncate(0) }, "ships is used after Close"},
		{"closed Clear", func() { closed.Clear() }, "ships is used after Close"},
		{"closed NewField", func() { NewField[int](closed, "z") }, "ships is used after Close"},
		{"closed Safe", func() { y.Safe(1) }, "ships is used after Close"},
		{"closed Blocks", func() {
			for range closed.Blocks() {
			}
		}, "ships is used after Close"},
		{"closed PaddedBlocks", func() {
			for range closed.PaddedBlocks() {
			}
		}, "ships is used after Close"},
	} {
		if got := modeltest.PanicText(c.f); !strings.Contains(got, c.want) {
			t.Errorf("%s: panic %q, want %q", c.name, got, c.want)
		}
	}
	if n := len(z.Slice(old[1])); n != 8 || open.Len() != 1 || closed.Len() != 0 {
		t.Errorf("a block of kept rows has %d rows, want 8; open has %d, want 1; closed has %d, want 0",
			n, open.Len(), closed.Len())
	}
}

func oneField(name string) *Table {
	t := NewTable(TableOptions{})
	NewField[float32](t, name)
	return t
}

func TestUnsafeNumbers(t *testing.T) {
	type deep struct {
		_ int32
		v [2]struct{ c complex64 }
	}
	bad := deep{}
	bad.v[1].c = complex(0, 0x1p-140)
	for _, c := range []struct {
		is, want string
	}{
		{unsafeNumber(new(float32(0x1p-126))), ""},
		{unsafeNumber(new(float32(0x1p-127))), "denormal"},
		{unsafeNumber(new(float32(-0x1p-149))), "denormal"},
		{unsafeNumber(new(0x1p-127)), ""},
		{unsafeNumber(new(-0x1p-1023)), "denormal"},
		{unsafeNumber(new(math.Inf(-1))), ""},
		{unsafeNumber(new(math.Copysign(0, -1))), ""},
		{unsafeNumber(new(complex(1, math.NaN()))), "not a number"},
		{unsafeNumber(&bad), "denormal"},
		{unsafeNumber(&deep{}), ""},
	} {
		if c.is != c.want {
			t.Errorf("unsafeNumber returns %q, want %q", c.is, c.want)
		}
	}
}
