package top

import (
	"math"
	"slices"
	"strings"

	"github.com/vastgo/vast/cmd/vast/internal/tty"
	"github.com/vastgo/vast/inspect"
)

// eighths[i] fills i eighths of a cell from below.
var eighths = []rune(" ▁▂▃▄▅▆▇█")

// missing stands for a second without a sample.
var missing = math.NaN()

// bySecond returns one value for each of the last seconds of the history, one second per cell. The newest
// value is the last. The function figure returns the value of a sample. Values in a gap of several seconds
// are missing.
func bySecond(history []inspect.Sample, cells int, figure func(inspect.Sample) float64) []float64 {
	if len(history) == 0 || cells <= 0 {
		return nil
	}
	values := make([]float64, cells)
	for i := range values {
		values[i] = missing
	}
	last := history[len(history)-1].At
	for _, s := range history {
		ago := math.Round(last - s.At)
		if ago >= 0 && ago < float64(cells) {
			values[cells-1-int(ago)] = figure(s)
		}
	}
	// Samples are about one second apart. Rounding may put two samples into one cell and none into its
	// neighbour. A gap of one cell therefore gets the value before the gap.
	for i := 1; i+1 < len(values); i++ {
		if math.IsNaN(values[i]) && !math.IsNaN(values[i-1]) && !math.IsNaN(values[i+1]) {
			values[i] = values[i-1]
		}
	}
	return values
}

// highest returns the largest value, or 0 if no value is positive.
func highest(values []float64) (top float64) {
	for _, v := range values {
		if v > top { // false for missing values
			top = v
		}
	}
	return top
}

// scale returns the value at the top of a chart: the highest value, limited to 4 times the 90th percentile of
// the positive values. The limit keeps other values visible beside an outlier. With fewer than 10 positive
// values, there is no limit.
func scale(values []float64) float64 {
	var known []float64
	for _, v := range values {
		if v > 0 {
			known = append(known, v)
		}
	}
	if len(known) < 10 {
		return highest(known)
	}
	slices.Sort(known)
	const maxRatio = 4
	return min(known[len(known)-1], maxRatio*known[(len(known)-1)*9/10])
}

// spark draws each value as a column of blocks with the given number of rows. A value of top or more fills
// all rows. If bound is not 0, values above bound have the tone Warn.
func spark(values []float64, rows int, top, bound float64) []tty.Line {
	lines := make([]tty.Line, rows)
	for row := range lines {
		below := 8 * (rows - 1 - row) // number of eighths below this row
		for _, v := range values {
			level := 0
			if v >= 0 && top > 0 {
				// Zero and small values get one eighth, so that they differ from a missing value, whose
				// column is empty.
				level = max(int(math.Round(v/top*float64(8*rows))), 1)
			}
			t := tty.Accent
			if bound > 0 && v > bound {
				t = tty.Warn
			}
			r := string(eighths[min(max(level-below, 0), 8)])
			if n := len(lines[row]); n > 0 && lines[row][n-1].Tone == t {
				lines[row][n-1].Text += r
			} else {
				lines[row] = append(lines[row], tty.Text(r, t))
			}
		}
	}
	return lines
}

// bar draws a share, from 0 to 1, as a bar of the given number of cells.
func bar(share float64, cells int, t tty.Tone) tty.Line {
	if !(share > 0) {
		share = 0
	}
	full := int(math.Round(min(share, 1) * float64(cells)))
	if share > 0 && full == 0 {
		full = 1
	}
	return tty.Line{tty.Text(strings.Repeat("█", full), t),
		tty.Text(strings.Repeat("░", max(cells-full, 0)), tty.Dim)}
}
