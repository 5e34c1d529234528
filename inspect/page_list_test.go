package inspect

import (
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp/kb"

	"github.com/vastgo/vast/internal/longtest"
)

// openList shows a virtual list in place of a page. A script makes the rows. A row is 28 pixels high. Other
// scripts reach the list as window.list.
func openList(t *testing.T, rows int) *tab {
	t.Helper()
	p := openPage(t, newFixture(t, Options{}), "/#/nowhere")
	p.waitText("main", "Unknown page")
	p.Eval(fmt.Sprintf(`(async () => {
		const { virtualList } = await import('/virtual-list.js');
		window.opened = [];
		window.begun = 0;
		window.cancelled = 0;
		window.hang = false;
		window.shift = 0; // a refresh moves the rows up by this number
		window.list = virtualList({
			label: 'Rows', columns: [{ title: 'Number' }, { title: 'Twice', number: true }],
			async fetch(offset, limit, signal) {
				begun++;
				signal.addEventListener('abort', () => cancelled++);
				if (hang) await new Promise((_, fail) =>
					signal.addEventListener('abort', () => fail(signal.reason)));
				const length = Math.min(limit, %d - offset);
				return { total: %[1]d, rows: Array.from({ length }, (_, i) => offset + i + shift) };
			},
			cells: (row) => ['row ' + row, 2 * row],
			keyOf: (row) => row,
			onOpen: (row) => opened.push(row),
		});
		const main = document.querySelector('main');
		main.replaceChildren(list.element);
		list.element.style.height = '500px';
		list.element.style.flex = 'none';
		window.scroller = list.element.querySelector('.vlist-scroll');
		// shown returns the numbers of the visible rows, from top to bottom.
		window.shown = () => {
			const box = list.element.querySelector('.vlist-view').getBoundingClientRect();
			return [...list.element.querySelectorAll('.vlist-row')].map((e) => [e.getBoundingClientRect(), e])
				.filter(([r]) => r.bottom > box.top + 0.5 && r.top < box.bottom - 0.5)
				.sort(([a], [b]) => a.top - b.top)
				.map(([, e]) => e.textContent.startsWith('row ') ?
					Number(e.firstChild.textContent.slice(4)) : NaN);
		};
		window.first = () => shown()[0];
		window.last = () => shown().at(-1);
		// above returns the height in pixels of the part of the first row that is above the view.
		window.above = () => {
			const box = list.element.querySelector('.vlist-view').getBoundingClientRect();
			const row = [...list.element.querySelectorAll('.vlist-row')]
				.find((e) => e.firstChild.textContent === 'row ' + first());
			return Math.round(box.top - row.getBoundingClientRect().top);
		};
	})()`, rows), nil)
	p.Until("shown().length > 10 && first() === 0")
	return p
}

func TestPageListOfABillion(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	const rows = 1_000_000_000
	p := openList(t, rows)
	p.Eval("list.focus()", nil)
	p.Until(fmt.Sprintf("scroller.getAttribute('aria-rowcount') === '%d'", rows+1))

	p.Press(kb.End)
	p.Until(fmt.Sprintf("last() === %d", rows-1))
	p.Press(kb.PageUp)
	p.Press(kb.PageUp)
	p.Until(fmt.Sprintf("last() < %d && last() > %d", rows-10, rows-60))
	p.Press(kb.Home)
	p.Until("first() === 0 && above() === 0")
	p.Press(kb.ArrowDown + kb.ArrowDown + kb.ArrowDown)
	p.Until("document.getElementById(scroller.getAttribute('aria-activedescendant'))" +
		"?.getAttribute('aria-rowindex') === '5'")
	p.Press(kb.Enter)
	p.Until("opened.join() === '3'")

	// The middle of the scroll bar is the middle of the list.
	p.Eval("scroller.scrollTop = (scroller.scrollHeight - scroller.clientHeight) / 2", nil)
	p.Until(fmt.Sprintf("Math.abs(first() - %d) < 1000", rows/2))
	p.Eval("scroller.scrollTop = scroller.scrollHeight", nil)
	p.Until(fmt.Sprintf("last() === %d", rows-1))
	p.Eval("scroller.scrollTop = 0", nil)
	p.Until("first() === 0")
}

