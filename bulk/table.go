package bulk

import (
	"fmt"

	"github.com/vastgo/vast/internal/invariants"
	"github.com/vastgo/vast/vm"
)

// TableOptions say how a table is made. The zero value works.
type TableOptions struct {
	// Name is the purpose under which [vm.Snapshot] counts the table's bytes. Errors contain it, too.
	// Default: "bulk.Table".
	Name string
	// Layout says how rows lie in memory. Default: LayoutColumns, each field in an array of its own.
	Layout Layout
	// PageAligned makes each column begin at a page. By default, [LayoutColumns] avoids this: the values of
	// one row in many columns would compete for the same few cache sets. The option exists to measure the
	// effect.
	PageAligned bool
	// Capacity is the largest number of rows. Addresses for all these rows are reserved. They take memory
	// only if regions are Go heap memory ([vm.PagesHeap] or [vm.HeapStandIn]).
	// Default: as many as MaxBytes allows. Without MaxBytes: as many as fill 16 GiB of addresses, or 16 MiB
	// of Go heap memory.
	Capacity int
	// MaxBytes is a budget in bytes of rows. Exceeding it is an error wrapping [vm.ErrLimit]. Default: none.
	MaxBytes int
	// Limit is a budget of committed memory, shared with other containers. Default: [vm.DefaultLimit].
	Limit *vm.Limit
	// Pages is the page policy. Default: huge pages as soon as a column, or all blocks together, fill a huge
	// page.
	Pages vm.Pages
	// Step is how many bytes of rows are committed at a time, rounded up to whole pages in each column.
	// Default: an eighth of the committed memory, and at least 64 KiB.
	Step int
}

// Table holds rows of typed fields for number crunching. Work that touches few fields loads only these
// fields, and vector code finds many values of one field side by side. The layout is an option; the code that
// uses the table stays the same.
//
// Rows have numbers from 0 to Len-1. RemoveSwap moves the last row into the place of the removed row. To
// refer to a row that may move, keep the row's number in an element of a [Pool], and the handle of that
// element in a field of the row. For most data a Pool is simpler. See also [Transpose], which makes temporary
// columns.
//
// Padding rows fill up the last block; with [LayoutColumns], the last group of 16 rows. Padding rows and
// new rows hold each field's safe value, so that vector code can calculate with whole groups. Safe values are
// neither NaN nor denormal. See [Field.Safe] and [Table.PaddedBlocks].
//
// While a goroutine changes a table, no other goroutine may use it. At other times, any number of goroutines
// may use the table's fields, blocks and Len.
//
// The method is from Niklas Gray, "Data Structures Part 1: Bulk Data" (Our Machinery, 2019).
type Table struct {
	len   int // number of rows
	ready int // rows [len, ready) have memory and hold safe values
	// Rows [ready, written) may hold any values. Later rows are zero, because memory from the operating
	// system is zero; they need no filling if all safe values are zero.
	written  int
	room     int  // number of rows with memory, a multiple of group
	perBlock int  // number of rows in a full block
	allZero  bool // all safe values are zero
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
// by default. If there is no room, Append panics with the [*vm.Error] that [Table.Grow] would return, and the
// table is unchanged.
//
// Complexity: constant. The first row of a block, or of a group of 16 rows, may take longer, because Append
// then writes the safe values of the whole block or group.
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
	t.truncate(0)
}

// Truncate removes all rows except the first n, and gives memory back. It panics when n is not in [0, Len].
// The table keeps the memory of the n rows, and 64 KiB for later rows. The kept memory is rounded up to whole
// pages, in each column or for all blocks together; if it fills a huge page, it is rounded up to whole huge
// pages.
//
// Complexity: one step for each value of the padding. If memory is given back: at most a few system calls
// for each column, or for all blocks together.
func (t *Table) Truncate(n int) {
	t.mustBeOpen()
	if uint(n) > uint(t.len) {
		panic(fmt.Sprintf("bulk: Truncate(%d) on %s of length %d", n, t.plan.name, t.len))
	}
	t.truncate(n)
	t.giveBack()
}

// truncate removes the rows from n on, and writes safe values to the padding.
func (t *Table) truncate(n int) {
	end := t.padded(n)
	t.markWritten(t.padded(t.len))
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
	// With lengths of zero, the fast paths of the methods fail and reach the test for Close.
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

// rowError is the panic of a call with a row number that is not in [0, Len).
type rowError struct {
	op    string
	row   int
	table *Table
}

// Error names the method, the row and the number of rows, or says that the table is closed.
func (e *rowError) Error() string {
	if e.table.ended != nil {
		return e.table.ended.Error()
	}
	return fmt.Sprintf("bulk: %s(%d) on %s of length %d", e.op, e.row, e.table.plan.name, e.table.len)
}
