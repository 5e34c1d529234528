package bulk

import (
	"fmt"
	"unsafe"

	"github.com/vastgo/vast/internal/state"
)

// tableState implements state.Container. A file has the values of each field in the order of rows, whatever
// the layout of the table is.
type tableState struct{ t *Table }

func (t *Table) keep() (any, error) {
	t.mustBeOpen()
	return &tableState{t}, nil
}

func (s *tableState) Of() []any { return []any{s.t} }

func (s *tableState) Describe() state.Contents {
	c := state.Contents{Kind: kindTable, Len: s.t.len}
	for _, f := range s.t.fields {
		c.Fields = append(c.Fields, f.name)
	}
	return c
}

func (s *tableState) Arrays(c state.Contents, column int) (arrays []state.Array) {
	for i, f := range s.t.fields {
		a := state.Array{Kind: state.Fields, Column: column, Number: i, Type: f.typ, Len: c.Len}
		if s.t.options.Layout == LayoutColumns {
			a.Base = f.base
		} else {
			a.Read = func(dst []byte, lo int) { f.each(lo, dst, func(row, b []byte) { copy(b, row) }) }
			a.Write = func(src []byte, lo int) error {
				f.each(lo, src, func(row, b []byte) { copy(row, b) })
				return nil
			}
		}
		arrays = append(arrays, a)
	}
	return arrays
}

// each divides b into parts, one for each group of rows, beginning with the given row. For each group it
// calls do with the values of f in the group and their part of b.
func (f *field) each(row int, b []byte, do func(values, b []byte)) {
	for len(b) > 0 {
		n := min(len(b), (f.table.group-row%f.table.group)*f.size)
		do(unsafe.Slice((*byte)(f.at(row, uintptr(f.size))), n), b[:n])
		b = b[n:]
		row += n / f.size
	}
}

// Reserve makes room for the rows. It writes safe values (see Field.Safe) to all fields, because the file may
// lack some fields.
func (s *tableState) Reserve(c state.Contents) error {
	t := s.t
	if t.len > 0 {
		return t.plan.wasUsed()
	}
	if c.Len == 0 {
		return nil
	}
	if c.Len < 0 || len(t.fields) == 0 {
		return fmt.Errorf("%s has %d fields, but the file has %d rows: add the fields before loading",
			t.plan.name, len(t.fields), c.Len)
	}
	if err := t.makeRoom(opGrow, c.Len); err != nil {
		return err
	}
	t.prepare(c.Len)
	return nil
}

func (s *tableState) Settle(c state.Contents, _ []state.Array) error {
	s.t.len = c.Len
	return sound(s.t.checkInvariants)
}

func (s *tableState) Abandon(c state.Contents) {
	s.t.len = c.Len
	s.t.Clear()
}
