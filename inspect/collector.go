package inspect

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/sched"
)

// scrapeTime is how old the figures of a world may be that are scraped: two that come together get the same.
const scrapeTime = time.Second / 2

// worldCollector tells of one world. The descriptions carry its name, so that a registry can hold those of several.
type worldCollector struct {
	sampler *sampler

	entities, changes, admitting, paused            *prometheus.Desc
	ticks, tickTime, budget, late, dropped          *prometheus.Desc
	system                                          *prometheus.Desc
	columnEntities, columnCommitted, columnReserved *prometheus.Desc
}

// collector returns the metrics of the world that is sampled.
func (s *sampler) collector() *worldCollector {
	labels := prometheus.Labels{"world": labelOf(s.census.world.Options().Name)}
	of := func(name, help string, more ...string) *prometheus.Desc {
		return prometheus.NewDesc("vast_"+name, help, more, labels)
	}
	return &worldCollector{
		sampler: s,

		entities:  of("entities", "Living entities."),
		changes:   of("structural_changes_total", "Entities made or deleted, and components added or removed."),
		admitting: of("world_admitting", "Whether the world lets the inspector look (1), or hangs (0)."),
		paused:    of("world_paused", "Whether the world is paused (1) or not (0)."),

		ticks:    of("ticks_total", "Ticks that the world's schedule made."),
		tickTime: of("tick_duration_seconds", "How long ticks took. Of those between two scrapes the last 4,096 count."),
		budget:   of("tick_budget_seconds", "The time from one tick to the next; 0 where nobody says."),
		late:     of("ticks_late_total", "Ticks that began a whole step or more after their time."),
		dropped:  of("ticks_dropped_total", "Ticks that were left out to catch up with real time."),

		system: of("system_duration_seconds", "How long a system took. Quantiles are those of its last 256 runs.", "system"),

		columnEntities:  of("column_entities", "Entities that have the component.", "column"),
		columnCommitted: of("column_committed_bytes", "Memory of a column that may be touched.", "column"),
		columnReserved:  of("column_reserved_bytes", "Addresses that a column keeps for itself.", "column"),
	}
}

// NewCollector returns the metrics of a world for a registry of the program's own, with or without an [Inspector], whose
// /metrics has them already: entities, structural changes, ticks, systems and columns, named vast_… and labelled with the
// world's name, which must differ between the worlds of a registry. What the whole program holds in memory is told by
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
	in := &Inspector{world: w} // it serves nobody, but knows the world's schedule
	return newSampler(w, in.mainSchedule, in.control).collector()
}

// Describe is for prometheus.Collector.
func (c *worldCollector) Describe(to chan<- *prometheus.Desc) {
	for _, d := range [...]*prometheus.Desc{c.entities, c.changes, c.admitting, c.paused, c.ticks, c.tickTime, c.budget, c.late,
		c.dropped, c.system, c.columnEntities, c.columnCommitted, c.columnReserved} {
		to <- d
	}
}

// Collect is for prometheus.Collector.
func (c *worldCollector) Collect(to chan<- prometheus.Metric) {
	s, out := c.sampler, scrape(to)
	survey, at := s.survey.ask(s.ctx, scrapeTime, letInTime)
	out.gauge(c.admitting, number(!at.IsZero() && time.Since(at) < admitTime))
	if !at.IsZero() {
		out.gauge(c.entities, float64(survey.entities))
		out.counter(c.changes, float64(survey.changes))
		c.collectColumns(out, survey.columns)
	}
	control := s.control()
	out.gauge(c.paused, number(control != nil && control.Paused()))
	if sc := s.schedule(); sc != nil {
		stats, budget := pace(sc, control)
		s.ticks.read(sc)
		h := s.ticks.histogram()
		out.counter(c.ticks, float64(stats.Ticks.Count))
		to <- prometheus.MustNewConstHistogram(c.tickTime, h.count, h.sum, h.buckets)
		out.gauge(c.budget, budget.Seconds())
		out.counter(c.late, float64(stats.Late))
		out.counter(c.dropped, float64(stats.Dropped))
		c.collectSystems(out, stats.Systems)
	}
}

func (c *worldCollector) collectColumns(out scrape, columns []vast.ColumnStats) {
	var sums labelled[vast.ColumnStats]
	for _, column := range columns {
		sum := sums.of(column.Name)
		sum.Entities += column.Entities
		sum.Committed += column.Committed
		sum.Reserved += column.Reserved
	}
	for label, sum := range sums.all() {
		out.gauge(c.columnEntities, float64(sum.Entities), label)
		out.gauge(c.columnCommitted, float64(sum.Committed), label)
		out.gauge(c.columnReserved, float64(sum.Reserved), label)
	}
}

func (c *worldCollector) collectSystems(out scrape, systems []sched.SystemStats) {
	type runs struct {
		systems   int
		count     uint64
		total     time.Duration
		quantiles map[float64]float64 // none for several systems
	}
	var sums labelled[runs]
	for _, s := range systems {
		sum := sums.of(s.Name)
		if sum.systems++; sum.systems == 1 && s.Recent.Count > 0 {
			sum.quantiles = map[float64]float64{0.5: s.Recent.P50.Seconds(), 0.99: s.Recent.P99.Seconds()}
		} else {
			sum.quantiles = nil
		}
		sum.count += s.Times.Count
		sum.total += s.Times.Total
	}
	for label, sum := range sums.all() {
		out <- prometheus.MustNewConstSummary(c.system, sum.count, sum.total.Seconds(), sum.quantiles, label)
	}
}

// scrape takes the figures of one scrape.
type scrape chan<- prometheus.Metric

func (s scrape) gauge(d *prometheus.Desc, v float64, labels ...string) {
	s <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
}

func (s scrape) counter(d *prometheus.Desc, v float64) {
	s <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, v)
}

func number(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