// TestPageListScrollsExactly turns the wheel in the middle of a list that is too high for one element. The
// list must move by the wheel's exact number of pixels.
func TestPageListScrollsExactly(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	p := openList(t, 1_000_000_000)
	p.Eval("list.goTo(500_000_000)", nil)
	p.Until("shown().includes(500_000_000)")
	var from struct{ First, Above, X, Y float64 }
	p.Eval(`(() => {
		const r = scroller.getBoundingClientRect();
		return { First: first(), Above: above(), X: r.x + 50, Y: r.y + 200 };
	})()`, &from)
	for i := 1; i <= 5; i++ {
		p.Do("wheel", input.DispatchMouseEvent(input.MouseWheel, from.X,
			from.Y).WithDeltaX(0).WithDeltaY(280))
		p.Until(fmt.Sprintf("first() === %d && above() === %d", int(from.First)+10*i, int(from.Above)))
	}
	// 200 ms after the last turn, the list changes the browser's scroll position. The rows must not move.
	p.Eval("new Promise((r) => setTimeout(r, 400))", nil)
	p.Until(fmt.Sprintf("first() === %d && above() === %d", int(from.First)+50, int(from.Above)))
	for i := 1; i <= 60; i++ {
		p.Do("wheel", input.DispatchMouseEvent(input.MouseWheel, from.X,
			from.Y).WithDeltaX(0).WithDeltaY(-28))
	}
	p.Until(fmt.Sprintf("first() === %d && above() === %d", int(from.First)-10, int(from.Above)))
}

func TestPageListCancelsRequestsOutOfView(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	p := openList(t, 1_000_000)
	p.Eval("hang = true; begun = cancelled = 0", nil)
	for i := 1; i <= 8; i++ {
		p.Eval(fmt.Sprintf("list.goTo(%d)", i*100_000), nil)
		p.Until(fmt.Sprintf("begun - cancelled > 0 && begun - cancelled <= 3 && list.marked.index === %d",
			i*100_000))
	}
	p.Until("cancelled >= 1")
	p.Eval("hang = false; list.goTo(12345)", nil)
	p.Until("shown().includes(12345)")
}

func TestPageListRemovesElementsOutOfView(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	p := openList(t, 1_000_000)
	for i := range longtest.Pick(20, 70) {
		n := (i*7919 + 5000) % 1_000_000
		p.Eval(fmt.Sprintf("list.goTo(%d)", n), nil)
		p.Until(fmt.Sprintf("shown().includes(%d)", n))
	}
	p.Eval("list.goTo(0)", nil)
	p.Until("first() === 0")
	var elements int
	p.Eval("list.element.querySelectorAll('.vlist-row').length", &elements)
	if elements > 60 {
		t.Errorf("the page has %d row elements, want at most 60", elements)
	}
	p.click(".vlist-row:nth-child(3)")
	p.Until("opened.length === 1")
}

// TestPageListMarkFollowsRow moves the rows of a list. The mark must stay with its row.
func TestPageListMarkFollowsRow(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	p := openList(t, 1000)
	const selected = "[...document.querySelectorAll('.vlist-row[aria-selected=\"true\"]')]" +
		".map((e) => e.firstChild.textContent).join()"
	p.Eval("list.goTo(5)", nil)
	p.Until(selected + " === 'row 5' && list.marked.index === 5")
	p.Eval("shift = -3; list.refresh()", nil)
	p.Until("first() === -3 && " + selected + " === 'row 5' && list.marked.index === 8")
	p.Eval("shift = 20; list.refresh()", nil)
	p.Until("first() === 20 && " + selected + " === ''")
	p.Eval("shift = 0; list.refresh()", nil)
	p.Until("first() === 0 && " + selected + " === 'row 5'")
}
