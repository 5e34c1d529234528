package bulk

import (
	"fmt"

	"github.com/vastgo/vast/internal/invariants"
	"github.com/vastgo/vast/vm"
)

// TableOptions say how a table is made. The zero value works.
type TableOptions struct {
	// Name is the purpose under which [vm.Snapshot] counts the table's bytes. Errors name it too.
	// Default: "bulk.Table".
	Name string
	// Layout says how rows lie in memory. Default: LayoutColumns, each field in an array of its own.
	Layout Layout
	// PageAligned puts the beginning of each column at the beginning of a page. LayoutColumns avoids that by
	// default: the values of one row in many columns would compete for the same few cache sets. The option
	// exists to measure the effect.
	PageAligned bool
	// Capacity is the largest number of rows. Addresses for all these rows are reserved, which takes no
	// memory. Default: as many as MaxBytes allows. Without MaxBytes: as many as fill 16 GiB of addresses, or
	// 16 MiB if regions are Go heap memory ([vm.PagesHeap], the race detector, systems without virtual
	// memory).
	Capacity int
	// MaxBytes is a budget in bytes of rows. Exceeding it is an error wrapping [vm.ErrLimit]. Default: none.
	MaxBytes int
	// Limit is a budget of committed memory, shared with other containers. Default: [vm.DefaultLimit].
	Limit *vm.Limit
	// Pages is the page policy. Default: huge pages as soon as a column, or the blocks, fill one.
	Pages vm.Pages
	// Step is how many bytes of rows are committed at a time, rounded up to whole pages in each column.
	// Default: an eighth of the committed memory, and at least 64 KiB.
	Step int
}

// Table is bulk data for number crunching: packed rows whose fields are typed columns. Work that touches few
// fields loads only these fields, and vector code finds many values of one field side by side. The layout is
// an option; the code that uses the table stays the same.
//
// Rows have numbers from 0 to Len-1; RemoveSwap moves the last row into the place of the removed one. To
// refer to rows that move, keep the row's number in an element of a [Pool], and that element's handle in a
// field. For most data a Pool is simpler; see also [Transpose], which makes temporary columns.
//
// The table fills up its last block, or with [LayoutColumns] its last group of 16 rows, with padding. Padding
// and new rows hold each field's safe value, so that vector code may calculate with the whole group: no trap,
// no denormal numbers, and nothing left over from removed rows. See [Field.Safe] and [Table.PaddedBlocks].
//
// One goroutine may change a table at a time, while no other goroutine uses it. While no goroutine changes
// it, any number of goroutines may use its fields, blocks and Len.
//
// The method is from Niklas Gray, "Data Structures Part 1: Bulk Data" (Our Machinery, 2019).
type Table struct {
	len   int // rows
	ready int // rows [len, ready) have memory and hold safe values
	// Rows [ready, written) may hold any values. All later rows are zero, because memory from the operating
	// system is zero. They need no filling if all safe values are zero.
	written  int
	room     int // rows with memory, a multiple of the group
	perBlock int // rows of a block
	allZero  bool
	fields   []*field
	movers   []mover // one for each field
	magic    uint64  // rowLocator.magic of all fields
	plan     plan
	options  TableOptions
	arranged arrangement
	group    int // arranged.group
	region   *vm.Region
	ended    error // the panic after Close
}

// NewTable makes an empty table. It panics when an option is negative or the layout unknown. Add the fields
// with [NewField]. The first row, or Grow, reserves the addresses.
func NewTable(o TableOptions) *Table {
	for _, v := range []struct {
		name  string
		value int
	}{{"Capacity", o.Capacity}, {"MaxBytes", o.MaxBytes}, {"Step", o.Step}} {
		if v.value < 0 {
			panic(fmt.Sprintf("bulk: NewTable: TableOptions.%s is %d: leave it zero for the default", v.name,
				v.value))
		}
	}
	if o.Layout > LayoutBlocksPage {
		panic(fmt.Sprintf("bulk: NewTable: TableOptions.Layout is %d: use one of the Layout constants",
			o.Layout))
	}
	if o.Name == "" {
		o.Name = "bulk.Table"
	}
	return &Table{options: o, plan: plan{name: o.Name}}
}

