package inspect

import (
	"encoding/json"
	"os"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

type dashboard struct {
	Title, UID    string
	SchemaVersion int
	Templating    struct {
		List []struct {
			Name, Type string
			Query      any
		}
	}
	Panels []struct {
		ID          int
		Title, Type string
		Description string
		GridPos     struct{ X, Y, W, H int }
		FieldConfig struct{ Defaults struct{ Unit string } }
		Targets     []struct{ RefID, Expr string }
	}
}

var (
	metricName = regexp.MustCompile(`\b(?:vast|go|process)_[a-z0-9_]+`)
	labelName  = regexp.MustCompile(`[{,]\s*([a-z_]+)\s*(?:=~|=|!=)`)
	byLabels   = regexp.MustCompile(`\bby \(([^)]*)\)`)
)

func TestDashboardNamesExistingMetrics(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("dashboard/vast.json")
	if err != nil {
		t.Fatal(err)
	}
	var d dashboard
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	f := newFixture(t, Options{})
	f.settle(t)
	labels := make(map[string]map[string]bool) // names of labels, by metric
	for name, family := range gather(t, f.newRegistry()) {
		known := map[string]bool{"instance": true, "job": true} // added by Prometheus
		for _, m := range family.GetMetric() {
			for _, l := range m.GetLabel() {
				known[l.GetName()] = true
			}
		}
		for _, suffix := range []string{"", "_bucket", "_sum", "_count"} {
			labels[name+suffix] = known
		}
		known["quantile"], known["le"] = true, true
	}
	check := func(where, expr string) {
		names := metricName.FindAllString(expr, -1)
		if len(names) == 0 {
			t.Errorf("%s: %q names no metric", where, expr)
		}
		if strings.Count(expr, "(") != strings.Count(expr, ")") ||
			strings.Count(expr, "{") != strings.Count(expr, "}") {
			t.Errorf("%s: the brackets of %q are not balanced", where, expr)
		}
		for _, name := range names {
			if labels[name] == nil {
				if strings.HasPrefix(name, "process_") && runtime.GOOS != "linux" {
					continue // not exported on every system
				}
				t.Errorf("%s: there is no metric %s", where, name)
				continue
			}
			for _, l := range labelName.FindAllStringSubmatch(expr, -1) {
				if !labels[name][l[1]] {
					t.Errorf("%s: %s has no label %s", where, name, l[1])
				}
			}
			for _, list := range byLabels.FindAllStringSubmatch(expr, -1) {
				for _, l := range strings.Split(list[1], ",") {
					if l = strings.TrimSpace(l); !labels[name][l] {
						t.Errorf("%s: %s has no label %s", where, name, l)
					}
				}
			}
			if counted := strings.HasSuffix(name, "_total") || strings.HasSuffix(name, "_bucket") ||
				strings.HasSuffix(name, "_sum"); counted &&
				!strings.Contains(expr, "rate(") && !strings.Contains(expr, "increase(") {
				t.Errorf("%s: %s is a counter: show its rate", where, name)
			}
		}
	}
	ids, taken := make(map[int]bool), make(map[[2]int]string)
	for _, p := range d.Panels {
		if p.Title == "" || p.Description == "" || p.FieldConfig.Defaults.Unit == "" || len(p.Targets) == 0 ||
			ids[p.ID] {
			t.Errorf("panel %d %q has no title, description, unit or target, or shares its number with "+
				"another panel", p.ID, p.Title)
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
			if !strings.Contains(target.Expr, `instance=~"$instance"`) {
				t.Errorf("%s: %q does not filter by the chosen instance", p.Title, target.Expr)
			}
		}
	}
	for _, v := range d.Templating.List {
		if query, ok := v.Query.(map[string]any); ok {
			check(v.Name, query["query"].(string))
		}
	}
	if d.Title != "Vast" || d.UID == "" || d.SchemaVersion < 36 || len(d.Templating.List) != 3 {
		t.Errorf("%+v", d.Templating)
	}
}
