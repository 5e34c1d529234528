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
	binsUsual   = 50
	binsMost    = 1000
	numbersMost = 1 << 20 // that are kept of one query
	ranked      = 1 << 14 // numbers that quantiles are taken from
)

// histogramAnswer says how the numbers in a field are spread. Where there were more than are kept it goes by an even random
// sample, and the counts of the bins are what they are for all, about.
type histogramAnswer struct {
	Field     string             `json:"field"`
	Kind      string             `json:"kind"`
	Count     int                `json:"count"`    // entities that the query finds and that have the field
	NaN       int                `json:"nan"`      // of these, those whose number is none
	Infinite  int                `json:"infinite"` // and those whose is without end; the rest is in the bins
	Min       *float64           `json:"min"`      // null where there are no numbers
	Max       *float64           `json:"max"`
	Mean      *float64           `json:"mean"`
	Quantiles map[string]float64 `json:"quantiles"` // p1 to p99, about
	Bins      []binAnswer        `json:"bins"`
	Sampled   bool               `json:"sampled"`
	Sample    int                `json:"sample"` // how many numbers were looked at
	Scanned   int                `json:"scanned"`
	Exact     bool               `json:"exact"`
}

// binAnswer counts the numbers from one to below another, of the last bin to the other.
type binAnswer struct {
	From  float64 `json:"from"`
	To    float64 `json:"to"`
	Count int     `json:"count"`
	Label string  `json:"label,omitempty"` // of bools and enums
}

// describeNumbers answers with the histogram of a field in the entities that a query finds.
func (in *Inspector) describeNumbers(r *http.Request) (any, error) {
	bins, err := wholeNumber(r, "bins", binsUsual, 1, binsMost)
	if err != nil {
		return nil, err
	}
	field := r.URL.Query().Get("field")
	if field == "" {
		return nil, badRequest("field is missing: name a number, such as Position.X")
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
	a := histogramAnswer{Field: s.shown[0].Name, Kind: string(s.part.Kind), Count: g.count, Sampled: g.thinner.halvings > 0,
		Scanned: s.scanned(), Exact: s.whole() && g.thinner.halvings == 0, Quantiles: map[string]float64{}, Bins: []binAnswer{}}
	a.fill(g.numbers, bins, s.part)
	return a, nil
}

// gathering gathers the numbers of a search.
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
		for g.numbers = append(g.numbers, some...); len(g.numbers) > numbersMost; {
			g.numbers = halve(&g.thinner, g.numbers)
		}
	}
	return nil
}

// fill makes the answer of some numbers, which it changes.
func (a *histogramAnswer) fill(numbers []float64, bins int, p *query.Part) {
	a.Sample = len(numbers)
	share := float64(a.Count) / float64(max(1, len(numbers))) // entities that a number stands for
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
	a.NaN, a.Infinite = scaled(nan, share), scaled(infinite, share)
	if len(finite) == 0 {
		return
	}
	mean := sum * (float64(len(numbers)) / float64(len(finite)))
	a.Min, a.Max, a.Mean = &least, &most, &mean
	a.Bins = binsOf(least, most, bins, p)
	first, width := a.Bins[0].From, a.Bins[0].To/2-a.Bins[0].From/2 // half a width, as border has it
	counts := make([]int, len(a.Bins))
	for _, x := range finite {
		i := 0
		if width > 0 {
			i = int((x/2 - first/2) / width)
		}
		counts[max(0, min(i, len(counts)-1))]++
	}
	for i, n := range counts {
		a.Bins[i].Count = scaled(n, share)
	}
	a.rank(finite)
}

func scaled(n int, share float64) int { return int(math.Round(float64(n) * share)) }

// rank fills in the quantiles, from some of the numbers where there are many.
func (a *histogramAnswer) rank(numbers []float64) {
	if len(numbers) > ranked {
		numbers = choose(numbers, ranked)
	}
	slices.Sort(numbers)
	for _, q := range []struct {
		name string
		part float64
	}{{"p1", .01}, {"p5", .05}, {"p25", .25}, {"p50", .5}, {"p75", .75}, {"p95", .95}, {"p99", .99}} {
		a.Quantiles[q.name] = numbers[int(math.Round(q.part*float64(len(numbers)-1)))]
	}
}

// binsOf cuts a range into bins of one width: of whole numbers, into whole ones.
func binsOf(least, most float64, n int, p *query.Part) []binAnswer {
	width := (most/2 - least/2) / float64(n) * 2
	if p.Kind != query.KindFloat {
		width = math.Ceil((most - least + 1) / float64(n))
		n = int((most-least)/width) + 1
	}
	// One is asked for, or all numbers are alike, or so close that no bin has a width.
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

// border returns where a bin begins. It goes by halves, which are finite where the range is not.
func border(least, width float64, i int) float64 { return (least/2 + float64(i)*(width/2)) * 2 }

// meaningOf returns what a number stands for, of bools and enums, where it is alone in its bin.
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
