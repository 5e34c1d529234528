package top

import (
	"math"
	"slices"
	"strings"

	"github.com/vastgo/vast/cmd/vast/internal/tty"
	"github.com/vastgo/vast/inspect"
)

// eighths are blocks that fill a cell from below in steps of an eighth.
var eighths = []rune(" ▁▂▃▄▅▆▇█")

// missing stands for a second without a sample.
var missing = math.NaN()

// bySecond returns the values of the last seconds of the history: one value for each cell, the newest value
// at the end. figure returns the value of a sample. In a gap of more than one second, the values are missing.
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
		// Samples are about one second apart.
		ago := math.Round(last - s.At)
		if ago >= 0 && ago < float64(cells) {
			values[cells-1-int(ago)] = figure(s)
		}
	}
	// If two samples fall into one second, the second before or after has no sample. A gap of one second
	// therefore gets the value before the gap.
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

// scale returns the upper end of a chart's scale: the highest value, but at most 4 times the 90th percentile
// of the positive values. This bound keeps the other values visible if one value is an outlier. With fewer
// than 10 positive values, there is no bound.
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

// spark draws a column of blocks for each value, in this number of rows. A value of top or more fills all
// rows. If bound is not 0, values above bound have the tone Warn.
func spark(values []float64, rows int, top, bound float64) []tty.Line {
	lines := make([]tty.Line, rows)
	for row := range lines {
		below := 8 * (rows - 1 - row) // number of eighths below this row
		for _, v := range values {
			level := 0
			if v >= 0 && top > 0 {
				// The lowest values get one eighth, because they would be invisible without a block.
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

// bar draws a share, from 0 to 1, as a bar of this number of cells.
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
