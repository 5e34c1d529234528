package inspect

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/vastgo/vast/internal/longtest"
)

var rolesThatNeedName = []string{"button", "link", "textbox", "searchbox", "combobox", "listbox", "option",
	"checkbox", "radio", "slider", "spinbutton", "tab", "tablist", "switch", "menuitem", "grid", "treegrid",
	"tree", "dialog", "img", "image", "figure", "region", "navigation"}

// checkAccess checks the shown page for mistakes that hinder users of screen readers or keyboards.
func (p *tab) checkAccess(where string) {
	p.Helper()
	// The test decodes few fields, because accessibility.Node rejects values that a newer browser adds.
	type value struct {
		Value any `json:"value"`
	}
	var tree struct {
		Nodes []struct {
			Ignored          bool  `json:"ignored"`
			BackendDOMNodeID int64 `json:"backendDOMNodeId"`
			Role             value `json:"role"`
			Name             value `json:"name"`
		} `json:"nodes"`
	}
	p.Do("accessibility tree", accessibility.Enable(), chromedp.ActionFunc(func(ctx context.Context) error {
		return cdp.Execute(ctx, accessibility.CommandGetFullAXTree, nil, &tree)
	}))
	seen := 0
	for _, n := range tree.Nodes {
		if role := fmt.Sprint(n.Role.Value); !n.Ignored && slices.Contains(rolesThatNeedName, role) {
			seen++
			if name, _ := n.Name.Value.(string); strings.TrimSpace(name) == "" {
				p.Errorf("%s: a %s has no name (node %d)", where, role, n.BackendDOMNodeID)
			}
		}
	}
	if seen < 8 {
		p.Errorf("%s: only %d elements have a role that needs a name, want at least 8", where, seen)
	}
	var faults []string
	p.Eval(`(() => {
		const faults = [];
		const ids = [...document.querySelectorAll('[id]')].map((e) => e.id);
		for (const id of new Set(ids))
			if (ids.filter((x) => x === id).length > 1) faults.push('more than one element has the ID ' + id);
		for (const a of ['aria-labelledby', 'aria-describedby', 'aria-controls', 'aria-activedescendant',
			'for']) {
			for (const e of document.querySelectorAll('[' + a + ']')) {
				for (const id of e.getAttribute(a).split(/\s+/))
					if (!document.getElementById(id))
						faults.push(a + ' names ' + id + ', which does not exist');
			}
		}
		for (const e of document.querySelectorAll('[tabindex]'))
			if (e.tabIndex > 0) faults.push('the tabindex ' + e.tabIndex + ' is positive');
		for (const e of document.querySelectorAll('[onclick], [style*="javascript"]'))
			faults.push('an attribute holds a script');
		for (const tag of ['main', 'h1'])
			if (document.querySelectorAll(tag).length !== 1)
				faults.push('the number of ' + tag + ' elements is not 1');
		const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
		if (wide > 0) faults.push('the page is ' + wide + ' pixels wider than its window');
		return faults;
	})()`, &faults)
	for _, fault := range faults {
		p.Errorf("%s: %s", where, fault)
	}
}

func TestPageAccess(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	f := newFixture(t, Options{})
	p := openPage(t, f, "/#/overview")
	p.waitPage("overview")
	addresses := p.pagesListed()
	addresses = append(addresses, "entity/"+f.paris.String())
	widths := []int{360, 1280}
	for _, width := range widths[:longtest.Pick(1, 2)] {
		p.Window(width, 800)
		for _, address := range addresses {
			p.Eval(fmt.Sprintf("location.hash = '#/%s'", address), nil)
			p.waitPage(strings.Split(address, "/")[0])
			p.checkAccess(fmt.Sprintf("%s at %d pixels", address, width))
		}
	}
}

func TestPageTabKeyMovesFocusIntoPage(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	f := newFixture(t, Options{})
	p := openPage(t, f, "/#/overview")
	p.waitPage("overview")
	for _, id := range p.pagesListed() {
		p.Eval(fmt.Sprintf("location.hash = '#/%s'", id), nil)
		p.waitPage(id)
		p.Until("document.querySelector('main a[href], main button:enabled, main [tabindex=\"0\"]') !== null")
		p.Eval("document.getElementById('skip').focus()", nil)
		passed := make(map[string]bool)
		for range 16 {
			p.Press(kb.Tab)
			var focus struct {
				Where string
				Seen  bool
			}
			p.Eval(`(() => {
				const e = document.activeElement;
				const s = getComputedStyle(e);
				return { Where: e.id || e.closest('nav, main, footer')?.tagName || e.tagName,
					Seen: e === document.body || s.outlineStyle !== 'none' || s.boxShadow !== 'none' };
			})()`, &focus)
			if !focus.Seen {
				t.Errorf("%s: the focused element in %s has no visible mark", id, focus.Where)
			}
			passed[focus.Where] = true
		}
		for _, want := range []string{"mark", "NAV", "theme", "help", "MAIN"} {
			if !passed[want] {
				t.Errorf("%s: the Tab key does not reach %s; it reaches %v", id, want, passed)
			}
		}
	}
}
