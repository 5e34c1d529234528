package vastsql

import (
	"slices"

	"github.com/vastgo/vast"
)

// index finds the rows of a copy by the entity in a column.
type index struct {
	calls int      // number of calls of rowsOf
	keys  []uint64 // slot of the entity and number of the row, in ascending order; nil until they are sorted
}

// scans is the number of calls of rowsOf that read the whole column. Sorting pays for more calls only.
const scans = 16

// rowsOf appends the rows with an entity in a field, whose kind is kindEntity, in ascending order.
func (m *image) rowsOf(column int, id int64, rows []int) []int {
	e := vast.EntityOf(uint64(id))
	if e.IsZero() {
		return rows // the zero entity is NULL
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
	if x.calls++; x.calls <= scans {
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

// keys returns the keys of an index.
func (m *image) keys(f *field) []uint64 {
	keys := make([]uint64, m.rows)
	for row := range keys {
		keys[row] = uint64((*vast.Entity)(m.at(f, row)).Slot())<<32 | uint64(row)
	}
	slices.Sort(keys)
	return keys
}
