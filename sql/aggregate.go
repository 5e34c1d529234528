package vastsql

import (
	"errors"
	"math"
	"math/bits"
	"strings"
	"unsafe"

	"github.com/ncruces/go-sqlite3"
)

// aggregate is a column of a table of aggregates, such as sum(x). Its name is the call in SQL, in lower case.
type aggregate struct {
	name   string
	op     string
	field  *field // nil for count(*)
	column int    // index of field in table.fields
}

// The aggregate functions that are computed in this package.
const (
	opCount = "count"
	opSum   = "sum"
	opTotal = "total"
	opAvg   = "avg"
	opMin   = "min"
	opMax   = "max"
)

// A mark is the argument of a table of aggregates. Each use of such a table in a statement has its own mark.
// A mark encodes the number of the use, and the number of conditions that SQLite must pass to the table.

// maxAggregateConditions is the largest number of conditions, besides the mark, that SQLite leaves to a
// virtual table and does not check again.
const maxAggregateConditions = 15

func markOf(number, conditions int) int64 {
	return int64(number+1)*(maxAggregateConditions+1) + int64(conditions)
}

func conditionsOf(mark int64) int { return int(mark % (maxAggregateConditions + 1)) }

// mark returns the mark that SQLite passes to a table of aggregates, and whether there is one.
func (v *vtab) mark(info *sqlite3.IndexInfo) (mark int64, ok bool) {
	for i, c := range info.Constraint {
		if c.Column == len(v.table.fields) && c.Op == sqlite3.INDEX_CONSTRAINT_EQ && c.Usable {
			value, err := info.RHSValue(i)
			if err != nil || value.Type() != sqlite3.INTEGER {
				return 0, false
			}
			info.ConstraintUsage[i].ArgvIndex, info.ConstraintUsage[i].Omit = 1, true
			return value.Int64(), true
		}
	}
	return 0, false
}

// summable reports whether this package computes aggregates of a field and evaluates conditions on the field.
func (f *field) summable() bool { return f.kind.isNumber() && f.part >= 0 }

func newAggregates(t *table) []aggregate {
	all := []aggregate{{name: "count(*)", op: opCount}}
	for i := range t.fields {
		f := &t.fields[i]
		if !f.summable() {
			continue
		}
		for _, op := range []string{opCount, opSum, opTotal, opAvg, opMin, opMax} {
			all = append(all, aggregate{op + "(" + f.name + ")", op, f, i})
		}
	}
	return all
}

// decl returns the SQL type of the aggregate.
func (a *aggregate) decl() string {
	switch {
	case a.op == opCount, a.field.kind.isInt() && a.op != opTotal && a.op != opAvg:
		return "INTEGER"
	}
	return "REAL"
}

// figures are the aggregates of a field.
type figures struct {
	count      int
	minI, maxI int64
	minF, maxF float64
	sumI       int64 // sum of integers up to the first overflow
	overflow   bool
	sum        compensatedSum // of floats, and of integers after an overflow of sumI
}

var errOverflow = errors.New("integer overflow")

// aggregate passes the value of an aggregate to SQLite.
func (c *cursor) aggregate(ctx sqlite3.Context, n int) error {
	a := &c.vtab.aggregates[n]
	if a.field == nil {
		ctx.ResultInt64(int64(c.count()))
		return nil
	}
	f := c.results[a.column]
	if f == nil {
		f = c.figures(a.field)
		if c.results == nil {
			c.results = map[int]*figures{}
		}
		c.results[a.column] = f
	}
	isInt := a.field.kind.isInt()
	switch {
	case a.op == opCount:
		ctx.ResultInt64(int64(f.count))
	case a.op == opTotal:
		ctx.ResultFloat(f.float(isInt))
	case f.count == 0:
		ctx.ResultNull()
	case a.op == opAvg:
		ctx.ResultFloat(f.float(isInt) / float64(f.count))
	case a.op == opSum && isInt:
		if f.overflow {
			return errOverflow
		}
		ctx.ResultInt64(f.sumI)
	case a.op == opSum:
		ctx.ResultFloat(f.float(false))
	case a.op == opMin && isInt:
		ctx.ResultInt64(f.minI)
	case a.op == opMax && isInt:
		ctx.ResultInt64(f.maxI)
	case a.op == opMin:
		ctx.ResultFloat(f.minF)
	default:
		ctx.ResultFloat(f.maxF)
	}
	return nil
}

