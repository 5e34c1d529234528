package inspect

import (
	"encoding/json"
	"testing"

	"github.com/vastgo/vast/internal/longtest"
)

func TestPageNumberFormats(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	p := openPage(t, newFixture(t, Options{}), "/#/overview")
	for call, want := range map[string]string{
		"number(1234567)":    "1,234,567",
		"number(0.12345)":    "0.123",
		"number(-3)":         "-3",
		"number(2500.4)":     "2,500",
		"number('NaN')":      "NaN",
		"number(null)":       "–",
		"number(1e-9)":       "1e-9",
		"short(999)":         "999",
		"short(1234567)":     "1.23 M",
		"short(999600)":      "1.00 M",
		"short(12.5)":        "12.5",
		"bytes(0)":           "0 B",
		"bytes(1023)":        "1023 B",
		"bytes(1536)":        "1.50 KiB",
		"bytes(2 ** 40)":     "1.00 TiB",
		"bytes(100 * 2**20)": "100 MiB",
		"seconds(0)":         "0 s",
		"seconds(3.2e-8)":    "32.0 ns",
		"seconds(0.0000015)": "1.50 µs",
		"seconds(0.0166)":    "16.6 ms",
		"seconds(0.9999)":    "1.00 s",
		"seconds(200)":       "3 min 20 s",
		"seconds(7260)":      "2 h 1 min",
		"seconds('+Inf')":    "+Inf",
		"percent(0.5)":       "50 %",
		"percent(0.0123)":    "1.2 %",
		"rate(1500)":         "1.50 k/s",
		"rate(undefined)":    "–",
	} {
		var got string
		p.Eval("import('/ui.js').then(({ format }) => format."+call+".replaceAll('\\u00a0', ' '))", &got)
		if got != want {
			t.Errorf("format.%s is %q, want %q", call, got, want)
		}
	}
}

func TestPageElementsKeepHostileDataAsText(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	p := openPage(t, newFixture(t, Options{}), "/#/nowhere")
	p.waitText("main", "Unknown page")
	trap, err := json.Marshal(hostileName + "<script>window.caught = 1</script>")
	if err != nil {
		t.Fatal(err)
	}
	p.Eval(`(async () => {
		const ui = await import('/ui.js');
		const trap = `+string(trap)+`;
		document.querySelector('main').replaceChildren(
			ui.h('p', { title: trap, class: trap, data: { name: trap } }, trap, [[trap]]),
			ui.panel(trap, { tools: trap }, trap), ui.errorBox({ title: trap, message: trap }),
			ui.emptyBox(trap, trap),
			ui.h('a', { id: 'bad', href: 'javascript' + ':window.caught = 1' }, 'bad'),
			ui.h('a', { id: 'good', href: '#/entity/1.1' }, 'good'));
		ui.tip.show(10, 10, trap);
		document.getElementById('bad').click();
	})()`, nil)
	p.waitText("main p", hostileName)
	var found struct {
		Made, Caught bool
		Bad, Good    string
	}
	p.Eval(`({
		Made: Boolean(document.querySelector('img, main script, .tip script')), Caught: 'caught' in window,
		Bad: document.getElementById('bad').getAttribute('href') ?? 'none',
		Good: document.getElementById('good').getAttribute('href'),
	})`, &found)
	if found.Made || found.Caught || found.Bad != "none" || found.Good != "#/entity/1.1" {
		t.Errorf("hostile data became HTML, a script ran or a link is wrong: %+v", found)
	}
	var thrown bool
	p.Eval("import('/ui.js').then(({ h }) => { try { h('p', { onclick: 'alert(1)' }); return false; } "+
		"catch { return true; } })", &thrown)
	if !thrown {
		t.Error("h accepted a string as a listener")
	}
}
