package plan

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

// free returns costs of 0. A test sets only the costs that it needs.
func free() *Costs { return &Costs{Cores: 1, Stretch: 1, Serial: 1, SyncsAtOnce: 1} }

// setup returns a cluster with one region in each process, and a fast network.
func setup(regions int) Setup {
	return Setup{Regions: regions, PerProcess: 1, Cores: 1, Replicas: 1, Bandwidth: 1e12, Lookahead: 4,
		Hot: 1, Travellers: 1000 * regions, Ticks: 400}
}

// oneProcess returns a cluster whose regions are in one process.
func oneProcess(regions, cores int) Setup {
	s := setup(regions)
	s.PerProcess, s.Cores = regions, cores
	return s
}

// external returns a cluster with a separate server, which has many cores.
func external(regions int) Setup {
	s := setup(regions)
	s.Servers, s.ServerCores = 1, 1000
	return s
}

func expect(t *testing.T, c *Costs, s Setup, rate float64, bottleneck string) Result {
	t.Helper()
	r, err := Run(c, s)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(r.Rate/rate-1) > 0.02 {
		t.Errorf("%.1f ticks a second, want %.1f; result %+v", r.Rate, rate, r)
	}
	if r.Bottleneck != bottleneck {
		t.Errorf("the bottleneck is %q, want %q; result %+v", r.Bottleneck, bottleneck, r)
	}
	return r
}

func TestRegionAlone(t *testing.T) {
	c := free()
	c.Tick, c.Traveller = 500, 0.5 // with 1000 travellers, a tick takes 1 ms
	expect(t, c, setup(1), 1000, "the ticks of a region")

	// The server appends while the next ticks run, on another core.
	c.Append.Each = 400 // half for the region, half for the server
	r := expect(t, c, oneProcess(1, 2), 1/0.0012, "the ticks of a region")
	if r.P50 != 1200*time.Microsecond || r.P99 != r.P50 {
		t.Errorf("the percentiles of a tick are %v and %v, want 1.2ms", r.P50, r.P99)
	}
	// On a single core, the server's half adds to the tick.
	expect(t, c, setup(1), 1/0.0014, "the cores of a process")
}

func TestPipeline(t *testing.T) {
	c := free()
	c.Tick = 1000
	c.Sync = 1000
	s := setup(1)
	s.Lookahead = 1 // each tick begins after the sync of the previous tick
	expect(t, c, s, 500, "the latency of messages")
	s.Lookahead = 2 // each tick runs during the sync of the previous tick
	expect(t, c, s, 1000, "the ticks of a region")
}

func TestCoresAreShared(t *testing.T) {
	c := free()
	c.Tick = 1000
	expect(t, c, oneProcess(8, 2), 250, "the cores of a process")
	c.Stretch = 2
	expect(t, c, oneProcess(8, 2), 125, "the cores of a process")
}

func TestWorkers(t *testing.T) {
	c := free()
	c.Tick, c.Serial = 1000, 0.2
	expect(t, c, oneProcess(1, 4), 1/0.0004, "the ticks of a region")
}

// TestRegionsDecodeAllMessages: each region decodes the messages of all regions, and each message has a
// section for each region. The work for messages therefore grows with the square of the number of regions,
// and the work for sections with the third power.
func TestRegionsDecodeAllMessages(t *testing.T) {
	c := free()
	c.Decode.Each = 10
	r := expect(t, c, oneProcess(16, 1), 1/(16*16*10e-6), "the cores of a process")
	if r.Mostly != "decoding messages" {
		t.Errorf("the cores mostly do %q", r.Mostly)
	}
	c.Decode = Coding{Section: 1000}
	expect(t, c, oneProcess(16, 1), 1/(16*16*16*1e-6), "the cores of a process")
	c.Decode = Coding{Byte: 1}
	c.BytesMessage, c.BytesSection = 840, 10
	expect(t, c, oneProcess(16, 1), 1/(16*16*1e-6), "the cores of a process")
}

func TestServer(t *testing.T) {
	c := free()
	c.Append.Each = 200 // half in the server: 1 ms for 10 regions
	s := external(10)
	s.ServerCores = 1
	expect(t, c, s, 1000, "the cores of a server")
	c.Append, c.Deliver.Each = Work{}, 20 // half in the server: 1 ms for 10 messages to 10 processes
	expect(t, c, s, 1000, "the cores of a server")
	s.Servers = 2
	expect(t, c, s, 2000, "the cores of a server")
}

