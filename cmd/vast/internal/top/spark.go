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

// bySecond returns one value a second, for as many seconds as there are cells. The newest value is the last.
// figure takes the value from a sample. A second without a sample has the value missing.
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
		// Samples are a second apart, a little more or less.
		ago := math.Round(last - s.At)
		if ago >= 0 && ago < float64(cells) {
			values[cells-1-int(ago)] = figure(s)
		}
	}
	// If two samples fall into one second, the second before or after has none. Fill such gaps of one second.
	for i := 1; i+1 < len(values); i++ {
		if math.IsNaN(values[i]) && !math.IsNaN(values[i-1]) && !math.IsNaN(values[i+1]) {
			values[i] = values[i-1]
		}
	}
	return values
}

// highest returns the largest value.
func highest(values []float64) (top float64) {
	for _, v := range values {
		if v > top { // false for missing values
			top = v
		}
	}
	return top
}

// scale returns the upper end of a chart's scale. It is the highest value, unless that value is far above the
// others. The other values would then be invisible, so scale returns a smaller bound.
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
	const far = 4 // the bound is this multiple of the 90th percentile
	return min(known[len(known)-1], far*known[(len(known)-1)*9/10])
}

// spark draws values as columns in some rows, scaled to top. Values above bound have the tone warn, unless
// bound is 0.
func spark(values []float64, rows int, top, bound float64) []tty.Line {
	lines := make([]tty.Line, rows)
	for row := range lines {
		below := 8 * (rows - 1 - row) // eighths in the rows below this one
		for _, v := range values {
			level := 0
			if v >= 0 && top > 0 {
				// Every value is visible, even the lowest.
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

// bar draws a share, from 0 to 1, in some cells.
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
