package cluster

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

type collector struct {
	n *Node

	tick, waiting, failovers, moves, owned *prometheus.Desc // metrics of each region
	ticks, tickTime, barrierTime, inTime   *prometheus.Desc // metrics of this process
	away, processes                        *prometheus.Desc
}

// NewCollector returns a collector for a Prometheus registry. Its metrics show the cluster as the process of
// n knows it. The names of the metrics begin with vast_cluster_. The value of the label cluster is
// Options.Name. Register at most one node of each cluster in a registry. NewCollector panics if n is nil.
//
// Each process reports all regions, up to a second late. A query must therefore take the maximum over the
// processes. Each process also reports the durations of the ticks that it ran, and which regions it owns. A
// scrape makes no request to the server, so it also works while the server does not answer. After
// [Node.Close] the collector reports the last known values.
func NewCollector(n *Node) prometheus.Collector {
	if n == nil {
		panic("cluster: NewCollector: the node is nil: pass the node that Join has returned")
	}
	labels := prometheus.Labels{"cluster": n.o.Name}
	of := func(name, help string, more ...string) *prometheus.Desc {
		return prometheus.NewDesc("vast_cluster_"+name, help, more, labels)
	}
	return &collector{
		n: n,

		tick:    of("region_tick", "Number of the last tick that the region has run.", "region"),
		waiting: of("region_waiting", "Whether the region waits (1) or runs or has ended (0).", "region"),
		failovers: of("region_failovers_total",
			"How often the region got a new owner because the previous owner had died.", "region"),
		moves: of("region_moves_total",
			"How often the region got a new owner because the previous owner had given the region up.",
			"region"),
		owned: of("region_owned", "Whether this process owns the region (1) or not (0).", "region"),

		ticks: of("ticks_total", "Ticks that this process ran, of all its regions together."),
		tickTime: of("tick_duration_seconds", "Time in Machine.Tick. The quantiles cover all ticks since "+
			"this process joined; quantile 1 is the longest tick."),
		barrierTime: of("barrier_duration_seconds", "Time from when a tick was due until it began. The tick "+
			"waits for sections and inputs. The quantiles cover all ticks since this "+
			"process joined."),
		inTime: of("ticks_in_time_ratio", "Share of ticks, from 0 to 1, that ended at most one period after "+
			"they should have begun, since this process joined."),
		away: of("server_away", "Whether calls of this process wait for the NATS server (1) or not (0)."),
		processes: of("processes", "Processes of the cluster that have sent a heartbeat within their lease. "+
			"While the server does not answer, the number does not change."),
	}
}

// Describe implements prometheus.Collector.
func (c *collector) Describe(to chan<- *prometheus.Desc) {
	for _, d := range [...]*prometheus.Desc{c.tick, c.waiting, c.failovers, c.moves, c.owned, c.ticks,
		c.tickTime, c.barrierTime, c.inTime, c.away, c.processes} {
		to <- d
	}
}

// Collect implements prometheus.Collector.
func (c *collector) Collect(to chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	counter := func(d *prometheus.Desc, v float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, v, labels...)
	}
	for _, s := range c.n.Regions() {
		region := strconv.Itoa(s.Region)
		gauge(c.tick, float64(s.Tick), region)
		gauge(c.waiting, number(s.Waiting != ""), region)
		counter(c.failovers, float64(s.Failovers), region)
		counter(c.moves, float64(s.Moves), region)
		gauge(c.owned, number(c.n.view.owner(s.Region).value.Session == c.n.session), region)
	}
	t := c.n.Times()
	counter(c.ticks, float64(t.Ticks))
	to <- summary(c.tickTime, t.Ticks, t.TickTotal, t.Tick)
	to <- summary(c.barrierTime, t.Ticks, t.BarrierTotal, t.Barrier)
	if t.Ticks > 0 {
		gauge(c.inTime, t.InTime)
	}
	gauge(c.away, number(c.n.away.Load() != nil))
	gauge(c.processes, float64(c.n.view.living()))
}

// summary returns durations as a metric. If no tick has run, the metric has no quantiles.
func summary(d *prometheus.Desc, count uint64, total time.Duration, p Percentiles) prometheus.Metric {
	var quantiles map[float64]float64
	if count > 0 {
		quantiles = map[float64]float64{0.5: p.P50.Seconds(), 0.9: p.P90.Seconds(), 0.99: p.P99.Seconds(),
			1: p.Max.Seconds()}
	}
	return prometheus.MustNewConstSummary(d, count, total.Seconds(), quantiles)
}

func number(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// living returns how many processes lived when the last heartbeat of this process came back from the server.
// While the server does not answer, the number therefore does not change.
func (v *view) living() (n int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, m := range v.processes {
		if !m.value.Left && v.own.Sub(m.seen) <= v.leaseOf(m) {
			n++
		}
	}
	return n
}
