package vastsql

import (
	"math"

	"github.com/ncruces/go-sqlite3"
)

// bounds is a condition on the values of a number field: an interval that contains its ends.
type bounds struct {
	field      *field
	minI, maxI int64   // for integers
	minF, maxF float64 // for floats
}

func newBounds(f *field) bounds {
	return bounds{f, math.MinInt64, math.MaxInt64, math.Inf(-1), math.Inf(1)}
}

// empty reports whether no value meets the condition.
func (b *bounds) empty() bool { return b.minI > b.maxI || b.minF > b.maxF }

func (b *bounds) exclude() { b.minI, b.maxI = 1, 0 }

// narrow adds a comparison with v. A text that looks like a number is compared as a number.
func (b *bounds) narrow(op sqlite3.IndexConstraintOp, v sqlite3.Value) {
	switch v.NumericType() {
	case sqlite3.NULL:
		b.exclude()
	case sqlite3.INTEGER:
		if b.field.kind.isFloat() {
			b.narrowFloatByInt(op, v.Int64())
		} else {
			b.narrowInt(op, v.Int64())
		}
	case sqlite3.FLOAT:
		if b.field.kind.isFloat() {
			b.narrowFloat(op, v.Float())
		} else {
			b.narrowIntByFloat(op, v.Float())
		}
	default: // a number is less than other texts and blobs
		if op != sqlite3.INDEX_CONSTRAINT_LT && op != sqlite3.INDEX_CONSTRAINT_LE {
			b.exclude()
		}
	}
}

func (b *bounds) narrowInt(op sqlite3.IndexConstraintOp, v int64) {
	lo, hi := int64(math.MinInt64), int64(math.MaxInt64)
	switch op {
	case sqlite3.INDEX_CONSTRAINT_EQ:
		lo, hi = v, v
	case sqlite3.INDEX_CONSTRAINT_GE:
		lo = v
	case sqlite3.INDEX_CONSTRAINT_LE:
		hi = v
	case sqlite3.INDEX_CONSTRAINT_GT:
		if lo = v + 1; v == math.MaxInt64 {
			b.exclude()
			return
		}
	case sqlite3.INDEX_CONSTRAINT_LT:
		if hi = v - 1; v == math.MinInt64 {
			b.exclude()
			return
		}
	}
	b.minI, b.maxI = max(b.minI, lo), min(b.maxI, hi)
}

// narrowIntByFloat replaces v by the nearest integer that gives the same result.
func (b *bounds) narrowIntByFloat(op sqlite3.IndexConstraintOp, v float64) {
	const limit = 1 << 63
	whole := math.Floor(v)
	switch op {
	case sqlite3.INDEX_CONSTRAINT_EQ:
		if whole != v || v < -limit || v >= limit {
			b.exclude()
			return
		}
	case sqlite3.INDEX_CONSTRAINT_GE, sqlite3.INDEX_CONSTRAINT_LT:
		whole = math.Ceil(v)
	}
	less := op == sqlite3.INDEX_CONSTRAINT_LT || op == sqlite3.INDEX_CONSTRAINT_LE
	switch {
	case whole >= limit:
		if !less {
			b.exclude()
		}
	case whole < -limit:
		if less {
			b.exclude()
		}
	default:
		b.narrowInt(op, int64(whole))
	}
}

func (b *bounds) narrowFloat(op sqlite3.IndexConstraintOp, v float64) {
	lo, hi := math.Inf(-1), math.Inf(1)
	switch op {
	case sqlite3.INDEX_CONSTRAINT_EQ:
		lo, hi = v, v
	case sqlite3.INDEX_CONSTRAINT_GE:
		lo = v
	case sqlite3.INDEX_CONSTRAINT_LE:
		hi = v
	case sqlite3.INDEX_CONSTRAINT_GT:
		if lo = math.Nextafter(v, math.Inf(1)); math.IsInf(v, 1) {
			b.exclude()
			return
		}
	case sqlite3.INDEX_CONSTRAINT_LT:
		if hi = math.Nextafter(v, math.Inf(-1)); math.IsInf(v, -1) {
			b.exclude()
			return
		}
	}
	b.minF, b.maxF = max(b.minF, lo), min(b.maxF, hi)
}

// narrowFloatByInt compares with an integer that may lie between two floats.
func (b *bounds) narrowFloatByInt(op sqlite3.IndexConstraintOp, v int64) {
	f := float64(v)
	var above int // sign of f - v
	if f >= 1<<63 || int64(f) > v {
		above = 1
	} else if int64(f) < v {
		above = -1
	}
	switch {
	case above == 0:
		b.narrowFloat(op, f)
	case op == sqlite3.INDEX_CONSTRAINT_EQ:
		b.exclude()
	case op == sqlite3.INDEX_CONSTRAINT_GT || op == sqlite3.INDEX_CONSTRAINT_GE:
		if above < 0 {
			f = math.Nextafter(f, math.Inf(1))
		}
		b.narrowFloat(sqlite3.INDEX_CONSTRAINT_GE, f)
	default:
		if above > 0 {
			f = math.Nextafter(f, math.Inf(-1))
		}
		b.narrowFloat(sqlite3.INDEX_CONSTRAINT_LE, f)
	}
}

// contain reports whether a row meets the condition.
func (b *bounds) contain(m *image, row int) bool {
	p := m.at(b.field, row)
	if b.field.kind.isFloat() {
		v := b.field.kind.floatAt(p)
		return v >= b.minF && v <= b.maxF && !b.empty()
	}
	v := b.field.kind.intAt(p)
	return v >= b.minI && v <= b.maxI && !b.empty()
}
