package inspect

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/vastgo/vast/inspect/internal/query"
)

var floatPart = &query.Part{Kind: query.KindFloat, Type: reflect.TypeFor[float64]()}

func TestHistogram(t *testing.T) {
	f := newFixture(t, Options{})
	f.see(t, func() {
		f.position.Get(f.people[5]).X = float32(math.NaN())
		f.position.Get(f.people[6]).X = float32(math.Inf(1))
	})
	var got histogramAnswer
	f.get(t, asking("histogram", "query", "Velocity", "field", "position.x", "bins", "10"), &got)
	if got.Field != "Position.X" || got.Count != 1000 || got.NaN != 1 || got.Infinite != 1 || *got.Min != 0 ||
		*got.Max != 999 || len(got.Bins) != 10 ||
		got.Sampled || got.Sample != 1000 {
		t.Errorf("%+v", got)
	}
	sum := 0
	for i, b := range got.Bins {
		sum += b.Count
		if math.Abs(b.From-99.9*float64(i)) > 1e-9 || math.Abs(b.To-99.9*float64(i+1)) > 1e-9 ||
			b.Count < 98 || b.Count > 100 {
			t.Errorf("bin %d: %+v", i, b)
		}
	}
	if mean := (999*500.0 - 11) / 998; sum != 998 || math.Abs(*got.Mean-mean) > 1e-6 ||
		math.Abs(got.Quantiles["p50"]-500) > 3 || math.Abs(got.Quantiles["p5"]-50) > 3 {
		t.Errorf("the bins hold %d numbers, want 998; the mean is %v, want %v; the quantiles are %v",
			sum, *got.Mean, mean, got.Quantiles)
	}

	got = histogramAnswer{}
	f.get(t, asking("histogram", "field", "Infected.Stage"), &got)
	if len(got.Bins) != 2 || got.Bins[0] != (binAnswer{0, 1, 50, "Mild"}) ||
		got.Bins[1] != (binAnswer{1, 2, 50, "Severe"}) || got.Count != 100 {
		t.Errorf("%+v", got)
	}
	got = histogramAnswer{}
	f.get(t, asking("histogram", "field", "Infected.Since", "bins", "7"), &got)
	sum = 0
	for _, b := range got.Bins {
		sum += b.Count
		if b.From != math.Trunc(b.From) || b.To-b.From != 142 {
			t.Errorf("%+v", b)
		}
	}
	if sum != 100 || len(got.Bins) != 7 {
		t.Errorf("%+v", got)
	}
	got = histogramAnswer{}
	f.get(t, asking("histogram", "query", "Infected", "field", "Ship.Hull"), &got)
	if got.Count != 0 || len(got.Bins) != 0 || got.Min != nil {
		t.Errorf("%+v", got)
	}
	got = histogramAnswer{}
	f.get(t, asking("histogram", "field", "Ship.Decks[3]"), &got)
	if got.Count != 1 || len(got.Bins) != 1 || *got.Max != 0 || got.Bins[0].Count != 1 {
		t.Errorf("%+v", got)
	}
}

func TestBins(t *testing.T) {
	huge := []float64{-math.MaxFloat64, math.MaxFloat64, 0, 1}
	for _, bins := range []int{1, 2, 3, 1000} {
		a := histogramAnswer{Count: 4, Quantiles: map[string]float64{}}
		a.fill(append([]float64{}, huge...), bins, floatPart)
		sum := 0
		for _, b := range a.Bins {
			if math.IsInf(b.From, 0) || math.IsInf(b.To, 0) || !(b.From <= b.To) {
				t.Errorf("%d bins: %+v", bins, b)
			}
			sum += b.Count
		}
		if sum != 4 || len(a.Bins) != bins || a.Bins[0].Count == 0 || a.Bins[len(a.Bins)-1].Count == 0 ||
			math.IsNaN(*a.Mean) || math.IsInf(*a.Mean, 0) {
			t.Errorf("%d bins: %+v", bins, a)
		}
	}
	a := histogramAnswer{Count: 3, Quantiles: map[string]float64{}}
	a.fill([]float64{7, 7, 7}, 20, floatPart)
	if len(a.Bins) != 1 || a.Bins[0] != (binAnswer{7, 7, 3, ""}) || a.Quantiles["p99"] != 7 {
		t.Errorf("%+v", a)
	}
	next := math.Nextafter(1, 2)
	a = histogramAnswer{Count: 2, Quantiles: map[string]float64{}}
	a.fill([]float64{1, next}, 20, floatPart)
	if len(a.Bins) != 1 || a.Bins[0].Count != 2 {
		t.Errorf("%+v", a)
	}
}

func TestHistogramSampled(t *testing.T) {
	t.Parallel()
	var g gathering
	const n = 3 * maxNumbers
	for i := range n { // as in gathering.gather, without a world
		words := []uint64{1}
		g.count++
		if g.thinner.thin(words); words[0] != 0 {
			g.numbers = append(g.numbers, float64(i))
		}
		if len(g.numbers) > maxNumbers {
			g.numbers = halve(&g.thinner, g.numbers)
		}
	}
	a := histogramAnswer{Count: g.count, Quantiles: map[string]float64{}}
	a.fill(g.numbers, 10, floatPart)
	if g.thinner.halvings == 0 || a.Sample > maxNumbers || a.Sample < maxNumbers/4 {
		t.Fatalf("%d halvings, %d numbers", g.thinner.halvings, a.Sample)
	}
	for _, b := range a.Bins { // the expected count is n/10, with a standard deviation of about 1,000
		if math.Abs(float64(b.Count)-n/10) > 10_000 {
			t.Errorf("%+v, want about %d", b, n/10)
		}
	}
	if math.Abs(a.Quantiles["p50"]/n-0.5) > 0.05 {
		t.Errorf("the median is %v of %d", a.Quantiles["p50"], n)
	}
}

func TestSafeText(t *testing.T) {
	for text, want := range map[string]string{"": "", "a": "a", "=1": "'=1", "+1": "'+1", "-1": "'-1",
		"@a": "'@a", "\t=1": "'\t=1", "1=": "1=", "'=": "'="} {
		if got := safeText(text); got != want {
			t.Errorf("%q is written %q, want %q", text, got, want)
		}
	}
	if got := csvText(-1.5); got != "-1.5" {
		t.Errorf("a number is written %q", got)
	}
	if got := csvText(strings.Repeat("=", 2)); got != "'==" {
		t.Errorf("a text is written %q", got)
	}
}
