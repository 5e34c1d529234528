package top

import (
	"fmt"
	"math"
	"strconv"

	"github.com/vastgo/vast/vm"
)

// whole writes a number with a comma before every three digits.
func whole(n uint64) string {
	digits := strconv.FormatUint(n, 10)
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}

// count is a number from outside, which may be anything.
func count(n int) string { return whole(uint64(max(n, 0))) }

// rate is a number a second: with a decimal where it is small.
func rate(x float64) string {
	switch {
	case !(x > 0): // not a number, too
		return "0"
	case x < 10:
		return strconv.FormatFloat(x, 'f', 1, 64)
	case x < 1e15:
		return whole(uint64(math.Round(x)))
	}
	return "∞"
}

// seconds is a time in three digits, with its unit.
func seconds(s float64) string {
	switch {
	case !(s > 0):
		return "0"
	case s < 0.9995e-6:
		return digits(s*1e9) + " ns"
	case s < 0.9995e-3:
		return digits(s*1e6) + " µs"
	case s < 0.9995:
		return digits(s*1e3) + " ms"
	case s < 1e6:
		return digits(s) + " s"
	}
	return "∞"
}

func digits(x float64) string {
	switch {
	case x < 9.995:
		return strconv.FormatFloat(x, 'f', 2, 64)
	case x < 99.95:
		return strconv.FormatFloat(x, 'f', 1, 64)
	}
	return strconv.FormatFloat(x, 'f', 0, 64)
}

// size is a number of bytes with its unit.
func size(n int) string { return vm.Bytes(max(n, 0)) }

// percent is a share of 1.
func percent(x float64) string {
	if !(x > 0) {
		return "0 %"
	}
	if x < 0.0995 {
		return fmt.Sprintf("%.1f %%", 100*x)
	}
	return fmt.Sprintf("%.0f %%", 100*min(x, 1e6))
}
