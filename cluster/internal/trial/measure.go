package trial

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"time"

	"github.com/vastgo/vast/cluster/internal/globe"
	"github.com/vastgo/vast/cluster/internal/plan"
	"github.com/vastgo/vast/internal/measure"

	simulation "github.com/vastgo/vast/cmd/vast/earth"
)

// fewRegions is the number of regions of the measured clusters that have several regions.
const fewRegions = 4

// idleDivisor divides the number of travellers for the measurement of an almost idle cluster.
const idleDivisor = 100

// The result of a measurement is the median of its rounds.
const (
	rounds       = 3
	roundsEarths = 5 // rounds of measureEarths
)

// Measure measures the costs of the work of a cluster on this machine, with Earths of the given number of
// travellers. It needs a minute or two. It writes files into dir, and removes them. It calls progress with
// the name of each part before it measures the part.
func Measure(ctx context.Context, dir string, travellers int, progress func(what string),
) (*plan.Costs, error) {
	c := &plan.Costs{Cores: globe.Cores(), Stretch: 1, BytesTraveller: simulation.BytesTraveller}
	progress("the messages of an owner")
	err := measureCoding(ctx, c)
	progress("the disk")
	err = errors.Join(err, measureDisk(filepath.Join(dir, "disk"), c))
	progress("the server")
	err = errors.Join(err, measureServer(ctx, filepath.Join(dir, "server"), c))
	if err == nil {
		err = measureEarths(ctx, dir, travellers, progress, c)
	}
	if err != nil {
		return nil, fmt.Errorf("measuring the costs: %w", err)
	}
	return c, nil
}

// measureEarths measures the ticks of an Earth: without a cluster, in a cluster of one region, and in
// clusters of few regions.
func measureEarths(ctx context.Context, dir string, travellers int, progress func(what string),
	c *plan.Costs) error {
	progress("the ticks of worlds")
	if err := measureWorlds(travellers, c); err != nil {
		return err
	}
	var overhead, rates measure.Samples
	var ones, somes []EarthRun
	for round := range roundsEarths {
		progress(fmt.Sprintf("clusters, round %d of %d", round+1, roundsEarths))
		var runs [3]EarthRun
		for i, r := range [...]struct{ travellers, regions int }{{travellers, 1}, {travellers, fewRegions},
			{travellers / idleDivisor, fewRegions}} {
			var err error
			runs[i], err = runEarth(ctx, filepath.Join(dir, "earth"), r.travellers, r.regions)
			if err != nil {
				return err
			}
		}
		ones, somes = append(ones, runs[0]), append(somes, runs[1])
		overhead = append(overhead, overheadOf(c, travellers, runs[0], runs[2]))
		rates = append(rates, runs[1].Rate)
	}
	c.Tick += overhead.Median()
	var divided measure.Samples
	for i := range ones {
		divided = append(divided, dividedOf(c, travellers, ones[i], somes[i]))
	}
	c.Divided = divided.Median()
	return fitStretch(c, travellers, rates.Median())
}

// runEarth runs a cluster for a short time, without checkpoints.
func runEarth(ctx context.Context, dir string, travellers, regions int) (EarthRun, error) {
	// All clusters use the same number of workers for each region, so that their times can be compared.
	p, err := planet(travellers, regions, Workers(fewRegions))
	if err != nil {
		return EarthRun{}, err
	}
	r, err := Earth(ctx, EarthOptions{Dir: dir, Planet: p, Every: math.MaxInt64,
		Ticks: ticksWorld + simulation.Lookahead, From: ticksFirst, To: ticksWorld})
	return r, errors.Join(err, p.Close())
}

// measureWorlds measures worlds with different numbers of travellers, regions and workers. Each tick runs in
// all worlds before the next tick, so a slow moment of the machine affects all worlds.
func measureWorlds(travellers int, c *plan.Costs) (err error) {
	var worlds [5]*world
	for i, w := range [...]struct{ travellers, regions, workers int }{{travellers, 1, 1},
		{travellers / 8, 1, 1}, {travellers, 2, 1}, {travellers, fewRegions, 1},
		{travellers, 1, c.Cores}} {
		if worlds[i], err = newWorld(w.travellers, w.regions, w.workers); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, worlds[i].close()) }()
	}
	for tick := range uint64(ticksWorld) {
		for _, w := range worlds {
			if err := w.tick(tick + 1); err != nil {
				return err
			}
		}
	}
	all, part, two, divided, parallel := worlds[0], worlds[1], worlds[2], worlds[3], worlds[4]
	if err := errors.Join(all.saveAll(), part.saveAll(), all.tell(), divided.tell()); err != nil {
		return err
	}
	n := float64(travellers)
	c.Traveller = max(all.processor.Median()-part.processor.Median(), 0) / (n - n/8)
	c.Tick = max(all.processor.Median()-c.Traveller*n, 0)
	c.Crossings = divided.departed(fewRegions/2) / n
	c.Locality = locality(divided.departed(fewRegions/2), divided.departed(1))
	// A traveller who crosses a border causes the cost of a crossing twice: at the departure and at the
	// arrival. ofTwo and ofFew are the costs of several regions that one region does not have. The difference
	// between them counts as the cost of the additional crossings, and gives the cost of a crossing. The part
	// of ofFew that is not the cost of crossings is the cost of the division.
	ofTwo := max(two.processor.Median()-2*c.Tick-c.Traveller*n, 0)
	ofFew := max(divided.processor.Median()-fewRegions*c.Tick-c.Traveller*n, 0)
	if more := 2 * (divided.departed(1) - two.departed(1)); more > 0 {
		c.Crossing = max(ofFew-ofTwo, 0) / more
	}
	c.Divided = max(ofFew-c.Crossing*2*divided.departed(1), 0) / n
	c.Spread = spread(all.times)
	c.Serial = serial(all.times.Median(), parallel.times.Median(), c.Cores)
	c.Status = max(divided.status-all.status, 0) / (fewRegions - 1)
	c.StatusTraveller = max(all.status-c.Status, 0) / n
	c.BytesStatus = float64(all.told) / n
	c.State.Byte = all.save * 1000 / float64(all.state)
	c.BytesResident = max(float64(all.state-part.state), 0) / (n - n/8)
	c.BytesPlaces = max(float64(all.state)-c.BytesResident*n, 0)
	return nil
}

