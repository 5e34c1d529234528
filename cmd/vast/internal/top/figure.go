package top

import (
	"fmt"
	"math"
	"strconv"

	"github.com/vastgo/vast/cmd/vast/internal/tty"
	"github.com/vastgo/vast/vm"
)

// rate formats a number of events per second, with one decimal if the number is below 10.
func rate(x float64) string {
	switch {
	case !(x > 0): // also true for NaN
		return "0"
	case x < 10:
		return strconv.FormatFloat(x, 'f', 1, 64)
	case x < 1e15:
		return tty.Grouped(uint64(math.Round(x)))
	}
	return "∞"
}

// seconds formats a duration, given in seconds, with a suitable unit.
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

func size(n int) string { return vm.Bytes(max(n, 0)) }

// percent formats a share, such as 0.25, as a percentage.
func percent(x float64) string {
	if !(x > 0) {
		return "0 %"
	}
	if x < 0.0995 {
		return fmt.Sprintf("%.1f %%", 100*x)
	}
	return fmt.Sprintf("%.0f %%", 100*min(x, 1e6))
}