func TestDisk(t *testing.T) {
	c := free()
	c.Sync = 100
	s := external(10)
	expect(t, c, s, 1000, "the disk of a server")
	c.SyncsAtOnce = 4
	expect(t, c, s, 4000, "the disk of a server")
	c.SyncsAtOnce = 100 // an outbox is the limit, because it appends one message after the other
	s.Lookahead = 8
	expect(t, c, s, 10000, "the outbox of a region")
}

func TestOutbox(t *testing.T) {
	c := free()
	c.Sync, c.SyncsAtOnce = 100, 10
	s := oneProcess(4, 100) // the journals are not synced
	s.Lookahead = 8
	expect(t, c, s, 10000, "the outbox of a region")
}

func TestNetwork(t *testing.T) {
	c := free()
	c.BytesMessage = 1000
	s := external(10)
	s.Bandwidth = 1e8 // in a tick, the server sends 100 messages of 1000 bytes, which takes 1 ms
	expect(t, c, s, 1000, "the network of a server")
}

// TestLookaheadHidesLatency: if everything else costs nothing, a region runs lookahead ticks in a round trip.
func TestLookaheadHidesLatency(t *testing.T) {
	for _, lookahead := range []int{1, 4, 8} {
		s := external(4)
		s.RoundTrip, s.Lookahead = 10*time.Millisecond, lookahead
		expect(t, free(), s, float64(lookahead)*100, "the latency of messages")
		s.Servers, s.Replicas = 3, 3 // the messages also make a round trip between the servers
		expect(t, free(), s, float64(lookahead)*50, "the latency of messages")
	}
}

func TestHotSpot(t *testing.T) {
	c := free()
	c.Traveller = 1
	s := setup(10)
	expect(t, c, s, 1000, "the ticks of a region")
	s.Hot = 5
	expect(t, c, s, 200, "the ticks of the hottest region")
	s.Hot = 10 // the first region has all travellers
	expect(t, c, s, 100, "the ticks of the hottest region")
}

func TestRateIsAGoal(t *testing.T) {
	c := free()
	c.Tick = 1000
	s := setup(4)
	s.Hz = 60
	if r := expect(t, c, s, 60, "none at 60 Hz"); math.Abs(r.Cores-0.06) > 0.003 {
		t.Errorf("the cores are busy for %v of the time, want 0.06", r.Cores)
	}
	s.Hz = 2000
	expect(t, c, s, 1000, "the ticks of a region")
}

// TestStatuses: the statuses take half of each second.
func TestStatuses(t *testing.T) {
	c := free()
	c.Tick, c.Status, c.StatusTraveller = 1000, 400_000, 100
	s := setup(1)
	s.Ticks = 5000
	expect(t, c, s, 500, "the ticks of a region")
}

func TestCheckpoints(t *testing.T) {
	c := free()
	c.Tick = 1000
	c.State = Work{Each: 1000}
	s := setup(1)
	s.Every = 10 // the checkpoints take an eleventh of the time
	expect(t, c, s, 10000./11, "the ticks of a region")
	c.State, c.Call = Work{}, 500
	s = external(4) // having replaced its pointer, a region sends 4 + callsOfPointer requests: 4.5 ms
	s.Every = 10
	s.Lookahead = 1 // the regions save at different ticks, and all regions wait for each save
	expect(t, c, s, 10000./(10+4*4.5), "the pauses for checkpoints")
}

// TestCheckpointsAreStoredInChunks: the server syncs the chunks of all checkpoints. The disk and the cores
// are therefore busy for a larger share of the time.
func TestCheckpointsAreStoredInChunks(t *testing.T) {
	c := free()
	c.Sync, c.SyncsAtOnce = 100, 4
	c.BytesResident = 4096 // 1000 travellers: 8 chunks
	c.Store, c.Tick = 1, 1000
	s := oneProcess(4, 8)
	s.Every = 20
	r, err := Run(c, s)
	if err != nil {
		t.Fatal(err)
	}
	s.Every = 0
	idle, err := Run(c, s)
	if err != nil {
		t.Fatal(err)
	}
	if r.Disk <= idle.Disk || r.Cores <= idle.Cores {
		t.Errorf("with checkpoints, the disk is busy for the share %v of the time, and the cores for %v; "+
			"without checkpoints, the disk for %v, and the cores for %v", r.Disk, r.Cores, idle.Disk,
			idle.Cores)
	}
}

