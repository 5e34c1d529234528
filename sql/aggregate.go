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

func newAggregates(t *table) []aggregate {
	all := []aggregate{{name: "count(*)", op: opCount}}
	for i := range t.fields {
		f := &t.fields[i]
		if !f.kind.isNumber() || f.part < 0 {
			continue
		}
		for _, op := range []string{opCount, opSum, opTotal, opAvg, opMin, opMax} {
			all = append(all, aggregate{op + "(" + f.name + ")", op, f, i})
		}
	}
	return all
}

// decl is the SQL type of the aggregate.
func (a *aggregate) decl() string {
	switch {
	case a.op == opCount, a.field.kind.isInt() && a.op != opTotal && a.op != opAvg:
		return "INTEGER"
	}
	return "REAL"
}

// figures are the aggregates of a field. The sum of floats is sumF + errorF: errorF is the sum of the
// rounding errors of the additions. SQLite adds floats in the same way (Neumaier 1974), so its sums differ
// little.
type figures struct {
	count        int
	minI, maxI   int64
	minF, maxF   float64
	sumI         int64
	overflow     bool
	sumF, errorF float64
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
		f = c.image.figures(a.field, c.selects)
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
	if math.IsNaN(f.errorF) || math.IsInf(f.errorF, 0) {
		return f.sumF
	}
	return f.sumF + f.errorF
}

// count returns the number of selected rows.
func (c *cursor) count() (n int) {
	if c.selects == nil {
		return c.image.rows
	}
	for _, word := range c.selects {
		n += bits.OnesCount64(word)
	}
	return n
}

// figures computes the aggregates of a field over the selected rows.
func (m *image) figures(f *field, s selection) *figures {
	r := &figures{minI: math.MaxInt64, maxI: math.MinInt64, minF: math.Inf(1), maxF: math.Inf(-1)}
	if m.rows == 0 {
		return r
	}
	p, size := unsafe.Add(m.bases[f.part].first, f.offset), m.bases[f.part].size
	switch f.kind {
	case kindInt8:
		addInts[int8](r, p, size, m.rows, s)
	case kindInt16:
		addInts[int16](r, p, size, m.rows, s)
	case kindInt32:
		addInts[int32](r, p, size, m.rows, s)
	case kindInt64:
		addInts[int64](r, p, size, m.rows, s)
	case kindUint8, kindBool:
		addInts[uint8](r, p, size, m.rows, s)
	case kindUint16:
		addInts[uint16](r, p, size, m.rows, s)
	case kindUint32:
		addInts[uint32](r, p, size, m.rows, s)
	case kindFloat32:
		addFloats[float32](r, p, size, m.rows, s)
	case kindFloat64:
		addFloats[float64](r, p, size, m.rows, s)
	}
	return r
}

func addInts[T integer](r *figures, p unsafe.Pointer, size uintptr, rows int, s selection) {
	lo, hi := r.minI, r.maxI
	for i := 0; i < rows; i += 64 {
		word := ^uint64(0)
		if s != nil {
			word = s[i/64]
		}
		n := min(64, rows-i)
		if n < 64 {
			word &= 1<<n - 1
		}
		r.count += bits.OnesCount64(word)
		for word != 0 {
			j := bits.TrailingZeros64(word)
			word &= word - 1
			v := int64(*(*T)(unsafe.Add(p, uintptr(i+j)*size)))
			lo, hi = min(lo, v), max(hi, v)
			sum := r.sumI + v
			r.overflow = r.overflow || (v > 0) != (sum > r.sumI) && v != 0
			r.sumI = sum
			r.sumF += float64(v)
		}
	}
	r.minI, r.maxI = lo, hi
}

// floats are the aggregates of floats. An addition takes several cycles, and the next addition to the same
// sum waits for it. So there are four sums, and values are added to each of them in turn.
type floats struct {
	sum, err [4]float64
	min, max float64
	count    int
}

// add counts a value and adds it to one of the sums.
func (a *floats) add(lane int, v float64) {
	if v != v {
		return // NaN is NULL
	}
	a.count++
	if v < a.min {
		a.min = v
	}
	if v > a.max {
		a.max = v
	}
	a.plus(lane&3, v)
}

// plus adds to a sum. It computes the rounding error by the method of Knuth, which needs no branch.
func (a *floats) plus(lane int, v float64) {
	s := a.sum[lane]
	t := s + v
	back := t - s
	a.err[lane] += (s - (t - back)) + (v - back)
	a.sum[lane] = t
}

// addFour adds v0 to the first sum, v1 to the second, and so on.
func (a *floats) addFour(v0, v1, v2, v3 float64) {
	if v0 != v0 || v1 != v1 || v2 != v2 || v3 != v3 {
		a.add(0, v0)
		a.add(1, v1)
		a.add(2, v2)
		a.add(3, v3)
		return
	}
	a.count += 4
	lo, hi := a.min, a.max
	for _, v := range [4]float64{v0, v1, v2, v3} {
		if v < lo {
			lo = v
		}
		if v > hi {
			hi = v
		}
	}
	a.min, a.max = lo, hi
	s0, s1, s2, s3 := a.sum[0], a.sum[1], a.sum[2], a.sum[3]
	t0, t1, t2, t3 := s0+v0, s1+v1, s2+v2, s3+v3
	b0, b1, b2, b3 := t0-s0, t1-s1, t2-s2, t3-s3
	a.err[0] += (s0 - (t0 - b0)) + (v0 - b0)
	a.err[1] += (s1 - (t1 - b1)) + (v1 - b1)
	a.err[2] += (s2 - (t2 - b2)) + (v2 - b2)
	a.err[3] += (s3 - (t3 - b3)) + (v3 - b3)
	a.sum = [4]float64{t0, t1, t2, t3}
}

func addFloats[T float32 | float64](r *figures, p unsafe.Pointer, size uintptr, rows int, s selection) {
	a := floats{min: r.minF, max: r.maxF}
	at := func(i int) float64 { return float64(*(*T)(unsafe.Add(p, uintptr(i)*size))) }
	if s == nil {
		i := 0
		for ; i+4 <= rows; i += 4 {
			a.addFour(at(i), at(i+1), at(i+2), at(i+3))
		}
		for ; i < rows; i++ {
			a.add(i, at(i))
		}
	} else {
		for i, word := range s {
			for ; word != 0; word &= word - 1 {
				j := 64*i + bits.TrailingZeros64(word)
				a.add(a.count, at(j))
			}
		}
	}
	r.count, r.minF, r.maxF = a.count, a.min, a.max
	var whole floats
	for i := range a.sum {
		whole.plus(0, a.sum[i])
		whole.err[0] += a.err[i]
	}
	r.sumF, r.errorF = whole.sum[0], whole.err[0]
}

// aggregateDeclaration returns the CREATE TABLE statement with the columns of t and of its aggregates.
func aggregateDeclaration(t *table, all []aggregate) string {
	text, _ := strings.CutSuffix(t.declaration(), ")")
	for i := range all {
		text += ", " + quote(all[i].name) + " " + all[i].decl()
	}
	return text + ")"
}
