package bulk

import (
	"bytes"
	"errors"
	"math"
	"testing"
	"unsafe"

	"github.com/vastgo/vast/internal/modeltest"
	"github.com/vastgo/vast/vm"
)

var layouts = []Layout{LayoutColumns, LayoutBlocks8, LayoutBlocks16, LayoutBlocksPage}

// tableRow has fields of different sizes.
type tableRow struct {
	a float32
	b uint8
	c record
	d [3]uint16
	e float64
}

func numberedRow(i int) tableRow {
	return tableRow{float32(i), numberedByte(i), numbered(i), [3]uint16{uint16(i), 7, uint16(^i)},
		-float64(i)}
}

type rowsTable struct {
	*Table
	a *Field[float32]
	b *Field[uint8]
	c *Field[record]
	d *Field[[3]uint16]
	e *Field[float64]
}

// newRowsTable returns a table and the content of a new row. If safes is true, the safe values of two fields
// are not zero.
func newRowsTable(o TableOptions, safes bool) (t rowsTable, fresh tableRow) {
	t.Table = NewTable(o)
	t.a = NewField[float32](t.Table, "a")
	t.b = NewField[uint8](t.Table, "b")
	t.c = NewField[record](t.Table, "c")
	t.d = NewField[[3]uint16](t.Table, "d")
	t.e = NewField[float64](t.Table, "e")
	if safes {
		fresh = tableRow{a: 1, d: [3]uint16{1, 2, 3}}
		t.a.Safe(fresh.a)
		t.d.Safe(fresh.d)
	}
	return t, fresh
}

func (t rowsTable) get(row int) tableRow {
	return tableRow{*t.a.At(row), *t.b.At(row), *t.c.At(row), *t.d.At(row), *t.e.At(row)}
}

func (t rowsTable) set(row int, v tableRow) {
	*t.a.At(row), *t.b.At(row), *t.c.At(row), *t.d.At(row), *t.e.At(row) = v.a, v.b, v.c, v.d, v.e
}

// playRows applies the operations in data to a table and to a slice of rows, and compares the table with the
// slice.
func playRows(t *testing.T, o TableOptions, safes bool, data []byte) {
	const capacity = 1003 // the last block is not full
	o.Capacity = capacity
	tab, fresh := newRowsTable(o, safes)
	defer tab.Close()
	var m []tableRow
	number := 0
	add := func(v tableRow) {
		row := 0
		e := exhausted(func() { row = tab.Append() })
		if len(m) == capacity {
			if e == nil || !errors.Is(e, vm.ErrCapacity) {
				t.Fatalf("Append to a full table: %v", e)
			}
			return
		}
		if e != nil || row != len(m) || tab.get(row) != fresh {
			t.Fatalf("Append made row %d, want row %d; it holds %v: %v", row, len(m), tab.get(row), e)
		}
		tab.set(row, v)
		m = append(m, v)
	}
	for in := modeltest.NewStream(data); in.More(); number++ {
		switch in.Byte() % 10 {
		case 0, 1:
			add(numberedRow(number))
		case 2:
			n := in.Below(700)
			first, err := tab.AppendN(n)
			if len(m)+n > capacity {
				if !errors.Is(err, vm.ErrCapacity) {
					t.Fatalf("AppendN(%d) with %d of %d rows in use: %v", n, len(m), capacity, err)
				}
				break
			}
			if err != nil || first != len(m) {
				t.Fatalf("AppendN(%d) returns row %d, want %d: %v", n, first, len(m), err)
			}
			for i := range n {
				if tab.get(first+i) != fresh {
					t.Fatalf("AppendN(%d): row %d holds %v", n, first+i, tab.get(first+i))
				}
				tab.set(first+i, numberedRow(number+i))
				m = append(m, numberedRow(number+i))
			}
		case 3, 4:
			for range in.Below(30) {
				if len(m) == 0 {
					break
				}
				row, last := in.Below(len(m)), len(m)-1
				if moved := tab.RemoveSwap(row); moved != last {
					t.Fatalf("RemoveSwap(%d) with %d rows moved row %d", row, len(m), moved)
				}
				m[row] = m[last]
				m = m[:last]
			}
		case 5:
			n := in.Below(len(m) + 1)
			if in.Byte()%2 == 0 {
				n = len(m) - min(n, 5) // near the last row
			}
			tab.Truncate(n)
			m = m[:n]
		case 6:
			n := in.Below(2 * capacity)
			if err := tab.Grow(n); (err == nil) != (len(m)+n <= capacity) {
				t.Fatalf("Grow(%d) with %d of %d rows in use: %v", n, len(m), capacity, err)
			}
		case 7:
			i := in.Below(2 * capacity)
			if text := modeltest.PanicText(func() { tab.c.At(i) }); (text == "") != (i < len(m)) {
				t.Fatalf("At(%d) with %d rows: %q", i, len(m), text)
			}
			if i < len(m) {
				tab.set(i, numberedRow(^number))
				m[i] = numberedRow(^number)
			}
		case 8:
			switch in.Byte() % 16 {
			case 0:
				tab.Clear()
				m = m[:0]
			case 1:
				for i := range capacity - len(m) + 1 {
					add(numberedRow(number + i))
				}
			}
		case 9:
			compareTable(t, tab, o.Layout, m, fresh, in.Byte()%2 == 0)
		}
		if tab.Len() != len(m) {
			t.Fatalf("Len() = %d, want %d", tab.Len(), len(m))
		}
		tab.checkInvariants()
	}
	for row := range m {
		if tab.get(row) != m[row] {
			t.Fatalf("row %d of %d holds %v, want %v", row, len(m), tab.get(row), m[row])
		}
	}
	compareTable(t, tab, o.Layout, m, fresh, true)
}

