package inspect

import (
	"math"
	"net/http"
	"reflect"
	"slices"

	"github.com/vastgo/vast/inspect/internal/query"
	"github.com/vastgo/vast/inspect/internal/value"
)

const (
	defaultBins = 50
	maxBins     = 1000
	maxNumbers  = 1 << 20 // limit of the numbers in the sample of a histogram
	maxRanked   = 1 << 14 // limit of the numbers from which the quantiles are computed
)

// histogramAnswer is the distribution of the numbers in a field. If there are more than maxNumbers numbers,
// the distribution is computed from a uniform random sample, and the counts are extrapolated.
type histogramAnswer struct {
	Field     string             `json:"field"`
	Kind      string             `json:"kind"`
	Count     int                `json:"count"`     // number of matching entities that have the field
	NaN       int                `json:"nan"`       // number of NaN values
	Infinite  int                `json:"infinite"`  // number of infinite values
	Min       *float64           `json:"min"`       // least finite number; null if there is none
	Max       *float64           `json:"max"`       // greatest finite number; null if there is none
	Mean      *float64           `json:"mean"`      // mean of the finite numbers; null if there are none
	Quantiles map[string]float64 `json:"quantiles"` // p1 to p99 of the finite numbers, approximate
	Bins      []binAnswer        `json:"bins"`      // counts of the finite numbers
	Sampled   bool               `json:"sampled"`   // whether the sample lacks some numbers
	Sample    int                `json:"sample"`    // size of the sample
	Scanned   int                `json:"scanned"`   // number of slots that were searched
	Exact     bool               `json:"exact"`     // whether the counts are complete and describe one moment
}

// binAnswer counts the numbers in [From, To). The last bin includes To.
type binAnswer struct {
	From  float64 `json:"from"`
	To    float64 `json:"to"`
	Count int     `json:"count"`
	Label string  `json:"label,omitempty"` // text of the bool or enum value
}

func (in *Inspector) describeNumbers(r *http.Request) (any, error) {
	bins, err := wholeNumber(r, "bins", defaultBins, 1, maxBins)
	if err != nil {
		return nil, err
	}
	field := r.URL.Query().Get("field")
	if field == "" {
		return nil, badRequest("field is missing: name a numeric field, such as Position.X")
	}
	s, err := in.newSearch(r, r.URL.Query().Get("query"), wanted{number: field, slots: slotsRead}, answerTime)
	if err != nil {
		return nil, err
	}
	defer s.end()
	var g gathering
	if err := g.gather(s); err != nil {
		return nil, err
	}
	a := histogramAnswer{Field: s.shown[0].Name, Kind: string(s.part.Kind), Count: g.count,
		Sampled: g.thinner.halvings > 0,
		Scanned: s.scanned(), Exact: s.whole() && g.thinner.halvings == 0, Quantiles: map[string]float64{},
		Bins: []binAnswer{}}
	a.fill(g.numbers, bins, s.part)
	return a, nil
}

type gathering struct {
	numbers []float64
	count   int
	thinner thinning
}

func (g *gathering) gather(s *search) error {
	some := make([]float64, 0, gatheredAtOnce+slotsRead)
	for more := true; more; {
		some, more = some[:0], false
		err := s.walk(func(lo int, words []uint64, _ int) bool {
			n := s.shown[0].Keep(s.in.world, lo, words)
			g.count += n
			if n > 0 {
				g.thinner.thin(words)
				some = s.shown[0].AppendNumbers(some, s.in.world, s.part, lo, words)
			}
			more = len(some) >= gatheredAtOnce
			return more
		})
		if err != nil {
			return err
		}
		for g.numbers = append(g.numbers, some...); len(g.numbers) > maxNumbers; {
			g.numbers = halve(&g.thinner, g.numbers)
		}
	}
	return nil
}

