package inspect

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/sched"
)

// scrapeTime is how old the figures of a world may be that are scraped: two that come together get the same.
const scrapeTime = time.Second / 2

// What is told of a world. Each has the world's name as its first label.
var (
	descEntities  = desc("entities", "Living entities.", "world")
	descChanges   = desc("structural_changes_total", "Entities made or deleted, and components added or removed.", "world")
	descAdmitting = desc("world_admitting", "Whether the world lets the inspector look (1), or hangs (0).", "world")
	descPaused    = desc("world_paused", "Whether the world is paused (1) or not (0).", "world")

	descTicks    = desc("ticks_total", "Ticks that the world's schedule made.", "world")
	descTickTime = desc("tick_duration_seconds", "How long ticks took. Of those between two scrapes the last 4,096 count.", "world")
	descBudget   = desc("tick_budget_seconds", "The time from one tick to the next; 0 where nobody says.", "world")
	descLate     = desc("ticks_late_total", "Ticks that began a whole step or more after their time.", "world")
	descDropped  = desc("ticks_dropped_total", "Ticks that were left out to catch up with real time.", "world")

	descSystem = desc("system_duration_seconds", "How long a system took. Quantiles are those of its last 256 runs.", "world", "system")

	descColumnEntities  = desc("column_entities", "Entities that have the component.", "world", "column")
	descColumnCommitted = desc("column_committed_bytes", "Memory of a column that may be touched.", "world", "column")
	descColumnReserved  = desc("column_reserved_bytes", "Addresses that a column keeps for itself.", "world", "column")
)

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("vast_"+name, help, labels, nil)
}

// worldCollector tells of one world.
type worldCollector struct {
	sampler *sampler
	world   string
}

// NewCollector returns the metrics of a world for a registry of the program's own, with or without an [Inspector], whose
// /metrics has them already: entities, structural changes, ticks, systems and columns, named vast_… and labelled with the world's
// name, which must differ between the worlds of a registry. What the whole program holds in memory is told by
// [NewMemoryCollector]; Go's heap and the process by the collectors that come with the client library.
//
// A scrape looks at the world as any visitor does (see vast.World.Visit), for some tenths of a millisecond at 10 million
// entities in each of a few gaps between ticks, and waits up to half a second to be let in. When it is not, it tells the
// last figures, and vast_world_admitting is 0. Between scrapes it asks nobody anything. The first 200 columns and systems are
// told of one by one, and the others in one as "other".
func NewCollector(w *vast.World) prometheus.Collector {
	if w == nil {
		panic("inspect: NewCollector: the world is nil")
	}
	return newSampler(w, func() *sched.Schedule { return scheduleOf(w) }, func() Control { return nil }).collector()
}

// collector returns the metrics of the world that is sampled.
func (s *sampler) collector() *worldCollector {
	return &worldCollector{s, labelOf(s.census.world.Options().Name)}
}

// Describe is for prometheus.Collector.
func (c *worldCollector) Describe(to chan<- *prometheus.Desc) {
	for _, d := range [...]*prometheus.Desc{descEntities, descChanges, descAdmitting, descPaused, descTicks, descTickTime, descBudget,
		descLate, descDropped, descSystem, descColumnEntities, descColumnCommitted, descColumnReserved} {
		to <- d
	}
}

// Collect is for prometheus.Collector.
func (c *worldCollector) Collect(to chan<- prometheus.Metric) {
	s, out := c.sampler, scrape{to, c.world}
	survey, at := s.survey.ask(s.ctx, scrapeTime, letInTime)
	out.gauge(descAdmitting, number(!at.IsZero() && time.Since(at) < admitTime))
	if !at.IsZero() {
		out.gauge(descEntities, float64(survey.entities))
		out.counter(descChanges, float64(survey.changes))
		out.columns(survey.columns)
	}
	control := s.control()
	out.gauge(descPaused, number(control != nil && control.Paused()))
	if sc := s.schedule(); sc != nil {
		stats, budget := pace(sc, control)
		s.ticks.read(sc)
		h := s.ticks.histogram()
		out.counter(descTicks, float64(stats.Ticks.Count))
		out.to <- prometheus.MustNewConstHistogram(descTickTime, h.count, h.sum, h.buckets, c.world)
		out.gauge(descBudget, budget.Seconds())
		out.counter(descLate, float64(stats.Late))
		out.counter(descDropped, float64(stats.Dropped))
		out.systems(stats.Systems)
	}
}

// scrape hands out the figures of one scrape.
type scrape struct {
	to    chan<- prometheus.Metric
	world string
}

func (m scrape) gauge(d *prometheus.Desc, v float64, labels ...string) {
	m.to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, append([]string{m.world}, labels...)...)
}

func (m scrape) counter(d *prometheus.Desc, v float64) {
	m.to <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, v, m.world)
}

func (m scrape) columns(columns []vast.ColumnStats) {
	var sums labelled[vast.ColumnStats]
	for _, c := range columns {
		sum := sums.of(c.Name)
		sum.Entities += c.Entities
		sum.Committed += c.Committed
		sum.Reserved += c.Reserved
	}
	for label, sum := range sums.all() {
		m.gauge(descColumnEntities, float64(sum.Entities), label)
		m.gauge(descColumnCommitted, float64(sum.Committed), label)
		m.gauge(descColumnReserved, float64(sum.Reserved), label)
	}
}

func (m scrape) systems(systems []sched.SystemStats) {
	type sum struct {
		runs      uint64
		total     time.Duration
		quantiles map[float64]float64 // nil for several systems
	}
	var sums labelled[sum]
	for _, s := range systems {
		sum := sums.of(s.Name)
		if sum.quantiles = nil; sum.runs == 0 && s.Recent.Count > 0 {
			sum.quantiles = map[float64]float64{0.5: s.Recent.P50.Seconds(), 0.99: s.Recent.P99.Seconds()}
		}
		sum.runs += s.Times.Count
		sum.total += s.Times.Total
	}
	for label, sum := range sums.all() {
		m.to <- prometheus.MustNewConstSummary(descSystem, sum.runs, sum.total.Seconds(), sum.quantiles, m.world, label)
	}
}

func number(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
