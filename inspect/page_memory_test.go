package inspect

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/vastgo/vast/internal/longtest"
)

const pictureSelector = ".memory-place canvas"

// untilColours waits until the picture has at least n colours.
func (p *tab) untilColours(n int) {
	p.Helper()
	p.Expect("willReadFrequently") // the browser warns, because the script below reads the canvas
	p.Until(fmt.Sprintf(`(() => {
		const c = document.querySelector(%q);
		if (!c?.width) return false;
		const pixels = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
		return new Set(new Uint32Array(pixels.buffer)).size >= %d;
	})()`, pictureSelector, n))
}

func TestMemoryPage(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	f := newFixtureOf(t, Options{}, 20_000)
	p := openPage(t, f, "/#/memory")
	p.waitPage("memory")
	p.untilColours(3) // gaps, committed memory and resident memory
	p.waitText(".memory-bands", "Position")
	p.waitText(".memory-legend", "resident")
	for _, mode := range []string{"column", "archetype", "density", "change", "state"} {
		p.click("[data-mode=" + mode + "]")
		p.Until("document.querySelector('[data-mode=" + mode + "]').getAttribute('aria-pressed') === 'true'")
		p.untilColours(3)
		if mode == "change" {
			p.waitText(".memory-scale", "Compared with")
		}
	}
	p.Until("location.hash === '#/memory'")
	p.click("[data-whole=true]")
	p.waitText(".memory-bands", "unassigned")
	p.waitText(".memory-way", "whole reservation")
	p.click("[data-whole=false]")

	p.Until("!document.querySelector('.memory-bands').textContent.includes('unassigned')")
	p.waitText(".memory-bands", "Position")
	var x, y float64
	p.Eval(fmt.Sprintf(`(() => {
		const c = document.querySelector(%q).getBoundingClientRect();
		const b = [...document.querySelectorAll('.memory-bands button')]
			.find((b) => b.textContent.startsWith('Velocity')).getBoundingClientRect();
		window.at = [c.left + c.width / 2, b.top + 2];
		return window.at[0];
	})()`, pictureSelector), &x)
	p.Eval("window.at[1]", &y)
	p.Do("point", chromedp.MouseEvent(input.MouseMoved, x, y))
	p.waitText(".tip", "Velocity: ")
	p.waitText(".memory-here", "0x")
	p.Do("click", chromedp.MouseClickXY(x, y))
	p.waitText(".word", "in use")
	p.waitText(".panel h2", "Word ")
	p.waitText(".hex", "0000")
	var hash string
	p.Eval("location.hash", &hash)
	if !strings.Contains(hash, "slot=") || !strings.Contains(hash, "column=") {
		t.Errorf("the address is %s, want an address with a slot and a column", hash)
	}
	p.KeepPicture("memory-word")
}

func TestMemoryPageByKeys(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	f := newFixtureOf(t, Options{}, 20_000)
	p := openPage(t, f, "/#/memory?by=column")
	p.waitPage("memory")
	p.untilColours(3)
	p.Eval(fmt.Sprintf("document.querySelector(%q).focus({ focusVisible: true })", pictureSelector), nil)
	p.Press(kb.ArrowRight)
	p.waitText(".memory-here", "Area")
	p.Press(kb.ArrowDown)
	p.Until("document.getElementById('announcer').textContent !== ''")
	p.Press("+")
	p.Until("document.querySelectorAll('.memory-way > *').length > 1")
	var before, after string
	p.Eval("document.querySelector('.memory-scale').textContent", &before)
	p.Press("+")
	p.Until(fmt.Sprintf("document.querySelector('.memory-scale').textContent !== %q", before))
	p.Eval("document.querySelector('.memory-scale').textContent", &after)
	p.Press("-")
	p.Until(fmt.Sprintf("document.querySelector('.memory-scale').textContent !== %q", after))
	p.Press(kb.Escape)
	p.Until("document.querySelectorAll('.memory-way > *').length === 1")
	p.Press(kb.Enter)
	p.Until("document.querySelectorAll('.memory-way > *').length > 1 || document.querySelector('.word')")
}

func TestMemoryPageByLinkToEntity(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	f := newFixture(t, Options{})
	p := openPage(t, f, fmt.Sprintf("/#/memory?slot=%d&column=2", f.people[10].Slot()))
	p.waitPage("memory")
	p.waitText(".word", "Infected")
	p.waitText("table.data", "Strain.Rates[1]")
	p.waitText("table.data", "Severe")
	p.wait(fmt.Sprintf("a[href='#/entity/%s']", f.people[10]))
	p.wait(fmt.Sprintf("table.data a[href='#/entity/%s']", f.people[0])) // the value of Source is a link
	p.fill(".page-memory input[type=search]", fmt.Sprint(f.hostile.Slot()))
	p.Press(kb.Enter)
	p.waitText(".word ~ p a", hostileName)
	var images int
	p.Eval("document.querySelectorAll('main img').length", &images)
	if images != 0 {
		t.Error("the hostile name became an image")
	}
	p.Eval("[...document.querySelectorAll('.page-memory button')].find((b) => b.textContent === "+
		"'Close').click()", nil)
	p.Until("!location.hash.includes('slot')")
}
