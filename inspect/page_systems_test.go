package inspect

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp/kb"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/longtest"
	"github.com/vastgo/vast/internal/tests/browsertest"
	"github.com/vastgo/vast/sched"
)

// openSystems opens the systems page with the token.
func openSystems(t *testing.T, f *fixture) *tab {
	t.Helper()
	p := openPage(t, f, "/#token="+f.options.Token)
	p.Do("focus", emulation.SetFocusEmulationEnabled(true))
	p.wait("#nav a")
	p.Eval("location.hash = '#/systems'", nil)
	p.waitPage("systems")
	return p
}

func TestSystemsPage(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Options{ReadWrite: true})
	hostile := hostileName
	other := sched.New(f.w, sched.Options{Workers: 1})
	defer other.Close()
	other.Add(sched.System{Name: hostile, Phase: sched.Phase(hostile),
		ReadsResources: sched.Resources(sched.ResourceOf[Note]()), Run: func(*sched.Context) {}})
	if err := other.Build(); err != nil {
		t.Fatal(err)
	}
	p := openSystems(t, f)
	p.Until("document.querySelectorAll('.cost-table tbody tr.pick').length === 3")
	p.Until("/^[0-9]/.test(document.querySelector('.cost-table .cost-percent').textContent)")

	// In the graph, dependencies run from left to right. A focused edge shows the reason for the dependency.
	p.Until("document.querySelectorAll('.graph-node').length === 3 && " +
		"document.querySelectorAll('.graph-edge').length === 2")
	left := func(system string) string {
		return fmt.Sprintf("document.querySelector('.graph-node[data-system=%s]').getBoundingClientRect()",
			system)
	}
	p.Until(left("move") + ".right < " + left("count") + ".left")
	p.Until(left("infect") + ".top >= " + left("move") + ".bottom || " + left("move") + ".top >= " +
		left("infect") + ".bottom")
	p.Eval(`[...document.querySelectorAll('.graph-edge')]
		.find((e) => e.getAttribute('aria-label').startsWith('move')).focus()`, nil)
	p.waitText(".tip:not([hidden])", "move writes Position, count reads it")
	p.Press(kb.Escape)
	p.Until("document.querySelector('.tip').hidden")

	// A click on a column marks the systems that use the column.
	p.click(".graph-node[data-system=move] .graph-column[data-kind=writes]")
	for system, uses := range map[string]string{"move": "writes", "count": "reads", "infect": "none"} {
		p.wait(fmt.Sprintf(".graph-node[data-system=%s][data-uses=%s]", system, uses))
	}
	p.click(".graph-node[data-system=move] .graph-column[data-kind=writes]")
	p.Until("!document.querySelector('.graph-node[data-uses]')")

	p.click(".cost-table th:first-child button")
	p.Until(`[...document.querySelectorAll('.cost-table tbody tr.pick .cost-name')]
		.map((e) => e.textContent).join() === 'count,infect,move'`)
	p.click(".cost-table tr:nth-child(2) .cost-name")
	p.wait(".graph-node.chosen")

	// The page shows the hostile names of the other schedule as text.
	p.Eval(fmt.Sprintf(`(() => {
		const s = document.querySelector('.systems-control select');
		s.value = '%d';
		s.dispatchEvent(new Event('change'));
	})()`, other.ID()), nil)
	p.Until("document.querySelectorAll('.graph-node').length === 1")
	if name := p.text(".graph-name"); name != hostile {
		t.Errorf("the name of the system is %q, want %q", name, hostile)
	}
	if phase := p.text(".graph-phase b"); phase != hostile {
		t.Errorf("the name of the phase is %q, want %q", phase, hostile)
	}
	p.Until("!document.querySelector('main img')")
}

func TestSystemsPagePausesAndSteps(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Options{ReadWrite: true})
	p := openSystems(t, f)
	p.waitText(".timeline-summary", "took")
	tick := "Number(document.querySelector('.meter-value').textContent.replaceAll(',', ''))"
	p.Press(" ")
	p.waitText(".systems-state", "paused")
	if !f.schedule.Paused() {
		t.Error("the page says that the program is paused, but it runs")
	}
	f.see(t, func() {}) // waits until the current tick has ended
	at := f.schedule.Stats().Tick
	p.Press(".")
	at++
	p.Until(fmt.Sprintf("%s === %d", tick, at))
	p.Until(fmt.Sprintf("document.querySelector('.timeline-summary .num').textContent"+
		".replaceAll(',', '') === '%d'", at))
	p.click(".systems-control .group button:nth-child(2)") // the button +10
	at += 10
	p.Until(fmt.Sprintf("%s === %d", tick, at))
	if now := f.schedule.Stats().Tick; now != at {
		t.Errorf("the last tick of the schedule is %d, but the page shows tick %d", now, at)
	}

	// The timeline is drawn, and the arrow keys select its spans.
	p.Until(`(() => {
		const c = document.querySelector('.timeline-canvas');
		const data = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
		const colors = new Set();
		for (let i = 0; i < data.length; i += 4) colors.add(data[i] << 16 | data[i + 1] << 8 | data[i + 2]);
		return colors.size > 4;
	})()`)
	p.Eval("document.querySelector('.timeline-canvas').focus()", nil)
	p.Press(kb.ArrowRight)
	p.waitText(".timeline-said", "on worker")
	first := p.text(".timeline-said")
	p.Press(kb.ArrowRight + kb.ArrowRight)
	p.Until(fmt.Sprintf("document.querySelector('.timeline-said').textContent !== %q", first))
	p.Press("++0")

	p.Eval("document.activeElement.blur()", nil)
	p.Press(" ")
	p.waitText(".systems-state", "running")
	if f.schedule.Paused() {
		t.Error("the page says that the program runs, but it is paused")
	}
	p.KeepPicture("systems")
}

