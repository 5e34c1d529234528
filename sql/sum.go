package vastsql

import "math"

// compensatedSum is a sum of floats: sum + err, where err is the sum of the rounding errors of the additions
// (Neumaier 1974). SQLite adds in the same way, so the same values in the same order have the same sum to the
// last bit.
type compensatedSum struct{ sum, err float64 }

// plus returns s + v. The receiver is a value: with a pointer, the compiler would keep the sum in memory.
func (s compensatedSum) plus(v float64) compensatedSum {
	t := s.sum + v
	if math.Abs(s.sum) > math.Abs(v) {
		return compensatedSum{t, s.err + ((s.sum - t) + v)}
	}
	return compensatedSum{t, s.err + ((v - t) + s.sum)}
}

// sumOf returns the sum of one integer, which may have more bits than a float64 holds.
func sumOf(v int64) compensatedSum {
	big, rest := split(v)
	return compensatedSum{big, rest}
}

// split returns floats whose exact sum is v.
func split(v int64) (big, rest float64) {
	if v > -1<<52 && v < 1<<52 {
		return float64(v), 0
	}
	low := v % (1 << 14)
	return float64(v - low), float64(low)
}

// plusInt returns s + v, where v may have more bits than a float64 holds.
func (s compensatedSum) plusInt(v int64) compensatedSum {
	big, rest := split(v)
	return s.plus(big).plus(rest)
}

// value returns the sum. After an overflow, err is not finite and means nothing.
func (s compensatedSum) value() float64 {
	if math.IsNaN(s.err) || math.IsInf(s.err, 0) {
		return s.sum
	}
	return s.sum + s.err
}