// compareTable compares the rows that Blocks and PaddedBlocks yield with the model m. If spoil is true,
// compareTable writes values to the padding, as the caller of PaddedBlocks may do.
func compareTable(t *testing.T, tab rowsTable, l Layout, m []tableRow, fresh tableRow, spoil bool) {
	compare := func(first int, a []float32, b []uint8, c []record, d [][3]uint16, e []float64) {
		for i := range a {
			want := fresh
			if first+i < len(m) {
				want = m[first+i]
			}
			// Compare the bits, because NaN is not equal to itself, and 0 equals -0.
			if math.Float32bits(a[i]) != math.Float32bits(want.a) || b[i] != want.b || c[i] != want.c ||
				d[i] != want.d ||
				math.Float64bits(e[i]) != math.Float64bits(want.e) {
				t.Fatalf("row %d of %d holds %v %v %v %v %v, want %v", first+i, len(m), a[i], b[i], c[i],
					d[i], e[i], want)
			}
		}
	}
	rows, want := 0, blockRows(l, tab.Table)
	for b := range tab.Blocks() {
		if b.First() != rows || b.Len() != min(want, len(m)-rows) {
			t.Fatalf("%v: a block has rows [%d, %d), want first row %d; the table has %d rows", l, b.First(),
				b.First()+b.Len(), rows, len(m))
		}
		rows += b.Len()
		compare(b.First(), tab.a.Slice(b), tab.b.Slice(b), tab.c.Slice(b), tab.d.Slice(b), tab.e.Slice(b))
		if len(tab.a.Slice(b)) != b.Len() || cap(tab.e.Slice(b)) != b.Len() {
			t.Fatalf("%v: a slice of %d values for %d rows", l, len(tab.a.Slice(b)), b.Len())
		}
	}
	if rows != len(m) {
		t.Fatalf("%v: the blocks hold %d of %d rows", l, rows, len(m))
	}
	rows = 0
	for b := range tab.PaddedBlocks() {
		a, c, e := tab.a.Slice(b), tab.c.Slice(b), tab.e.Slice(b)
		if unit := tab.group; len(a)%unit != 0 || len(a) < b.Len() || len(a) >= b.Len()+unit ||
			b.First() != rows || len(e) != len(a) {
			t.Fatalf("%v: %d values for rows [%d, %d)", l, len(a), b.First(), b.First()+b.Len())
		}
		rows += b.Len()
		compare(b.First(), a, tab.b.Slice(b), c, tab.d.Slice(b), e)
		align := uintptr(64)
		if l == LayoutBlocks8 {
			align = 32
		}
		if p, q := uintptr(unsafe.Pointer(&a[0])), uintptr(unsafe.Pointer(&c[0])); p%align != 0 ||
			q%align != 0 {
			t.Fatalf("%v: values begin at %#x and %#x", l, p, q)
		}
		for i := b.Len(); spoil && i < len(a); i++ {
			a[i], e[i] = float32(math.NaN()), math.SmallestNonzeroFloat64
			copy(bytesOf(&c[i]), bytes.Repeat([]byte{0xFF}, 40))
		}
	}
	if rows != len(m) {
		t.Fatalf("%v: the padded blocks hold %d of %d rows", l, rows, len(m))
	}
}

func blockRows(l Layout, t *Table) int {
	switch l {
	case LayoutBlocks8:
		return 8
	case LayoutBlocks16:
		return 16
	case LayoutBlocksPage:
		return t.group
	}
	return math.MaxInt
}
