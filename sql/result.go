package vastsql

import (
	"fmt"
	"math"

	"github.com/ncruces/go-sqlite3"
	"github.com/vastgo/vast"
	"github.com/vastgo/vast/probe"
)

// slot returns the slot of the entity in a row. r is the index of the row's run.
func (m *image) slot(row, r int) int { return m.runs[r].slot + row - m.runs[r].row }

// result passes the value of a column to SQLite. r is the index of the row's run.
func (m *image) result(ctx sqlite3.Context, column, row, r int) error {
	f := &m.table.fields[column]
	switch {
	case m.values != nil:
		return resultOf(ctx, m.values[row][column])
	case f.computed != nil:
		f.computed.show(m, ctx, row, r)
		return nil
	case f.part < 0:
		switch f.name {
		case "slot":
			ctx.ResultInt64(int64(m.slot(row, r)))
		case "generation":
			ctx.ResultInt64(int64(vast.EntityOf(uint64(m.entity(row, m.slot(row, r)))).Generation()))
		default:
			ctx.ResultInt64(m.entity(row, m.slot(row, r)))
		}
		return nil
	}
	p := m.at(f, row)
	switch {
	case f.kind.isInt():
		ctx.ResultInt64(f.kind.intAt(p))
	case f.kind.isFloat():
		ctx.ResultFloat(f.kind.floatAt(p)) // SQLite takes NaN for NULL
	case f.kind == kindUint64:
		if v := *(*uint64)(p); v > math.MaxInt64 {
			ctx.ResultFloat(float64(v))
		} else {
			ctx.ResultInt64(int64(v))
		}
	case f.kind == kindEntity:
		if e := *(*vast.Entity)(p); e.IsZero() {
			ctx.ResultNull()
		} else {
			ctx.ResultInt64(int64(e.ID()))
		}
	case f.kind == kindText:
		ctx.ResultText(*(*string)(p))
	default:
		if m.table.parts[f.part].info.Storage == probe.StorageHeap && m.texts[column] == nil {
			return fmt.Errorf("vastsql: the statement uses column %s of table %s, which was not copied",
				f.name, m.table.name)
		}
		switch text := m.textAt(column, row); {
		case text == nil:
			ctx.ResultNull()
		case f.kind == kindBlob:
			ctx.ResultBlob(text)
		default:
			ctx.ResultRawText(text)
		}
	}
	return nil
}

// textAt returns a blob, or the JSON text of another value. nil stands for NULL.
func (m *image) textAt(column, row int) []byte {
	if kept := m.texts[column]; kept != nil {
		return kept[row]
	}
	f := &m.table.fields[column]
	return textOf(f, m.at(f, row))
}
