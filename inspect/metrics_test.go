package inspect

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os/exec"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	validation "github.com/prometheus/common/model"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/clock/clocktest"
	"github.com/vastgo/vast/sched"
)

func gather(t *testing.T, from prometheus.Gatherer) (byName map[string]*dto.MetricFamily) {
	t.Helper()
	families, err := from.Gather()
	if err != nil {
		t.Fatal(err)
	}
	byName = make(map[string]*dto.MetricFamily)
	for _, f := range families {
		byName[f.GetName()] = f
	}
	return byName
}

// metricOf returns the metric with the given labels, each written as name=value. The result may be nil.
func metricOf(f *dto.MetricFamily, labels ...string) *dto.Metric {
	for _, m := range f.GetMetric() {
		var got []string
		for _, l := range m.GetLabel() {
			got = append(got, l.GetName()+"="+l.GetValue())
		}
		if strings.Join(got, ",") == strings.Join(labels, ",") {
			return m
		}
	}
	return nil
}

func TestMetricsAreLinted(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Options{})
	f.settle(t)
	families, err := f.newRegistry().Gather()
	if err != nil {
		t.Fatal(err)
	}
	problems, err := promlint.NewWithMetricFamilies(families).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
	pedantic := prometheus.NewPedanticRegistry()
	pedantic.MustRegister(NewCollector(f.w), NewMemoryCollector())
	gather(t, pedantic)
}

func TestMetricsPassPromtool(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is not installed")
	}
	f := newFixture(t, Options{})
	_, body := f.do(t, "GET", "/metrics", "", "")
	check := exec.Command(promtool, "check", "metrics")
	check.Stdin = bytes.NewReader(body)
	if output, err := check.CombinedOutput(); err != nil {
		t.Errorf("promtool check metrics fails: %v\n%s", err, output)
	}
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Options{})
	f.settle(t)
	status, body := f.do(t, "GET", "/metrics", "", "")
	if status != http.StatusOK {
		t.Fatalf("the answer is %d %s", status, body)
	}
	parser := expfmt.NewTextParser(validation.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	value := func(name string, labels ...string) float64 {
		m := metricOf(families[name], append(labels, "world=fixture")...)
		if m == nil {
			t.Errorf("%s has no metric with the labels %v: %v", name, labels, families[name])
			return -1
		}
		return m.GetGauge().GetValue() + m.GetCounter().GetValue()
	}
	for _, c := range []struct {
		got, want float64
		what      string
	}{
		{value("vast_entities"), 1003, "entities"},
		{value("vast_world_admitting"), 1, "admitting"},
		{value("vast_world_paused"), 0, "paused"},
		{value("vast_tick_budget_seconds"), 0.005, "the budget"},
		{value("vast_column_entities", "column=Position"), 1003, "entities with Position"},
		{value("vast_column_entities", "column=Dead"), 10, "the dead"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %v, want %v", c.what, c.got, c.want)
		}
	}
	for _, name := range []string{"vast_structural_changes_total", "vast_ticks_total"} {
		if value(name) < 1 {
			t.Errorf("%s is %v", name, value(name))
		}
	}
	if value("vast_column_committed_bytes", "column=Position") < 8*1003 {
		t.Error("the column Position has fewer committed bytes than its elements need")
	}
	ticks := metricOf(families["vast_tick_duration_seconds"], "world=fixture").GetHistogram()
	if ticks.GetSampleCount() == 0 || ticks.GetSampleSum() <= 0 || len(ticks.GetBucket()) < 10 {
		t.Errorf("the times of ticks are %v", ticks)
	}
	system := metricOf(families["vast_system_duration_seconds"], "system=move", "world=fixture").GetSummary()
	if system.GetSampleCount() == 0 || system.GetSampleSum() <= 0 ||
		len(system.GetQuantile()) != 2 {
		t.Errorf("the times of a system are %v", system)
	}
	memory := metricOf(families["vast_memory_committed_bytes"], "purpose=fixture")
	if memory.GetGauge().GetValue() < 8*1003 {
		t.Errorf("the memory of the world is %v", memory)
	}
	for _, name := range []string{"go_goroutines", "go_build_info"} {
		if families[name] == nil {
			t.Errorf("%s is missing", name)
		}
	}
}

