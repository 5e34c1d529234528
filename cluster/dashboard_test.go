package cluster

import (
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// dashboard is the part of a Grafana dashboard that this test reads.
type dashboard struct {
	Title, UID string
	Templating struct {
		List []struct {
			Name  string
			Query any
		}
	}
	Panels []struct {
		ID                 int
		Title, Description string
		GridPos            struct{ X, Y, W, H int }
		FieldConfig        struct{ Defaults struct{ Unit string } }
		Targets            []struct{ Expr, LegendFormat string }
	}
}

var (
	metricName = regexp.MustCompile(`\bvast_cluster_[a-z_]+(\{[^}]*\})?`)
	byLabels   = regexp.MustCompile(`\bby \(([^)]*)\)`)
)

// exported describes the metrics of a node, by name.
type exported map[string]struct {
	labels  []string
	counter bool
	summary bool
}

func exportedMetrics(t *testing.T) exported {
	w := newWorld(1, 5)
	n := join(t, w.options(t, ""))
	wait(t, n)
	all := make(exported)
	for key, m := range gather(t, n) {
		name, _, _ := strings.Cut(key, "/")
		e := all["vast_cluster_"+name]
		e.labels = []string{"instance"} // Prometheus adds this label
		for _, l := range m.GetLabel() {
			e.labels = append(e.labels, l.GetName())
		}
		e.counter, e.summary = m.GetCounter() != nil, m.GetSummary() != nil
		all["vast_cluster_"+name] = e
	}
	return all
}

func TestDashboard(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("dashboard/cluster.json")
	if err != nil {
		t.Fatal(err)
	}
	var d dashboard
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	all := exportedMetrics(t)
	if len(all) < 11 {
		t.Errorf("a node exports %d metrics, want at least 11", len(all))
	}
	shown := make(map[string]bool)
	check := func(where, expr string) {
		for _, s := range metricName.FindAllStringSubmatch(expr, -1) {
			name, _, _ := strings.Cut(s[0], "{")
			m, known := all[name]
			for _, suffix := range []string{"_sum", "_count"} {
				base, cut := strings.CutSuffix(name, suffix)
				if of := all[base]; cut && of.summary {
					name, m, known = base, of, true
					m.counter = true
				}
			}
			if !known {
				t.Errorf("%s: there is no metric %s", where, name)
				continue
			}
			shown[name] = true
			if where != "cluster" && !strings.Contains(s[1], `cluster=~"$cluster"`) {
				t.Errorf("%s: %s is not limited to the chosen clusters", where, name)
			}
			rate := strings.Contains(expr, "rate(") || strings.Contains(expr, "increase(")
			if m.counter && !rate {
				t.Errorf("%s: %s only grows: show its rate", where, name)
			} else if rate && !m.counter {
				t.Errorf("%s: %s is not a counter", where, name)
			}
			for _, list := range byLabels.FindAllStringSubmatch(expr, -1) {
				for l := range strings.SplitSeq(list[1], ", ") {
					if !slices.Contains(m.labels, l) {
						t.Errorf("%s: %s has no label %s", where, name, l)
					}
				}
			}
		}
		for _, pair := range []string{"()", "{}", "[]"} {
			if strings.Count(expr, pair[:1]) != strings.Count(expr, pair[1:]) {
				t.Errorf("%s: %q is not balanced", where, expr)
			}
		}
	}
	ids, taken := make(map[int]bool), make(map[[2]int]string)
	for _, p := range d.Panels {
		if p.Title == "" || p.Description == "" || p.FieldConfig.Defaults.Unit == "" || len(p.Targets) == 0 ||
			ids[p.ID] {
			t.Errorf("panel %d %q lacks a title, a description, a unit, a target or a unique "+
				"number", p.ID, p.Title)
		}
		ids[p.ID] = true
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				if other, there := taken[[2]int{x, y}]; there || x >= 24 {
					t.Fatalf("panel %q overlaps panel %q or the right edge", p.Title, other)
				}
				taken[[2]int{x, y}] = p.Title
			}
		}
		for _, target := range p.Targets {
			check(p.Title, target.Expr)
			if !strings.Contains(target.LegendFormat, "{{") {
				t.Errorf("%s: the legend %q does not name the series", p.Title, target.LegendFormat)
			}
		}
	}
	for _, v := range d.Templating.List {
		if query, ok := v.Query.(map[string]any); ok {
			check(v.Name, query["query"].(string))
		}
	}
	if d.Title != "Vast cluster" || d.UID == "" || len(d.Templating.List) != 2 {
		t.Errorf("the title is %q, the UID %q, and the variables are %+v", d.Title, d.UID, d.Templating)
	}
	page, err := os.ReadFile("../docs/operating-a-cluster.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if !shown[name] {
			t.Errorf("the dashboard does not show %s", name)
		}
		if !strings.Contains(string(page), "| `"+name+"` |") {
			t.Errorf("docs/operating-a-cluster.md does not describe %s", name)
		}
	}
}
