package inspect

import (
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/vastgo/vast/internal/longtest"
)

func TestMapDrawsAndFindsEntities(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	f := newFixture(t, Options{})
	p := openPage(t, f, "/#/map?at=2,50,150")
	p.waitPage("map")
	p.Until("Number(document.querySelector('.map-layer .num').textContent.replaceAll(',', '')) >= 1")
	p.Until(`(() => {
		const c = document.querySelector('.map-canvas');
		const pixels = new Uint32Array(c.getContext('2d').getImageData(0, 0, c.width, c.height).data.buffer);
		return new Set(pixels).size > 8;
	})()`)
	if got := p.attribute(".map-layer", "aria-pressed"); got != "true" {
		t.Errorf("aria-pressed of the first layer is %s, want true", got)
	}
	p.click(".map-layer")
	p.Until("document.querySelector('.map-layer').getAttribute('aria-pressed') === 'false'")

	p.click(".map-canvas") // in the middle, at (2, 50), is the town with the hostile name
	p.waitText(".map-side h2", hostileName)
	p.waitText(".map-side", "Entity "+f.hostile.String())
	p.Until("!document.querySelector('.map-side img')")
	p.Until("location.hash.includes('entity=" + f.hostile.String() + "')")
	p.Press(kb.Escape)
	p.Until("document.querySelector('.map-side').hidden")
}

func TestMapSearchAndKeys(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	f := newFixture(t, Options{})
	p := openPage(t, f, "/#/map")
	p.waitPage("map")
	p.Until("document.querySelector('.map-canvas').width > 300")
	p.Press("/")
	p.Until("document.activeElement.type === 'search'")
	p.fill(".map-search input", "lond")
	p.waitText(".map-found [aria-selected=true]", "London")
	p.Press(kb.Enter)
	p.waitText(".map-side h2", "London")
	p.Until("location.hash.includes('entity=" + f.london.String() + "')")

	place := func() (text string) {
		p.Eval("new URLSearchParams(location.hash.split('?')[1]).get('at') ?? ''", &text)
		return text
	}
	p.Until("location.hash.includes('at=')")
	for _, key := range []string{"+", kb.ArrowRight, "-", "0"} {
		before := place()
		p.Eval("document.querySelector('.map-canvas').focus()", nil)
		p.Press(key)
		p.Until("(new URLSearchParams(location.hash.split('?')[1]).get('at') ?? '') !== '" + before + "'")
	}
	p.Until("location.hash.includes('500%2C500%2C')") // the key 0 centres the plane
}

func TestMapByLinkToEntity(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	f := newFixture(t, Options{})
	p := openPage(t, f, "/#/map?entity="+f.paris.String())
	p.waitText(".map-side h2", "Paris")
	p.Until("/at=-?[0-9.]+%2C50%2C/.test(location.hash)")
}

func (p *tab) attribute(selector, name string) (value string) {
	p.Helper()
	p.wait(selector)
	p.Eval("document.querySelector('"+selector+"').getAttribute('"+name+"')", &value)
	return value
}