func TestMetricsWithHostileNames(t *testing.T) {
	w := vast.NewWorld(vast.Options{Name: "a\"\n\\\x1b[31m{}"})
	defer w.Close()
	hostile := []string{
		"", "\xff\xfe", "\x1b]0;title\x07", "\"} 1\nvast_entities 7\n", `\`, "日本", "other",
		strings.Repeat("long", 10_000), "a\x00b",
		"same\xff", "same\xfe", "\u202etxt",
	}
	for i, name := range hostile {
		if name == "" {
			continue
		}
		hostile[i] = vast.NewTag(w, name).Name()
	}
	for i := range 500 {
		vast.NewTag(w, fmt.Sprint("tag", i))
	}
	schedule := sched.New(w, sched.Options{Workers: 1})
	defer schedule.Close()
	for i := range 250 {
		schedule.Add(sched.System{Name: fmt.Sprintf("s%d\x1b\xff\"\n", i), Run: func(*sched.Context) {}})
	}
	registry := prometheus.NewRegistry()
	collector := NewCollector(w)
	registry.MustRegister(collector)
	schedule.Stats() // starts the measurement
	for range 3 {
		if err := schedule.Tick(); err != nil {
			t.Fatal(err)
		}
	}
	admitted(w, func() {
		families := gather(t, registry)
		for range 100 { // on a busy machine, the world may admit the collector too late
			if families["vast_column_entities"] != nil {
				break
			}
			families = gather(t, registry)
		}
		for _, name := range []string{"vast_column_entities", "vast_column_committed_bytes",
			"vast_system_duration_seconds"} {
			if n := len(families[name].GetMetric()); n != maxLabels+1 &&
				!(name != "vast_system_duration_seconds" && n == maxLabels) {
				t.Errorf("%s has %d label values, want %d and the value other; a column named other may be "+
					"one of the %[3]d", name, n, maxLabels)
			}
		}
		other := metricOf(families["vast_system_duration_seconds"], "system=other",
			"world="+labelOf(w.Options().Name))
		if other.GetSummary().GetSampleCount() != 3*50 || len(other.GetSummary().GetQuantile()) != 0 {
			t.Errorf("the metric of the system \"other\" is %v", other)
		}
		var text bytes.Buffer
		for _, f := range families {
			if _, err := expfmt.MetricFamilyToText(&text, f); err != nil {
				t.Fatal(err)
			}
		}
		for _, r := range text.String() {
			if r != '\n' && (r < ' ' || r >= 0x7f && r < 0xa0) {
				t.Fatalf("the answer contains %q", r)
			}
		}
		parser := expfmt.NewTextParser(validation.UTF8Validation)
		parsed, err := parser.TextToMetricFamilies(&text)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(parsed["vast_entities"].GetMetric()); n != 1 {
			t.Errorf("vast_entities has %d metrics, want 1: a name was parsed as a metric", n)
		}
	})
}

func TestCollectorsOfTwoWorlds(t *testing.T) {
	clocktest.Bubble(t, func(t *testing.T) {
		one, two := vast.NewWorld(vast.Options{Name: "one"}), vast.NewWorld(vast.Options{Name: "two"})
		two.Archetype(vast.NewTag(two, "T")).New()
		stop := make(chan struct{})
		for _, w := range []*vast.World{one, two} {
			go func() {
				defer w.Close()
				for {
					select {
					case <-stop:
						return
					case <-time.After(10 * time.Millisecond):
						w.Admit(time.Millisecond)
					}
				}
			}()
		}
		registry := prometheus.NewRegistry()
		for _, w := range []*vast.World{one, two} {
			if err := registry.Register(NewCollector(w)); err != nil {
				t.Fatal(err)
			}
		}
		if err := registry.Register(NewCollector(one)); err == nil {
			t.Error("the registry accepts a second collector of one world")
		}
		families := gather(t, registry)
		for name, want := range map[string]float64{"one": 0, "two": 1} {
			if m := metricOf(families["vast_entities"], "world="+name); m == nil ||
				m.GetGauge().GetValue() != want {
				t.Errorf("the metric of the entities of %s is %v, want %v", name, m, want)
			}
			if m := metricOf(families["vast_ticks_total"], "world="+name); m != nil {
				t.Errorf("%s has no schedule, but the metric of ticks is %v", name, m)
			}
		}
		close(stop)
		synctest.Wait()
	})
}

func TestCollectorOfAWorldThatHangs(t *testing.T) {
	clocktest.Bubble(t, func(t *testing.T) {
		w := vast.NewWorld(vast.Options{Name: "w"})
		w.Archetype(vast.NewTag(w, "T")).New()
		s := newSampler(w, func() *sched.Schedule { return nil }, func() Control { return nil })
		registry := prometheus.NewRegistry()
		registry.MustRegister(s.collector())
		scrape := func() (admitting float64, entities *dto.Metric) {
			families := gather(t, registry)
			return metricOf(families["vast_world_admitting"], "world=w").GetGauge().GetValue(),
				metricOf(families["vast_entities"], "world=w")
		}
		begin := time.Now()
		if admitting, entities := scrape(); admitting != 0 || entities != nil {
			t.Errorf("before the world admits a visit, admitting is %v, entities is %v", admitting, entities)
		}
		if took := time.Since(begin); took > time.Second {
			t.Errorf("the scrape took %v, want at most a second", took)
		}
		w.Admit(time.Second)
		synctest.Wait()
		if admitting, entities := scrape(); admitting != 1 || entities.GetGauge().GetValue() != 1 {
			t.Errorf("after the world admitted a visit, admitting is %v, entities is %v", admitting, entities)
		}
		time.Sleep(10 * time.Second)
		if admitting, entities := scrape(); admitting != 0 || entities.GetGauge().GetValue() != 1 {
			t.Errorf("while the world hangs, admitting is %v, entities is %v", admitting, entities)
		}
		s.close()
		w.Close()
	})
}

func TestMonitoringIsGuarded(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Options{Addr: "0.0.0.0:0", Token: "secret", Profiling: true})
	for _, path := range []string{"/metrics", "/debug/vars", "/debug/pprof/", "/debug/pprof/heap"} {
		if status, body := f.do(t, "GET", path, "", ""); status != http.StatusUnauthorized {
			t.Errorf("the answer to %s without a token is %d %.100s", path, status, body)
		}
		if status, body := f.do(t, "GET", path, "secret", ""); status != http.StatusOK {
			t.Errorf("the answer to %s with the token is %d %.100s", path, status, body)
		}
	}
	r, err := http.NewRequestWithContext(context.Background(), "GET", f.at("/metrics"), nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Origin", "http://evil.example")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusForbidden {
		t.Errorf("the answer to a request from another site has the status %d", answer.StatusCode)
	}
}

func TestFurtherCollectors(t *testing.T) {
	boats := prometheus.NewGauge(prometheus.GaugeOpts{Name: "boats", Help: "Boats at sea."})
	boats.Set(7)
	f := newFixture(t, Options{Collectors: []prometheus.Collector{boats}})
	status, body := f.do(t, "GET", "/metrics", "", "")
	for _, want := range []string{"\nboats 7\n", "\nvast_entities{", "\ngo_goroutines "} {
		if status != http.StatusOK || !strings.Contains(string(body), want) {
			t.Errorf("the answer with the status %d lacks %q", status, want)
		}
	}
}

func TestWrongCollectors(t *testing.T) {
	w := vast.NewWorld(vast.Options{Name: "w"})
	defer w.Close()
	boats := prometheus.NewGauge(prometheus.GaugeOpts{Name: "boats", Help: "Boats at sea."})
	l, err := listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	for want, list := range map[string][]prometheus.Collector{
		"Collectors[1] is nil":                       {boats, nil},
		"Collectors[0]: duplicate metrics collector": {NewCollector(w)},
		"Collectors[1]: duplicate metrics collector": {boats, boats},
	} {
		func() {
			defer func() {
				v := fmt.Sprint(recover())
				if !strings.Contains(v, want) || !strings.Contains(v, "leave the collector out") {
					t.Errorf("the panic is %q, want %q", v, want)
				}
			}()
			_, err := Serve(t.Context(), w, Options{Addr: addr, Collectors: list})
			t.Errorf("Serve returned %v, want a panic with %q", err, want)
		}()
	}
	if l, err = listen(addr); err != nil {
		t.Fatalf("Serve still listens after a panic: %v", err)
	}
	l.Close()
}

func TestNewCollectorOfNoWorld(t *testing.T) {
	defer func() {
		if v := fmt.Sprint(recover()); !strings.Contains(v, "NewCollector: the world is nil") {
			t.Errorf("the panic is %q", v)
		}
	}()
	NewCollector(nil)
}
