package soak

import (
	"fmt"
	"slices"

	"github.com/vastgo/vast/vm"
)

// growth is a figure that has grown beyond its bound.
type growth struct {
	Figure string `json:"figure"`
	From   int    `json:"from"`
	To     int    `json:"to"`
	bytes  bool
}

func (g growth) String() string {
	if g.bytes {
		return fmt.Sprintf("%s grew from %s to %s", g.Figure, vm.Bytes(g.From), vm.Bytes(g.To))
	}
	return fmt.Sprintf("%s grew from %d to %d", g.Figure, g.From, g.To)
}

// above returns the exact figures that are now larger than at the baseline.
func above(base, now figures) (grown []growth) {
	for _, f := range judged {
		if from, to := *f.of(&base), *f.of(&now); f.exact && to > from {
			grown = append(grown, growth{f.name, from, to, f.bytes})
		}
	}
	return grown
}

// lower replaces exact figures of the baseline by smaller current figures. A figure shrinks when a resource
// that is older than the baseline ends.
func lower(base *figures, now figures) {
	for _, f := range judged {
		if f.exact {
			*f.of(base) = min(*f.of(base), *f.of(&now))
		}
	}
}

// quarters returns the medians of the first and of the last quarter of the samples.
func quarters(samples []figures) (first, last figures) {
	if len(samples) == 0 {
		return figures{}, figures{}
	}
	n := (len(samples) + 3) / 4
	for _, f := range judged {
		*f.of(&first) = median(samples[:n], f.of)
		*f.of(&last) = median(samples[len(samples)-n:], f.of)
	}
	return first, last
}

func median(samples []figures, of func(*figures) *int) int {
	values := make([]int, len(samples))
	for i := range samples {
		values[i] = *of(&samples[i])
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// judge returns the figures that have grown from first to last by more than their rules allow.
func judge(first, last figures) (grown []growth) {
	for _, f := range judged {
		from, to := *f.of(&first), *f.of(&last)
		if !f.exact && to > from+from/20+f.slack || f.exact && to > from {
			grown = append(grown, growth{f.name, from, to, f.bytes})
		}
	}
	return grown
}