// Append adds a row at the end and returns its number. The fields of the new row hold their safe values, zero
// by default. If there is no room, it panics with the [*vm.Error] that [Table.Grow] would return, and the
// table is unchanged.
//
// Complexity: constant. The first row of a block, or of a group of 16, may take longer: Append then writes
// the safe values of all rows of the group.
func (t *Table) Append() (row int) {
	row = t.len
	if row == t.ready {
		t.more()
	}
	t.len++
	return
}

// more makes the next row ready, or panics and changes nothing.
//
//go:noinline
func (t *Table) more() {
	if err := t.makeRoom(opAppend, 1); err != nil {
		panic(err)
	}
	t.prepare(t.len + 1)
}

// AppendN adds n rows at the end and returns the number of the first new row. The fields of the new rows hold
// their safe values. It panics when n is negative. It returns an error as [Table.Grow] does; after an error
// the table has no new rows.
func (t *Table) AppendN(n int) (first int, err error) {
	if n < 0 {
		panic(fmt.Sprintf("bulk: AppendN(%d) on %s: a number of rows is zero or more", n, t.plan.name))
	}
	if err := t.makeRoom(opAppendN, n); err != nil {
		return 0, err
	}
	first = t.len
	t.prepare(first + n)
	t.len = first + n
	if invariants.Enabled {
		t.checkInvariants()
	}
	return first, nil
}

// Len returns the number of rows; 0 after Close.
func (t *Table) Len() int { return t.len }

// Clear removes all rows. The memory stays committed for the next rows: Truncate and Close give it back.
// Complexity: constant.
func (t *Table) Clear() {
	t.mustBeOpen()
	t.cut(0)
}

// Truncate keeps the first n rows and gives memory back. It keeps the memory of these rows, and 64 KiB for
// the next rows. The kept memory of each column, or of the blocks, is rounded up to whole pages, or to whole
// huge pages if it fills one. It panics when n is not in [0, Len]. Complexity: one step for each value of the
// padding, and, if memory is given back, two system calls for each column or for the blocks.
func (t *Table) Truncate(n int) {
	t.mustBeOpen()
	if uint(n) > uint(t.len) {
		panic(fmt.Sprintf("bulk: Truncate(%d) on %s of length %d", n, t.plan.name, t.len))
	}
	t.cut(n)
	t.giveBack()
}

// cut keeps the first n rows.
func (t *Table) cut(n int) {
	end := t.padded(n)
	t.lay(t.padded(t.len))
	for _, f := range t.fields {
		f.fill(n, end)
		if invariants.Enabled {
			f.poison(end, t.len)
		}
	}
	t.len = n
	t.ready = min(end, t.plan.capacity)
	if invariants.Enabled {
		t.checkInvariants()
	}
}

// Close gives the memory and the addresses back. The fields must not be used afterwards. The methods of the
// table then panic, except Len and those that count bytes. Closing twice does nothing.
func (t *Table) Close() error {
	if t.ended != nil {
		return nil
	}
	if t.region != nil {
		if err := t.region.Close(); err != nil {
			return err
		}
	}
	// With these lengths of zero, the short paths fail their first test and reach the test for Close.
	t.ended, t.len, t.ready, t.room = &closedError{t.plan.name}, 0, 0, 0
	for _, f := range t.fields {
		f.rowLocator = rowLocator{}
	}
	return nil
}

func (t *Table) mustBeOpen() {
	if t.ended != nil {
		panic(t.ended)
	}
}

// rowError is the panic of a call with the number of a row that the table does not have.
type rowError struct {
	op    string
	row   int
	table *Table
}

// Error gives the row and the number of rows.
func (e *rowError) Error() string {
	if e.table.ended != nil {
		return e.table.ended.Error()
	}
	return fmt.Sprintf("bulk: %s(%d) on %s of length %d", e.op, e.row, e.table.plan.name, e.table.len)
}
