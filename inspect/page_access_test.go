package inspect

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// named are the roles of what does something, which a screen reader must have a name for.
var named = []string{"button", "link", "textbox", "searchbox", "combobox", "listbox", "option", "checkbox", "radio", "slider", "spinbutton", "tab",
	"tablist", "switch", "menuitem", "grid", "treegrid", "tree", "dialog", "img", "image", "figure", "region", "navigation"}

// checkAccess holds the page that is shown against what those need who do not see it or have no mouse.
func (p *tab) checkAccess(where string) {
	p.Helper()
	var nodes []*accessibility.Node
	p.do("accessibility tree", accessibility.Enable(), chromedp.ActionFunc(func(ctx context.Context) (err error) {
		nodes, err = accessibility.GetFullAXTree().Do(ctx)
		return err
	}))
	word := func(v *accessibility.Value) string {
		if v == nil {
			return ""
		}
		return strings.Trim(string(v.Value), `"`)
	}
	seen := 0
	for _, n := range nodes {
		if n.Ignored || !slices.Contains(named, word(n.Role)) {
			continue
		}
		seen++
		if strings.TrimSpace(word(n.Name)) == "" {
			p.Errorf("%s: a %s without a name (node %d)", where, word(n.Role), n.BackendDOMNodeID)
		}
	}
	if seen < 8 {
		p.Errorf("%s: only %d things have a role", where, seen)
	}
	var faults []string
	p.eval(`(() => {
		const faults = [];
		const ids = [...document.querySelectorAll('[id]')].map((e) => e.id);
		for (const id of new Set(ids)) if (ids.filter((x) => x === id).length > 1) faults.push('two elements are called ' + id);
		for (const a of ['aria-labelledby', 'aria-describedby', 'aria-controls', 'aria-activedescendant', 'for']) {
			for (const e of document.querySelectorAll('[' + a + ']')) {
				for (const id of e.getAttribute(a).split(/\s+/)) if (!document.getElementById(id)) faults.push(a + ' names ' + id + ', which is not there');
			}
		}
		for (const e of document.querySelectorAll('[tabindex]')) if (e.tabIndex > 0) faults.push('a tabindex of ' + e.tabIndex);
		for (const e of document.querySelectorAll('[onclick], [style*="javascript"]')) faults.push('a handler in an attribute');
		for (const one of ['main', 'h1']) if (document.querySelectorAll(one).length !== 1) faults.push('not one ' + one);
		const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
		if (wide > 0) faults.push('the page is ' + wide + ' pixels wider than its window');
		return faults;
	})()`, &faults)
	for _, fault := range faults {
		p.Errorf("%s: %s", where, fault)
	}
}

// TestPageAccess looks at each page in a wide and in a narrow window.
func TestPageAccess(t *testing.T) {
	f := newFixture(t, Options{})
	p := openPage(t, f, "/#/overview")
	p.waitPage("overview")
	addresses := p.pagesListed()
	addresses = append(addresses, "entity/"+f.paris.String())
	for _, width := range []int{1280, 360} {
		p.window(width, 800)
		for _, address := range addresses {
			p.eval(fmt.Sprintf("location.hash = '#/%s'", address), nil)
			p.waitPage(strings.Split(address, "/")[0])
			p.checkAccess(fmt.Sprintf("%s at %d pixels", address, width))
		}
	}
}

// TestPageTabKey goes through each page by the tab key alone: it must come through all that does something, and back to the
// start, and what has the focus must be seen to have it.
func TestPageTabKey(t *testing.T) {
	f := newFixture(t, Options{})
	p := openPage(t, f, "/#/overview")
	p.waitPage("overview")
	for _, id := range p.pagesListed() {
		p.eval(fmt.Sprintf("location.hash = '#/%s'", id), nil)
		p.waitPage(id)
		p.eval("document.activeElement.blur(); getSelection().removeAllRanges()", nil)
		passed := make(map[string]bool)
		for range 60 {
			p.press(kb.Tab)
			var focus struct {
				What string
				Seen bool
			}
			p.eval(`(() => {
				const e = document.activeElement;
				const s = getComputedStyle(e);
				return { What: e.tagName + ' ' + (e.id || e.getAttribute('aria-label') || e.textContent).slice(0, 40),
					Seen: e === document.body || s.outlineStyle !== 'none' || s.boxShadow !== 'none' };
			})()`, &focus)
			if !focus.Seen {
				t.Errorf("%s: %s has the focus, and is not seen to", id, focus.What)
			}
			if strings.HasPrefix(focus.What, "BODY") {
				break
			}
			passed[focus.What] = true
		}
		for _, want := range []string{"BUTTON theme", "A mark"} {
			if !passed[want] {
				t.Errorf("%s: the tab key does not come to %s, only to %v", id, want, passed)
			}
		}
	}
}