// fill computes the answer from numbers. It overwrites numbers.
func (a *histogramAnswer) fill(numbers []float64, bins int, p *query.Part) {
	a.Sample = len(numbers)
	scale := float64(a.Count) / float64(max(1, len(numbers))) // entities for each number of the sample
	nan, infinite := 0, 0
	finite := numbers[:0]
	least, most, sum := math.Inf(1), math.Inf(-1), 0.0
	for _, x := range numbers {
		switch {
		case math.IsNaN(x):
			nan++
		case math.IsInf(x, 0):
			infinite++
		default:
			least, most, sum = min(least, x), max(most, x), sum+x/float64(len(numbers))
			finite = append(finite, x)
		}
	}
	a.NaN, a.Infinite = scaled(nan, scale), scaled(infinite, scale)
	if len(finite) == 0 {
		return
	}
	mean := sum * (float64(len(numbers)) / float64(len(finite)))
	a.Min, a.Max, a.Mean = &least, &most, &mean
	a.Bins = binsOf(least, most, bins, p)
	// The loop computes with halves, because the difference of two numbers can overflow.
	first, halfWidth := a.Bins[0].From, a.Bins[0].To/2-a.Bins[0].From/2
	counts := make([]int, len(a.Bins))
	for _, x := range finite {
		i := 0
		if halfWidth > 0 {
			i = int((x/2 - first/2) / halfWidth)
		}
		counts[max(0, min(i, len(counts)-1))]++
	}
	for i, n := range counts {
		a.Bins[i].Count = scaled(n, scale)
	}
	a.rank(finite)
}

func scaled(n int, scale float64) int { return int(math.Round(float64(n) * scale)) }

// rank computes the quantiles of the numbers, or of a random sample of maxRanked numbers.
func (a *histogramAnswer) rank(numbers []float64) {
	if len(numbers) > maxRanked {
		numbers = choose(numbers, maxRanked)
	}
	slices.Sort(numbers)
	for _, q := range []struct {
		name string
		part float64
	}{{"p1", .01}, {"p5", .05}, {"p25", .25}, {"p50", .5}, {"p75", .75}, {"p95", .95}, {"p99", .99}} {
		a.Quantiles[q.name] = numbers[int(math.Round(q.part*float64(len(numbers)-1)))]
	}
}

// binsOf divides a range into bins of equal width. If the field does not hold floating-point numbers, the
// width is a whole number.
func binsOf(least, most float64, n int, p *query.Part) []binAnswer {
	width := (most/2 - least/2) / float64(n) * 2
	if p.Kind != query.KindFloat {
		width = math.Ceil((most - least + 1) / float64(n))
		n = int((most-least)/width) + 1
	}
	// The second condition holds if all numbers are equal, or too close together to divide.
	if n == 1 || border(least, width, 1) == least {
		return []binAnswer{{From: least, To: most, Label: meaningOf(p, least, least == most)}}
	}
	bins := make([]binAnswer, n)
	for i := range bins {
		bins[i].From, bins[i].To = border(least, width, i), border(least, width, i+1)
		bins[i].Label = meaningOf(p, bins[i].From, width == 1)
	}
	if p.Kind == query.KindFloat {
		bins[n-1].To = most
	}
	return bins
}

// border returns the lower bound of bin i. It adds halves, because i times the width can overflow.
func border(least, width float64, i int) float64 { return (least/2 + float64(i)*(width/2)) * 2 }

// meaningOf returns the text of a bool or an enum. It returns "" for other kinds, or if alone is false. alone
// tells whether x is the only value of its bin.
func meaningOf(p *query.Part, x float64, alone bool) string {
	v := reflect.New(p.Type).Elem()
	switch {
	case !alone:
		return ""
	case p.Kind == query.KindBool:
		v.SetBool(x != 0)
	case p.Kind != query.KindEnum:
		return ""
	case v.CanInt():
		v.SetInt(int64(x))
	default:
		v.SetUint(uint64(x))
	}
	return value.Text(v, cellBytes)
}
