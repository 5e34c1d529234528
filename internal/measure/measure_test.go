package measure

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestSidesTakeTurns(t *testing.T) {
	var order strings.Builder
	n := 0
	samples := Turns(3, 2, nil, func(side int) int {
		fmt.Fprint(&order, side)
		n++
		return n
	})
	if order.String() != "010101" {
		t.Errorf("the order of the sides is %s, want 010101", &order)
	}
	if !slices.Equal(samples[0], []int{1, 3, 5}) || !slices.Equal(samples[1], []int{2, 4, 6}) {
		t.Errorf("samples %v, want [[1 3 5] [2 4 6]]", samples)
	}
	samples = Turns(30, 2, func(round int) bool { return round == 2 }, func(int) int { return 0 })
	if len(samples[0]) != 2 || len(samples[1]) != 2 {
		t.Errorf("%d and %d samples, want 2 of each side", len(samples[0]), len(samples[1]))
	}
}

func TestBestMedianAndRatio(t *testing.T) {
	for _, c := range []struct {
		samples      Samples
		best, median float64
	}{{Samples{3}, 3, 3}, {Samples{9, 1, 4}, 1, 4}, {Samples{8, 1, 2, 4}, 1, 3}} {
		unsorted := slices.Clone(c.samples)
		if best, median := c.samples.Best(), c.samples.Median(); best != c.best || median != c.median {
			t.Errorf("%v: best %v and median %v, want %v and %v", c.samples, best, median, c.best, c.median)
		}
		if !slices.Equal(c.samples, unsorted) {
			t.Errorf("Best and Median changed the samples from %v to %v", unsorted, c.samples)
		}
	}
	if got := Ratio(Samples{4, 2}, Samples{5, 7}); got != 2.5 {
		t.Errorf("ratio %v, want 2.5", got)
	}
}
