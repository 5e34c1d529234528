package vastsql

import (
	"slices"

	"github.com/vastgo/vast"
)

// index finds the rows of an image by the entity in a column.
type index struct {
	calls int      // number of calls of rowsOf
	keys  []uint64 // slot of the entity << 32 | row, in ascending order; nil before the sort
}

// scansBeforeSort is the number of calls of rowsOf that read the whole column. Sorted keys pay off only for
// more calls.
const scansBeforeSort = 16

// rowsOf finds the rows whose value in a column is the entity id. It appends their numbers to rows, in
// ascending order. The kind of the column must be kindEntity.
func (m *image) rowsOf(column int, id int64, rows []int) []int {
	e := vast.EntityOf(uint64(id))
	if e.IsZero() {
		return rows // a zero entity in a column is NULL, which equals nothing
	}
	f := &m.table.fields[column]
	x := m.indexes[column]
	if x == nil {
		x = &index{}
		if m.indexes == nil {
			m.indexes = map[int]*index{}
		}
		m.indexes[column] = x
	}
	if x.calls++; x.calls <= scansBeforeSort {
		for row := range m.rows {
			if *(*vast.Entity)(m.at(f, row)) == e {
				rows = append(rows, row)
			}
		}
		return rows
	}
	if x.keys == nil {
		x.keys = m.keys(f)
	}
	at, _ := slices.BinarySearch(x.keys, uint64(e.Slot())<<32)
	for ; at < len(x.keys) && uint32(x.keys[at]>>32) == e.Slot(); at++ {
		if row := int(uint32(x.keys[at])); *(*vast.Entity)(m.at(f, row)) == e {
			rows = append(rows, row)
		}
	}
	return rows
}

// keys returns the sorted keys of an index of f.
func (m *image) keys(f *field) []uint64 {
	keys := make([]uint64, m.rows)
	for row := range keys {
		keys[row] = uint64((*vast.Entity)(m.at(f, row)).Slot())<<32 | uint64(row)
	}
	slices.Sort(keys)
	return keys
}
