package cluster

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"

	"github.com/vastgo/vast/cluster/internal/storage"
	"github.com/vastgo/vast/internal/longtest"
)

// metrics are the metrics of a node. The keys are names, such as processes, or a name and a region, such as
// region_tick/2.
type metrics map[string]*dto.Metric

func gather(t *testing.T, n *Node) metrics {
	t.Helper()
	r := prometheus.NewPedanticRegistry()
	r.MustRegister(NewCollector(n))
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	problems, err := promlint.NewWithMetricFamilies(families).Lint()
	if err != nil || len(problems) > 0 {
		t.Errorf("promlint found the problems %v, %v", problems, err)
	}
	all := make(metrics)
	for _, f := range families {
		for _, m := range f.GetMetric() {
			name, ok := strings.CutPrefix(f.GetName(), "vast_cluster_")
			labels := m.GetLabel()
			if !ok || labels[0].GetName() != "cluster" || labels[0].GetValue() != n.o.Name {
				t.Errorf("%s has the labels %v", f.GetName(), labels)
			}
			for _, l := range labels[1:] {
				if l.GetName() != "region" {
					t.Errorf("%s has the label %v", f.GetName(), l)
				}
				name += "/" + l.GetValue()
			}
			all[name] = m
		}
	}
	return all
}

// value returns the value of a gauge or counter, or -1 if there is no such metric.
func (m metrics) value(name string) float64 {
	if m[name] == nil {
		return -1
	}
	return m[name].GetGauge().GetValue() + m[name].GetCounter().GetValue()
}

func (m metrics) sum(name string) (sum float64) {
	for key := range m {
		if strings.HasPrefix(key, name+"/") {
			sum += m.value(key)
		}
	}
	return sum
}

func TestCollector(t *testing.T) {
	t.Parallel()
	w := newWorld(3, 100)
	w.slow.Store(int64(time.Millisecond))
	n := join(t, w.options(t, ""))
	wait(t, n)
	m := gather(t, n)
	for r := range 3 {
		for name, want := range map[string]float64{"tick": 100, "waiting": 0, "failovers_total": 0,
			"moves_total": 0, "owned": 1} {
			if got := m.value(fmt.Sprintf("region_%s/%d", name, r)); got != want {
				t.Errorf("%s of region %d: %v, want %v", name, r, got, want)
			}
		}
	}
	times := n.Times()
	for name, want := range map[string]float64{"ticks_total": 300, "ticks_in_time_ratio": times.InTime,
		"server_away": 0, "processes": 1} {
		if got := m.value(name); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	for name, want := range map[string]struct {
		total time.Duration
		p     Percentiles
	}{
		"tick_duration_seconds":    {times.TickTotal, times.Tick},
		"barrier_duration_seconds": {times.BarrierTotal, times.Barrier},
	} {
		got := m[name].GetSummary()
		if got.GetSampleCount() != 300 || got.GetSampleSum() != want.total.Seconds() {
			t.Errorf("%s: %v, want 300 ticks with the sum %v", name, got, want.total)
		}
		var quantiles []float64
		for _, q := range got.GetQuantile() {
			quantiles = append(quantiles, q.GetQuantile(), q.GetValue())
		}
		if !slices.Equal(quantiles, []float64{0.5, want.p.P50.Seconds(), 0.9, want.p.P90.Seconds(), 0.99,
			want.p.P99.Seconds(), 1, want.p.Max.Seconds()}) {
			t.Errorf("%s has the quantiles %v, want %+v", name, quantiles, want.p)
		}
	}
	if times.TickTotal < 300*time.Millisecond || times.Tick.P50 < time.Millisecond {
		t.Errorf("300 ticks that each sleep for a millisecond took %v in total, and their median is %v",
			times.TickTotal, times.Tick.P50)
	}
	closeAll(t, n)
	if m := gather(t, n); m.value("ticks_total") != 300 || m.sum("region_tick") != 300 {
		t.Errorf("after Close, the metrics are %v", m)
	}
}

func TestCollectorsOfSeveralNodes(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	at := storage.ServerOptions{Dir: t.TempDir(), Host: "127.0.0.1", Port: -1, SyncInterval: time.Minute}
	server, err := storage.StartServer(at)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	w := newWorld(4, 0)
	w.slow.Store(int64(5 * time.Millisecond))
	with := func(lease time.Duration, observe bool) Options {
		o := w.options(t, server.URL())
		o.Lease, o.Observe = lease, observe
		return o
	}
	// Only the second node dies, so only its lease is short. A busy machine may delay heartbeats, so the
	// leases of the other nodes are longer.
	const lease = 2 * time.Second
	a := join(t, with(lease, false))
	until(t, "the first node has all regions", func() bool { return gather(t, a).sum("region_owned") == 4 })
	b := join(t, with(lease/2, false))
	until(t, "both nodes have two regions", func() bool {
		return gather(t, a).sum("region_owned") == 2 && gather(t, b).sum("region_owned") == 2
	})
	c := join(t, with(lease, true))
	for _, n := range []*Node{a, b, c} {
		until(t, "a node knows the moves and the processes", func() bool {
			m := gather(t, n)
			return m.sum("region_moves_total") == 2 && m.sum("region_failovers_total") == 0 &&
				m.value("processes") == 3
		})
	}
	m := gather(t, c)
	if m.sum("region_owned") != 0 || m.value("ticks_total") != 0 || m["ticks_in_time_ratio"] != nil ||
		m["tick_duration_seconds"].GetSummary() == nil ||
		len(m["tick_duration_seconds"].GetSummary().GetQuantile()) != 0 {
		t.Errorf("the metrics of a node without regions are %v", m)
	}

	if err := b.kill(); err != nil {
		t.Fatal(err)
	}
	until(t, "the first node has the regions of the dead one", func() bool {
		return gather(t, c).sum("region_failovers_total") == 2 && gather(t, a).sum("region_owned") == 4
	})
	// Each node counts the processes when its own heartbeat comes back from the server.
	for _, n := range []*Node{a, c} {
		until(t, "a node knows that the second node has died", func() bool {
			return gather(t, n).value("processes") == 2
		})
	}
	until(t, "the regions run", func() bool { return gather(t, c).sum("region_waiting") == 0 })

	server.Close()
	until(t, "the regions wait for the server", func() bool {
		m := gather(t, a)
		return m.value("server_away") == 1 && m.sum("region_waiting") == 4
	})
	time.Sleep(lease + time.Second/2)
	if m := gather(t, a); m.value("processes") != 2 || m.sum("region_owned") != 4 {
		t.Errorf("while the server is away, the metrics are %v", m)
	}
}

func TestNewCollectorOfNoNode(t *testing.T) {
	defer func() {
		if v := fmt.Sprint(recover()); !strings.Contains(v, "NewCollector: the node is nil") {
			t.Errorf("panicked with %q", v)
		}
	}()
	NewCollector(nil)
}