func TestSameSeedSameResult(t *testing.T) {
	c := free()
	c.Tick, c.Spread, c.Sync, c.SyncSpread, c.Deliver.Each = 1000, 0.5, 300, 1, 30
	s := external(20)
	s.PerProcess, s.Every, s.RoundTrip = 5, 50, time.Millisecond
	s.Seed = 7
	first, err := Run(c, s)
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := Run(c, s); again != first {
		t.Errorf("the same seed gives %+v, and then %+v", first, again)
	}
	s.Seed = 8
	other, _ := Run(c, s)
	if other == first {
		t.Error("another seed gives the same result")
	}
	if other.Rate > 1000 || first.Rate > 1000 || first.P99 <= first.P50 {
		t.Errorf("random times give %+v and %+v, want less than 1000 ticks a second, and P50 below P99",
			first, other)
	}
}

func TestOrderOfEvents(t *testing.T) {
	var s events
	var want, got []string
	for i := range 500 {
		at := i * 7919 % 50
		name := fmt.Sprintf("%02d %03d", at, i)
		want = append(want, name)
		s.after(time.Duration(at), func() { got = append(got, name) })
	}
	for s.next() {
	}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("the events happened in the order %v", got)
	}
}

func TestLongWorkIsInterrupted(t *testing.T) {
	var s events
	m := station{events: &s, places: 1, slice: 10}
	var order []string
	end := func(name string) func() {
		return func() { order = append(order, fmt.Sprintf("%s %d", name, s.now)) }
	}
	m.do(25, end("long"))
	m.do(5, end("short"))
	for s.next() {
	}
	if got := strings.Join(order, ", "); got != "short 15, long 30" || m.busy != 30 {
		t.Errorf("the jobs end at %q, and the station is busy for %d; want short 15, long 30, and 30", got,
			m.busy)
	}
}

func TestDepartures(t *testing.T) {
	c := &Costs{Crossings: 0.5, Locality: 1}
	for regions, want := range map[int]float64{1: 0, 2: 0.5, 4: 0.75, 1000: 0.999} {
		if got := c.Departures(regions); math.Abs(got-want) > 1e-9 {
			t.Errorf("with %d regions, the share %v of the travellers departs, want %v", regions, got, want)
		}
	}
	c.Locality = 0
	if got := c.Departures(16); math.Abs(got-2) > 1e-9 {
		t.Errorf("with 16 regions, the share %v of the travellers departs, want 2: twice that of 4 regions",
			got)
	}
}

func TestCostsAreKept(t *testing.T) {
	c := free()
	c.Tick, c.Decode, c.Append = 1.5, Coding{1, 2, 3}, Work{4, 5}
	var b bytes.Buffer
	if err := c.Write(&b); err != nil {
		t.Fatal(err)
	}
	again, err := Read(&b)
	if err != nil || *again != *c {
		t.Errorf("Read returned %+v, %v, want %+v", again, err, c)
	}
	for _, text := range []string{`{`, `{"unknown": 1}`, `{}`, `{"cores": 1, "stretch": 1}`,
		`{"cores": 1, "stretch": 1, "syncs_at_once": 1, "tick_us": -1}`,
		`{"cores": 1, "stretch": 1, "syncs_at_once": 1, "tick_serial": 2}`} {
		if _, err := Read(strings.NewReader(text)); err == nil {
			t.Errorf("Read accepts the costs %s", text)
		}
	}
}

func TestSetupErrors(t *testing.T) {
	for name, change := range map[string]func(s *Setup){
		"no regions":         func(s *Setup) { s.Regions = 0 },
		"no cores":           func(s *Setup) { s.Cores = 0 },
		"no server cores":    func(s *Setup) { s.Servers = 1 },
		"too many replicas":  func(s *Setup) { s.Replicas = 5 },
		"too few servers":    func(s *Setup) { s.Servers, s.ServerCores, s.Replicas = 2, 1, 3 },
		"no bandwidth":       func(s *Setup) { s.Bandwidth = 0 },
		"no lookahead":       func(s *Setup) { s.Lookahead = 0 },
		"a negative rate":    func(s *Setup) { s.Hz = -1 },
		"a rate of NaN":      func(s *Setup) { s.Hz = math.NaN() },
		"too hot":            func(s *Setup) { s.Hot = 4.5 },
		"too few ticks":      func(s *Setup) { s.Ticks = 1 },
		"negative roundtrip": func(s *Setup) { s.RoundTrip = -1 },
	} {
		s := setup(4)
		change(&s)
		if _, err := Run(free(), s); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