// TestSystemsPageReadOnly: if pausing is not allowed, the page says why.
func TestSystemsPageReadOnly(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	f := newFixture(t, Options{})
	p := openPage(t, f, "/#/systems")
	p.waitPage("systems")
	p.waitText(".systems-reason", "ReadWrite")
	p.Until("[...document.querySelectorAll('.systems-control button')].every((b) => b.disabled)")
	p.Press(" .")
	p.waitText(".systems-state", "running")
	if f.schedule.Paused() {
		t.Error("a key paused the program")
	}
}

func TestSystemsPageWithoutSchedule(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	browsertest.Needed(t)
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	in, err := Serve(t.Context(), w, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	// There is no schedule, so the test admits the visits.
	admitted := make(chan struct{})
	stop := make(chan struct{})
	go func() {
		defer close(admitted)
		w.Idle(func() { <-stop })
	}()
	defer func() {
		close(stop)
		<-admitted
	}()
	p := openPage(t, &fixture{Inspector: in, w: w}, "/#/systems")
	p.waitPage("systems")
	p.waitText(".systems-body", "The world has no schedule")
	if reason := p.text(".systems-reason"); !strings.Contains(reason, "Options.Control") {
		t.Errorf("the reason is %q, want Options.Control in it", reason)
	}
}

// TestLayers lays out random graphs: each edge leads to the right, no edge runs through a vertex, and no
// vertices overlap.
func TestLayers(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	p := openPage(t, newFixture(t, Options{}), "/#/systems")
	p.waitPage("systems")
	var wrong []string
	p.Eval(`import('./graph-layers.js').then(({ layered }) => {
		const wrong = [];
		let seed = 1;
		const random = (n) => {
			seed = (seed * 1103515245 + 12345) % 2147483648;
			return Math.floor((seed / 2147483648) * n);
		};
		for (let round = 0; round < 200 && wrong.length < 5; round++) {
			const n = random(25);
			const heights = Array.from({ length: n }, () => 20 + random(60));
			const edges = [];
			for (let to = 1; to < n; to++) {
				for (let from = 0; from < to; from++) if (random(100) < 100 / n) edges.push({ from, to });
			}
			const size = { width: 100, gapX: 30, gapY: 5 };
			const { points, routes, height } = layered.place(heights, edges, size);
			const say = (what) => wrong.push('round ' + round + ': ' + what);
			if (points.length !== n || routes.length !== edges.length) say('a point or a route is missing');
			for (const [i, a] of points.entries()) {
				if (!(a.y >= 0 && a.y + heights[i] <= height + 1e-6 && a.x >= 0 &&
					a.x < layered.depth(n, edges) * (size.width + size.gapX))) say(i + ' lies outside');
				for (let k = 0; k < i; k++) {
					const b = points[k];
					if (a.x === b.x && a.y < b.y + heights[k] + size.gapY - 1e-6 &&
						b.y < a.y + heights[i] + size.gapY - 1e-6) say(i + ' touches ' + k);
				}
			}
			for (const [i, route] of routes.entries()) {
				const { from, to } = edges[i];
				if (route[0].x !== points[from].x + size.width || route.at(-1).x !== points[to].x ||
					points[from].x >= points[to].x) say('an edge leads to a wrong vertex');
				for (let k = 1; k < route.length; k++) {
					if (!(route[k].x > route[k - 1].x)) say('an edge turns back');
					// A route may bend between layers. Inside a layer, a route passes between the vertices.
					for (const [v, c] of points.entries()) {
						if (v !== from && v !== to && route[k].x === c.x && route[k].y > c.y &&
							route[k].y < c.y + heights[v]) say('an edge runs through ' + v);
					}
				}
			}
		}
		if (layered.depth(0, []) !== 0 || layered.place([], [], { width: 1, gapX: 1, gapY: 1 }).height !== 0)
			wrong.push('an empty graph takes room');
		return wrong;
	})`, &wrong)
	for _, w := range wrong {
		t.Error(w)
	}
}
