package trial

import (
	"math"
	"testing"
	"time"

	"github.com/vastgo/vast/cluster/internal/plan"
)

func TestOverheadIsWhatIsMissing(t *testing.T) {
	const travellers, overhead = 100_000, 70
	c := &plan.Costs{Tick: 300, Traveller: 0.01, Divided: 0.003, Crossing: 2, Crossings: 0.001, Locality: 0.5,
		BytesMessage: 100, BytesSection: 1, BytesTraveller: 26, Append: plan.Work{Each: 100, Byte: 5},
		Status: 1000, BytesStatus: 1}
	run := func(c plan.Costs, travellers, regions int, rate float64) EarthRun {
		c.Tick += overhead
		us := 1.7 * known(&c, travellers, regions, rate) // on a slower machine
		return EarthRun{Rate: rate, Processor: time.Duration(us * float64(time.Microsecond))}
	}
	one, small := run(*c, travellers, 1, 100), run(*c, travellers/idleDivisor, fewRegions, 200)
	if got := overheadOf(c, travellers, one, small); math.Abs(got-overhead) > 0.01 {
		t.Errorf("the overhead is %v, want %v", got, overhead)
	}
	more := *c
	more.Divided = 0.007
	some := run(more, travellers, fewRegions, 70)
	c.Tick += overhead
	if got := dividedOf(c, travellers, one, some); math.Abs(got-more.Divided) > 1e-6 {
		t.Errorf("the division costs %v for each traveller, want %v", got, more.Divided)
	}
}

func TestModelAgreesWithTheFit(t *testing.T) {
	const travellers = 100_000
	c := &plan.Costs{Cores: 2, Stretch: 1, Serial: 1, SyncsAtOnce: 1, Tick: 300, Traveller: 0.01,
		Divided: 0.003, Crossing: 2, Crossings: 0.001, Locality: 0.5, BytesMessage: 100, BytesSection: 1,
		BytesTraveller: 26, Encode: plan.Coding{Each: 1, Byte: 2, Section: 30},
		Decode: plan.Coding{Each: 1, Byte: 2, Section: 90},
		Append: plan.Work{Each: 100, Byte: 5}, Deliver: plan.Work{Each: 50, Byte: 3}, Status: 1000,
		StatusTraveller: 0.01, BytesStatus: 0.1}
	r, err := plan.Run(c, Setup(c, fewRegions, travellers))
	if err != nil {
		t.Fatal(err)
	}
	used := r.Cores * float64(c.Cores) / r.Rate * 1e6
	if want := known(c, travellers, fewRegions, r.Rate); math.Abs(used/want-1) > 0.02 {
		t.Errorf("a simulated tick uses %v µs of processor time, and known returns %v", used, want)
	}
}

func TestFitOfStretch(t *testing.T) {
	const travellers = 100_000
	c := &plan.Costs{Cores: 2, Stretch: 1.7, Serial: 1, SyncsAtOnce: 1, Tick: 300, Traveller: 0.01}
	r, err := plan.Run(c, Setup(c, fewRegions, travellers))
	if err != nil {
		t.Fatal(err)
	}
	if err := fitStretch(c, travellers, r.Rate); err != nil || math.Abs(c.Stretch-1.7) > 0.01 {
		t.Errorf("the stretch is %v, want 1.7: %v", c.Stretch, err)
	}
}

func TestLocality(t *testing.T) {
	for _, exponent := range []float64{0.3, 1, 1.5} {
		c := plan.Costs{Crossings: 0.01, Locality: exponent}
		if got := locality(c.Departures(2), c.Departures(4)); math.Abs(got-exponent) > 1e-9 {
			t.Errorf("the exponent is %v, want %v", got, exponent)
		}
	}
	if got := locality(0, 0); got != 1 {
		t.Errorf("without departures the exponent is %v, want 1", got)
	}
}

func TestSerial(t *testing.T) {
	for _, c := range []struct {
		one, all float64
		workers  int
		want     float64
	}{{100, 50, 2, 0}, {100, 100, 2, 1}, {100, 75, 2, 0.5}, {100, 120, 2, 1}, {100, 40, 4, 0.2},
		{100, 90, 1, 1}} {
		if got := serial(c.one, c.all, c.workers); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%v µs with one worker and %v µs with %d workers give the share %v, want %v",
				c.one, c.all, c.workers, got, c.want)
		}
	}
}

func TestSpread(t *testing.T) {
	var times []float64
	for i := range 1000 {
		z := math.Erfinv(2*(float64(i)+0.5)/1000-1) * math.Sqrt2
		times = append(times, 5*math.Exp(0.4*z))
	}
	if got := spread(times); math.Abs(got-0.4) > 0.01 {
		t.Errorf("the spread is %v, want 0.4", got)
	}
}

func TestCodingCostsSomething(t *testing.T) {
	c := &plan.Costs{}
	if _, err := processorTime(); err != nil {
		t.Skip(err)
	}
	if err := measureCoding(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if c.Encode.Byte <= 0 || c.Decode.Byte <= 0 || c.BytesMessage < 100 || c.BytesSection != 1 {
		t.Errorf("got the costs %+v, want Encode.Byte > 0, Decode.Byte > 0, BytesMessage >= 100 and "+
			"BytesSection = 1", c)
	}
}
