package inspect

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestPagePictures saves pictures of each page if VAST_SCREENSHOTS names a directory.
func TestPagePictures(t *testing.T) {
	t.Parallel()
	if os.Getenv("VAST_SCREENSHOTS") == "" {
		t.Skip("VAST_SCREENSHOTS names no directory")
	}
	f := newFixtureOf(t, Options{ReadWrite: true, Attribution: []string{"Land: somebody"}}, 200_000)
	p := openPage(t, f, "/#/overview")
	p.waitPage("overview")
	addresses := append(p.pagesListed(), "entity/"+f.london.String(), "queries?query="+"Position%2C+Infected",
		"entities?query=Infected%2C+%21Dead")
	for _, size := range [][2]int{{360, 780}, {1280, 900}, {2560, 1400}} {
		p.Window(size[0], size[1])
		for _, theme := range []string{"light", "dark"} {
			if theme == "dark" && size[0] != 1280 {
				continue
			}
			p.Prefer(theme)
			for _, address := range addresses {
				id, _, _ := strings.Cut(strings.Split(address, "/")[0], "?")
				p.Eval(fmt.Sprintf("location.hash = '#/nowhere'; location.hash = '#/%s'", address), nil)
				p.waitPage(id)
				// Wait for an event of the stream and for the drawing of the event.
				p.Eval("(async () => { const api = await import('/api.js'); await new Promise((done) => { "+
					"const stop = api.stream('overview', { onEvent() { stop(); done(); } }); }); })()", nil)
				p.Eval("new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))",
					nil)
				name := strings.NewReplacer("/", "-", "?", "-", "%", "", "=", "", "+", "").Replace(address)
				if strings.HasPrefix(address, "entity/") {
					name = "entity"
				}
				p.KeepPicture(fmt.Sprintf("%s-%d-%s", name, size[0], theme))
			}
		}
	}
}
