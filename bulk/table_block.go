package bulk

import (
	"fmt"
	"iter"
)

// Block is a range of a [Table]'s rows. The values of one field in these rows lie side by side: see
// [Field.Slice]. With [LayoutColumns] the only block is the whole table. A Block is a small value. It is
// valid until rows are removed.
type Block struct {
	// The compiler keeps structs of up to four fields in registers, and larger ones in memory.
	table *Table
	index uintptr // the block's number
	n     int     // number of rows, including the padding of the block
	end   int     // number of the row after the block's last row, without padding
}

// First returns the number of the block's first row.
func (b Block) First() int {
	if b.index == 0 {
		return 0
	}
	return int(b.index) * b.table.group
}

// Len returns the number of the block's rows, without padding.
func (b Block) Len() int { return b.end - b.First() }

// Blocks yields the blocks of the table in ascending order of rows. All blocks except the last are full. The
// loop's body must not remove rows. The loop may miss rows that its body appends.
func (t *Table) Blocks() iter.Seq[Block] {
	return func(yield func(Block) bool) {
		b := Block{table: t}
		for left := t.start(); left > 0; left -= b.n {
			b.n = min(left, t.perBlock)
			b.end += b.n
			if !yield(b) {
				return
			}
			b.index++
		}
	}
}

// PaddedBlocks is [Table.Blocks] with padding rows after the table's last row, so that vector code needs no
// loop for a remainder. With [LayoutColumns] the length of the slices is a multiple of 16; with the other
// layouts every block is full. [Block.Len] does not count padding rows.
//
// PaddedBlocks changes the table: when the iteration begins, it writes each field's safe value to the
// padding. The loop's body may write other values to the padding. It must neither remove nor append rows.
func (t *Table) PaddedBlocks() iter.Seq[Block] {
	return func(yield func(Block) bool) {
		b := Block{table: t}
		for left := t.startPadded(); left > 0; left -= b.n {
			b.n = min(left, t.perBlock)
			b.end = min(b.end+b.n, t.len)
			if !yield(b) {
				return
			}
			b.index++
		}
	}
}

func (t *Table) start() int {
	t.mustBeOpen()
	return t.len
}

// startPadded writes safe values to the padding. It returns the number of rows, including the padding.
//
//go:noinline
func (t *Table) startPadded() int {
	t.mustBeOpen()
	end := t.padded(t.len)
	if t.len < end {
		t.markWritten(end)
		for _, f := range t.fields {
			f.fill(t.len, end)
		}
	}
	return end
}

// blockError is the panic of [Field.Slice] for a zero Block, for a block of another table, and for a block
// whose rows no longer exist, also after Close.
type blockError struct {
	block Block
	field *field
}

// Error says which blocks may be used.
func (e *blockError) Error() string {
	b, t := e.block, e.field.table
	of := fmt.Sprintf("bulk: the block of rows %d to %d is used with field %q of %s",
		b.First(), b.end-1, e.field.name, t.plan.name)
	switch {
	case b.table == nil:
		return of + ", but is a zero Block: take blocks from Table.Blocks"
	case b.table != t:
		return of + ", but is of another table, " + b.table.plan.name + ": take blocks from the field's table"
	case t.ended != nil:
		return t.ended.Error()
	}
	return fmt.Sprintf("%s, but there are only %d rows left: iterate over Blocks again after rows were "+
		"removed", of, t.len)
}
