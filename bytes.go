package vast

import "github.com/vastgo/vast/internal/invariants"

// Bytes returns the components of a run as they lie in memory, one after the other, for tools that know their types by
// [Describe] only: nil where the column's storage is not [StorageDense]. The run must come from a query with this column.
// The bytes are for reading only, and valid as long as what [Column.Slice] returns. Complexity: constant.
func Bytes(col AnyColumn, r Run) []byte {
	c := columnOf("Bytes", col)
	if _, elsewhere := c.store.(valueStore); elsewhere || c.typ == nil {
		return nil
	}
	if r.start+r.n > c.slots {
		panic(beyond{c, r})
	}
	if invariants.Enabled {
		c.mustHave(r)
		c.touch(false)
	}
	return c.elements(r.start, r.start+r.n)
}
