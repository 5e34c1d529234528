package inspect

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/longtest"
	"github.com/vastgo/vast/probe"
)

// TestPageKeepsNamesakesApart edits and queries one of two components with the same name.
func TestPageKeepsNamesakesApart(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	f := newFixture(t, Options{ReadWrite: true})
	type Ship struct{ Hull int32 } // another type called Ship
	var second vast.Column[Ship]
	var number int
	f.see(t, func() {
		second = vast.NewColumn[Ship](f.w)
		number = probe.Describe(second).ID
		second.Add(f.london, Ship{Hull: 9})
		second.Add(f.paris, Ship{Hull: 10})
		vast.NewTag(f.w, fmt.Sprint(number)).Add(f.paris) // a tag whose name is the component's number
		if _, err := f.names.Set(f.people[3], f.people[2].String()); err != nil {
			t.Fatal(err)
		}
	})
	p := openEntity(t, f, f.london)
	// The page lists components in the order of their numbers.
	hull := "[data-column=Ship] ~ [data-column=Ship] [data-path=Hull] .leaf"
	p.waitText(hull, "9")
	p.click(hull + " button")
	p.fill(hull+" input", "11")
	p.Press(kb.Enter)
	p.waitText(hull, "11")
	p.holds("the second hull", func() bool {
		return second.Get(f.london).Hull == 11 &&
			f.ship.Get(f.london).Hull == 7
	})

	p.Eval("location.hash = '#/entities'", nil)
	p.waitPage("entities")
	label := fmt.Sprintf("Ship#%d", number)
	chip := fmt.Sprintf("[...document.querySelectorAll('.facet')].find((e) => e.textContent.startsWith(%q))",
		label)
	p.Until(chip + ".textContent === '" + label + "2'") // the 2 at the end is the number of entities
	p.Eval(chip+".click()", nil)
	p.waitText(".entities-count", "2 match")
	p.Until(fmt.Sprintf("%s.dataset.state === 'with' && document.querySelector('.querybox-text').value "+
		"=== %q", chip, label))
	p.waitText(".vlist-head", label)
	p.waitText(".vlist-row", "{Hull:10")
	p.Until("document.querySelectorAll('.facet[data-state=with]').length === 1")
	p.Eval(chip+".click()", nil)
	p.Until("document.querySelector('.querybox-text').value === '!" + label + "'")

	p.Eval(fmt.Sprintf("location.hash = '#/queries?query=' + encodeURIComponent(%q)", label), nil)
	p.waitPage("queries")
	p.waitText(".queries-table th", label)
	p.waitText(".queries-table td", "{Hull:11")
	p.Until(fmt.Sprintf("document.querySelector('.queries-side select').value === '%s.Hull'", label))
}

// TestPageShowsOddShapes opens an entity whose components have no parts or more parts than the page shows.
func TestPageShowsOddShapes(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	type vectors struct{ Many [64][64]Position } // has too many numbers to list
	var e vast.Entity
	f := newOddWorld(t, Options{ReadWrite: true}, 128, func(w *vast.World) {
		e = w.Archetype().New()
		vast.NewColumn[[many]struct{}](w).Named("Void").Add(e, [many]struct{}{})
		vast.NewColumn[oddVoids](w).Named("Voids").Add(e, oddVoids{N: 5})
		vast.NewSparseColumn[oddGrid](w).Named("Grid").Add(e, oddGrid{})
		vast.NewColumn[vectors](w).Named("Vectors").Add(e, vectors{})
		vast.NewHeapColumn[oddDeep](w).Named("Deep").Add(e, oddDeep{})
	})
	p := openEntity(t, f, e)
	p.waitText("[data-column=Void] .more", map[int]string{1 << 3: "8,589,934,592 more",
		1: "1,073,741,824 more"}[many>>30])
	p.waitText("[data-column=Voids] [data-path=N] .leaf", "5")
	p.waitText("[data-column=Grid] h2", "Grid")
	p.waitText("[data-column=Deep] h2", "Deep")
	p.click(`[data-path="Many"] > .tree-row > .twist`)
	p.click(`[data-path="Many[10]"] > .tree-row > .twist`)
	p.waitText(`[data-path="Many[10][21]"] .leaf`, "0")
	p.waitText(`[data-path="Many[10][22]"] .more`, "2 more")
	grid := "[data-column=Grid] [data-path=\"[2]\"] .field-value:last-of-type .leaf"
	p.click(grid + " button")
	p.fill(grid+" input", "7")
	p.Press(kb.Enter)
	p.waitText(grid, "7")

	p.Eval("location.hash = '#/queries?query=Grid'", nil)
	p.waitPage("queries")
	p.waitText(".queries-table td", "[[0 0 0 0] [0 0 0 0] [0 0 0 7]]")
	p.Until("document.querySelector('.queries-side select').value === 'Grid[0][0]'")
	p.Until("document.querySelector('.queries-side .dim').textContent === '' || " +
		"document.querySelector('.queries-side .dim').hidden")
}
