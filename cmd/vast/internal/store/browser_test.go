package store

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/vastgo/vast/internal/tests/browsertest"
)

func TestMain(m *testing.M) { browsertest.Main(m) }

// TestPage checks that the slider changes the moment in the inspector, and that the page compares two
// moments.
func TestPage(t *testing.T) {
	browsertest.Needed(t)
	server := servePath(t, townFolder(t))
	p := browsertest.Open(t, server.Listener.Addr().String())
	p.Window(1200, 900)
	inside := func(text string) string {
		return "document.getElementById('inspector').contentDocument.body?.innerText.includes('" + text + "')"
	}
	p.Do("open the page", chromedp.Navigate(server.URL+"/"))
	p.Until("document.getElementById('shown').textContent.includes('tick 30')")
	p.Until(inside("19"))
	p.Do("go to the oldest moment", chromedp.SetValue("#slider", "0"),
		chromedp.Evaluate("document.getElementById('slider').dispatchEvent(new Event('input'))", nil))
	p.Until("document.getElementById('shown').textContent.startsWith('tick 10, ')")
	p.Until(inside("20"))
	p.Do("go on", chromedp.Click("#newer"))
	p.Until("document.getElementById('shown').textContent.startsWith('tick 20, ')")
	p.Do("compare with the oldest", chromedp.SetValue("#before", "2"), chromedp.Click("#compare"))
	p.Until("!document.getElementById('difference').hidden")
	var text string
	p.Eval("document.getElementById('difference').innerText", &text)
	for _, want := range []string{"1 entity came, 2 went, 3 changed", "person 3 <b>", "{X: 3, Y: NaN}",
		"merry"} {
		if !strings.Contains(text, want) {
			t.Errorf("the comparison lacks %q:\n%s", want, text)
		}
	}
	p.Until("!" + inside("connecting") + " && !" + inside("…"))
	p.KeepPicture("store-look")
	p.Do("close", chromedp.Click("#hide"))
	p.Until("document.getElementById('difference').hidden")
	if said := p.Complaints(); len(said) > 0 {
		t.Errorf("the browser reported errors: %q", said)
	}
}
