package inspect

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/sched"
)

// scrapeTime is the age up to which a scrape reuses the last survey.
const scrapeTime = time.Second / 2

// worldCollector collects the metrics of one world. Each metric has the world's name as a label, because a
// registry may hold the metrics of several worlds.
type worldCollector struct {
	sampler *sampler

	entities, changes, admitting, paused            *prometheus.Desc
	ticks, tickTime, budget, late, dropped          *prometheus.Desc
	system, events, eventsCommitted                 *prometheus.Desc
	columnEntities, columnCommitted, columnReserved *prometheus.Desc
}

func (s *sampler) collector() *worldCollector {
	labels := prometheus.Labels{"world": labelOf(s.census.world.Options().Name)}
	of := func(name, help string, more ...string) *prometheus.Desc {
		return prometheus.NewDesc("vast_"+name, help, more, labels)
	}
	return &worldCollector{
		sampler: s,

		entities: of("entities", "Live entities."),
		changes: of("structural_changes_total",
			"Entities created or deleted, and components added or removed."),
		admitting: of("world_admitting", "Whether the world admits visitors (1) or hangs (0)."),
		paused:    of("world_paused", "Whether the world is paused (1) or not (0)."),

		ticks: of("ticks_total", "Ticks of the world's schedule."),
		tickTime: of("tick_duration_seconds",
			"Duration of ticks. At most the last 4,096 ticks between two scrapes count."),
		budget:  of("tick_budget_seconds", "Time from one tick to the next; 0 if unknown."),
		late:    of("ticks_late_total", "Ticks that began at least a whole step late."),
		dropped: of("ticks_dropped_total", "Ticks skipped to catch up with real time."),

		system: of("system_duration_seconds",
			"Duration of a system's runs. The quantiles cover the last 256 runs.", "system"),
		events:          of("events_total", "Events that were sent to a queue.", "queue"),
		eventsCommitted: of("events_committed_bytes", "Committed memory of an event queue.", "queue"),

		columnEntities:  of("column_entities", "Entities that have the component.", "column"),
		columnCommitted: of("column_committed_bytes", "Committed memory of a column.", "column"),
		columnReserved:  of("column_reserved_bytes", "Reserved address space of a column.", "column"),
	}
}

// NewCollector returns the metrics of a world, for a Prometheus registry of the program. The program needs no
// [Inspector] for them. (An Inspector serves these metrics itself, at /metrics.) The metrics cover entities,
// structural changes, ticks, systems, event queues and columns. Their names begin with vast_. Their label
// world is the world's name: give the worlds of one registry different names. [NewMemoryCollector] covers the
// memory of the whole program. The collectors of the Prometheus client library cover Go's heap and the
// process.
//
// For the figures of entities, structural changes and columns, a scrape visits the world (see
// vast.World.Visit) in a few gaps between ticks. At 10 million entities, a scrape takes some tenths of a
// millisecond of each gap. The scrape waits up to half a second for its visits. If this time is too short,
// the scrape reports these figures of an earlier scrape. vast_world_admitting is 1 if these figures are less
// than two and a half seconds old, and 0 otherwise.
//
// The metrics of columns that share a name are summed up, and so are those of systems and of queues. The
// first 200 names of columns, of systems and of queues are labels. The metrics of all further columns,
// systems and queues are summed up under the label "other".
func NewCollector(w *vast.World) prometheus.Collector {
	if w == nil {
		panic("inspect: NewCollector: the world is nil")
	}
	in := &Inspector{world: w} // only finds the world's schedule and control
	return newSampler(w, in.mainSchedule, in.control).collector()
}

// Describe implements prometheus.Collector.
func (c *worldCollector) Describe(to chan<- *prometheus.Desc) {
	for _, d := range [...]*prometheus.Desc{c.entities, c.changes, c.admitting, c.paused, c.ticks, c.tickTime,
		c.budget, c.late, c.dropped, c.system, c.events, c.eventsCommitted, c.columnEntities,
		c.columnCommitted, c.columnReserved} {
		to <- d
	}
}

// Collect implements prometheus.Collector.
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
		made, _ := sc.Recent(^uint64(0), nil)
		out.counter(c.ticks, float64(made))
		to <- prometheus.MustNewConstHistogram(c.tickTime, h.count, h.sum, h.buckets)
		out.gauge(c.budget, budget.Seconds())
		out.counter(c.late, float64(stats.Late))
		out.counter(c.dropped, float64(stats.Dropped))
		c.collectSystems(out, stats.Systems)
		c.collectEvents(out, stats.Events)
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
		quantiles map[float64]float64 // nil if several systems share the label, or without recent runs
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

func (c *worldCollector) collectEvents(out scrape, queues []sched.EventStats) {
	var sums labelled[sched.EventStats]
	for _, q := range queues {
		sum := sums.of(q.Name)
		sum.Total += q.Total
		sum.Bytes += q.Bytes
	}
	for label, sum := range sums.all() {
		out.counter(c.events, float64(sum.Total), label)
		out.gauge(c.eventsCommitted, float64(sum.Bytes), label)
	}
}

type scrape chan<- prometheus.Metric

func (s scrape) gauge(d *prometheus.Desc, v float64, labels ...string) {
	s <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
}

func (s scrape) counter(d *prometheus.Desc, v float64, labels ...string) {
	s <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, v, labels...)
}

func number(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