// locality returns the exponent plan.Costs.Locality. ofTwo are the departures between the two halves of an
// Earth, and ofFour are the departures between its four quarters.
func locality(ofTwo, ofFour float64) float64 {
	if ofTwo == 0 || ofFour <= ofTwo {
		return 1
	}
	return -math.Log2(ofFour/ofTwo - 1)
}

// serial returns the share of a tick that only one worker runs, by Amdahl's law. one and all are the times of
// a tick with one worker and with all workers.
func serial(one, all float64, workers int) float64 {
	if workers == 1 {
		return 1
	}
	w := float64(workers)
	return min(max((all/one-1/w)/(1-1/w), 0), 1)
}

// overheadOf returns the processor time of a region's tick that no other measurement covers, in microseconds.
// one is a cluster of one region with all travellers. small is an almost idle cluster of few regions, where
// most of the time is overhead. overheadOf finds the overhead for which the computed times of the two
// clusters have the same ratio as the measured times. The ratio does not depend on the speed of the machine.
func overheadOf(c *plan.Costs, travellers int, one, small EarthRun) float64 {
	a, b := micros(one.Processor), micros(small.Processor)
	missing := b*known(c, travellers, 1, one.Rate) -
		a*known(c, travellers/idleDivisor, fewRegions, small.Rate)
	if fewRegions*a <= b {
		return 0 // a wrong measurement: the region with all travellers needs no more time than a small region
	}
	return max(missing/(fewRegions*a-b), 0)
}

// dividedOf returns plan.Costs.Divided. one and some are clusters of one and of few regions with all
// travellers. c.Tick includes the overhead.
func dividedOf(c *plan.Costs, travellers int, one, some EarthRun) float64 {
	scale := known(c, travellers, 1, one.Rate) / micros(one.Processor)
	missing := scale*micros(some.Processor) - known(c, travellers, fewRegions, some.Rate)
	return max(c.Divided+missing/float64(travellers), 0)
}

// known computes from the costs how much processor time a tick takes, in microseconds. All regions are in one
// process. Each region makes a status once a second, so the cost of statuses in a tick depends on the rate.
func known(c *plan.Costs, travellers, regions int, rate float64) float64 {
	n, all := float64(regions), float64(travellers)
	departures := c.Departures(regions) * all
	bytes := c.BytesMessage + c.BytesSection*n + c.BytesTraveller*departures/n
	bytesStatus := c.BytesStatus * all / n
	status := c.StatusOf(all/n) + c.Append.Of(bytesStatus) + c.Deliver.Of(bytesStatus)
	return c.TravellerOf(regions)*all + 2*departures*c.Crossing +
		n*(c.Tick+c.Encode.Of(bytes, regions)+c.Append.Of(bytes)+c.Deliver.Of(bytes)+status/rate) +
		n*n*c.Decode.Of(bytes, regions)
}

// Calibrate measures c.Stretch again, because other programs may have made the machine slower or faster since
// the last measurement.
func Calibrate(ctx context.Context, dir string, travellers int, c *plan.Costs) error {
	var rates measure.Samples
	for range rounds {
		r, err := runEarth(ctx, filepath.Join(dir, "earth"), travellers, fewRegions)
		if err != nil {
			return err
		}
		rates = append(rates, r.Rate)
	}
	return fitStretch(c, travellers, rates.Median())
}

// fitStretch sets c.Stretch so that the simulation of a cluster of few regions has the measured rate.
func fitStretch(c *plan.Costs, travellers int, rate float64) error {
	low, high := 0.25, 8.0
	for range 20 {
		c.Stretch = math.Sqrt(low * high)
		r, err := plan.Run(c, Setup(c, fewRegions, travellers))
		if err != nil {
			return err
		}
		if r.Rate > rate {
			low = c.Stretch
		} else {
			high = c.Stretch
		}
	}
	return nil
}

// Setup returns the setup of an Earth whose regions are in one process with an embedded server, on the
// machine of the costs.
func Setup(c *plan.Costs, regions, travellers int) plan.Setup {
	return plan.Setup{Regions: regions, PerProcess: regions, Cores: c.Cores, Replicas: 1, Bandwidth: 1.25e9,
		Lookahead: simulation.Lookahead, Travellers: travellers, Hot: 1, Ticks: ticksWorld}
}

// spread returns the standard deviation of the logarithm of times, estimated from their median and their 90th
// percentile. Longer times do not count, because other programs may cause them.
func spread(times measure.Samples) float64 {
	const z90 = 1.2816 // 90th percentile of the standard normal distribution
	sorted := slices.Sorted(slices.Values(times))
	return max(math.Log(sorted[len(sorted)*9/10]/times.Median())/z90, 0)
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