// float returns the sum as a float.
func (f *figures) float(isInt bool) float64 {
	if isInt && !f.overflow {
		return float64(f.sumI)
	}
	return f.sum.value()
}

// count returns the number of selected rows.
func (c *cursor) count() (n int) {
	switch {
	case c.lookup:
		return len(c.found)
	case c.selects == nil:
		return c.image.rows
	}
	for _, word := range c.selects {
		n += bits.OnesCount64(word)
	}
	return n
}

// figures computes the aggregates of a field over the selected rows.
func (c *cursor) figures(f *field) *figures {
	r := &figures{minI: math.MaxInt64, maxI: math.MinInt64, minF: math.Inf(1), maxF: math.Inf(-1)}
	if !c.lookup {
		c.image.addTo(r, f, 0, c.image.rows, c.selects)
	}
	for _, row := range c.found {
		c.image.addTo(r, f, row, 1, nil)
	}
	return r
}

// addTo adds the values of the rows from first to first+rows-1 to r. If s is not nil, addTo adds only the
// rows that s selects. Bit 0 of s stands for the row first.
func (m *image) addTo(r *figures, f *field, first, rows int, s selection) {
	if rows == 0 {
		return
	}
	p, size := m.at(f, first), m.bases[f.part].size
	switch f.kind {
	case kindInt8:
		addInts[int8](r, p, size, rows, s)
	case kindInt16:
		addInts[int16](r, p, size, rows, s)
	case kindInt32:
		addInts[int32](r, p, size, rows, s)
	case kindInt64:
		addInts[int64](r, p, size, rows, s)
	case kindUint8, kindBool:
		addInts[uint8](r, p, size, rows, s)
	case kindUint16:
		addInts[uint16](r, p, size, rows, s)
	case kindUint32:
		addInts[uint32](r, p, size, rows, s)
	case kindFloat32:
		addFloats[float32](r, p, size, rows, s)
	case kindFloat64:
		addFloats[float64](r, p, size, rows, s)
	}
}

// word returns a bit for each of the 64 rows from row on. The bit is set if the row is selected and less than
// rows. row is a multiple of 64.
func (s selection) word(row, rows int) uint64 {
	word := ^uint64(0)
	if s != nil {
		word = s[row/64]
	}
	if n := rows - row; n < 64 {
		word &= 1<<n - 1
	}
	return word
}

func addInts[T integer](r *figures, p unsafe.Pointer, size uintptr, rows int, s selection) {
	lo, hi := r.minI, r.maxI
	for i := 0; i < rows; i += 64 {
		word := s.word(i, rows)
		r.count += bits.OnesCount64(word)
		for ; word != 0; word &= word - 1 {
			v := int64(*(*T)(unsafe.Add(p, uintptr(i+bits.TrailingZeros64(word))*size)))
			lo, hi = min(lo, v), max(hi, v)
			r.addInt(v)
		}
	}
	r.minI, r.maxI = lo, hi
}

// addInt adds v to the sum of integers.
func (r *figures) addInt(v int64) {
	if !r.overflow {
		sum := r.sumI + v
		if (sum < r.sumI) == (v < 0) {
			r.sumI = sum
			return
		}
		r.overflow = true
		r.sum = sumOf(r.sumI)
	}
	r.sum = r.sum.plusInt(v)
}

func addFloats[T float32 | float64](r *figures, p unsafe.Pointer, size uintptr, rows int, s selection) {
	lo, hi, count, sum := r.minF, r.maxF, r.count, r.sum
	for i := 0; i < rows; i += 64 {
		for word := s.word(i, rows); word != 0; word &= word - 1 {
			v := float64(*(*T)(unsafe.Add(p, uintptr(i+bits.TrailingZeros64(word))*size)))
			if v != v {
				continue // NaN is NULL
			}
			count++
			if v < lo {
				lo = v
			}
			if v > hi {
				hi = v
			}
			sum = sum.plus(v)
		}
	}
	r.count, r.minF, r.maxF, r.sum = count, lo, hi, sum
}

// aggregateDeclaration returns the CREATE TABLE statement with the columns of t, the mark and the aggregates.
func aggregateDeclaration(t *table, all []aggregate) string {
	text, _ := strings.CutSuffix(t.declaration(), ")")
	text += `, "mark()" HIDDEN`
	for i := range all {
		text += ", " + quote(all[i].name) + " " + all[i].decl()
	}
	return text + ")"
}
