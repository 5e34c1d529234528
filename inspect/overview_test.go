package inspect

import (
	"testing"
)

func TestOverview(t *testing.T) {
	f := newFixture(t, Options{Profiling: true})
	var got overview
	f.get(t, "overview", &got)
	t.Logf("%+v", got)
	t.Logf("%+v", got.Now.Pace)
	var c Costs
	f.get(t, "costs", &c)
	t.Logf("%+v", c)
	_, text := f.do(t, "GET", "/metrics", "", "")
	t.Logf("%s", text)
	_, text = f.do(t, "GET", "/debug/pprof/", "", "")
	t.Logf("%s", text)
	_, text = f.do(t, "GET", "/debug/vars", "", "")
	t.Logf("%s", text)
}
