package inspect

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/longtest"
	"github.com/vastgo/vast/prefab"
)

// entityFixture returns a fixture in which London has a component of every kind, and people[1], a child of
// London, has two children.
func entityFixture(t testing.TB, o Options) *fixture {
	f := newFixture(t, o)
	f.see(t, func() {
		f.infected.Add(f.london, Infected{Stage: Severe, Since: 1 << 60, Source: f.people[5]})
		f.dead.Add(f.london) // the system move skips the dead
		f.velocity.Add(f.london, Velocity{0.125, 0})
		f.note.Add(f.london, Note{Text: "Hello <b>world</b>", Tags: []string{"a", hostileName},
			Next: &Note{Text: "next"}})
		f.road.Add(f.london, f.paris, Road{344})
		f.childOf.Set(f.people[2], f.people[1])
		f.childOf.Set(f.people[3], f.people[1])
	})
	return f
}

// openEntity opens the page of an entity, with the token that edits need.
func openEntity(t *testing.T, f *fixture, e vast.Entity) *tab {
	t.Helper()
	p := openPage(t, f, "/#/entity/"+e.String())
	p.waitPage("entity")
	p.Eval(fmt.Sprintf("import('/api.js').then((api) => { api.setToken(%q); location.hash = '#/nowhere'; "+
		"location.hash = '#/entity/%s'; })",
		f.options.Token, e), nil)
	p.Until("!document.querySelector('.page-nowhere')")
	p.waitPage("entity")
	return p
}

// valueAt returns the selector of a value. path is the value's path in the component, "" for the whole
// component.
func valueAt(column, path string) string {
	return fmt.Sprintf("[data-column=%q] [data-path=%q] .leaf", column, path)
}

func (p *tab) holds(what string, f func() bool) {
	p.Helper()
	p.f.holds(p.TB, what, f)
}

func TestPageEntityShows(t *testing.T) {
	t.Parallel()
	f := entityFixture(t, Options{})
	p := openEntity(t, f, f.london)
	if got := p.text(".entity-title"); got != "London" {
		t.Errorf("the title is %q, want London", got)
	}
	for selector, want := range map[string]string{
		valueAt("Infected", "Since"):                  "1152921504606846976",
		valueAt("Infected", "Stage"):                  "Severe 1",
		valueAt("Infected", "Source"):                 f.people[5].String(),
		valueAt("Note", "Tags[1]"):                    hostileName,
		valueAt("Note", "Text"):                       "Hello <b>world</b>",
		valueAt("Ship", "Hull"):                       "7",
		"[data-column=Dead] .chip:not(.warn)":         "tag",
		"[data-column=Position] h2":                   "Position",
		`a[href="#/memory?slot=1"]`:                   "Show in memory",
		`a[href="#/entity/` + f.paris.String() + `"]`: "Paris",
	} {
		if got := p.text(selector); got != want {
			t.Errorf("%s is %q, want %q", selector, got, want)
		}
	}
	p.waitText(".components + p", "Read-only. To allow edits")
	var buttons int
	p.Eval("document.querySelectorAll('.leaf-button, .danger').length", &buttons)
	if buttons != 0 {
		t.Errorf("a read-only page has %d buttons that edit", buttons)
	}
	p.checkAccess("a read-only entity")
	// The page makes the elements of a collapsed part when the user opens the part.
	p.Until("!document.querySelector('[data-path=\"Decks[3]\"]')")
	p.click(`[data-path="Decks"] > .tree-row > .twist`)
	p.waitText(`[data-path="Decks[63]"] .leaf`, "0")
	p.click(`[data-column="Infected"] header .twist`)
	p.Until("document.querySelector('[data-column=Infected] .panel-body').hidden")
	p.waitText(`[data-column="Infected"] .component-summary`, "{Stage:Severe Since:1152921504606846976")
}

// TestPageShowsDisabled: the page marks disabled entities, switched-off components and templates.
func TestPageShowsDisabled(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Options{})
	f.see(t, func() {
		off, mute := vast.NewDisabled(f.w, "off"), vast.NewDisabled(f.w, "mute", f.velocity)
		off.Disable(f.people[7])
		mute.Disable(f.people[8])
		prefab.New(f.w).Mark(f.people[9])
	})
	p := openPage(t, f, "/#/entity/"+f.people[7].String())
	show := func(page string) { p.Eval(fmt.Sprintf("location.hash = '#/%s'", page), nil) }
	p.waitText(".entity-disabled", "off")
	if got := p.text(".entity-disabled"); got != "disabled by off" {
		t.Errorf("the page says %q", got)
	}
	show("entity/" + f.people[8].String())
	p.waitText("[data-column=Velocity] .chip.warn", "disabled by mute")
	p.Until("document.querySelector('.entity-disabled').hidden")
	show("entity/" + f.people[9].String())
	p.waitText(".entity-disabled", "template, disabled by Prefab")
	show("entities?query=off")
	p.waitText(".vlist-row a", f.people[7].String()+" disabled")
}

func TestPageEntityShowsChangesOfProgram(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	f := entityFixture(t, Options{})
	p := openEntity(t, f, f.people[1])
	y := `[...document.querySelectorAll('[data-column=Position] .leaf')][1].textContent`
	var before string
	p.Eval(y, &before)
	p.Until(y + " !== " + fmt.Sprintf("%q", before))
	p.Until("document.querySelector('[data-column=Position] .flash-a, [data-column=Position] .flash-b')")
	p.waitText(".entity-head .chip", "live")
	p.Press("f")
	p.waitText(".entity-head .chip", "not followed")
	p.Press("f")
	p.waitText(".entity-head .chip", "live")
	f.see(t, func() {
		f.ship.Add(f.people[1], Ship{Hull: 9})
		f.velocity.Remove(f.people[1])
	})
	p.waitText(`[data-column="Ship"] .leaf`, "9")
	p.Until("!document.querySelector('[data-column=Velocity]')")
	f.see(t, func() { f.w.Delete(f.people[1]) })
	p.waitText(".box-title", "This entity is no longer alive")
	p.Expect("410")
	p.Eval("location.hash = '#/entity/0.77'", nil)
	p.waitText(".box-title", "Entity 0.77 is no longer alive")
}

func TestPageEntityEdits(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	f := entityFixture(t, Options{ReadWrite: true})
	p := openEntity(t, f, f.london)
	p.Expect("400") // the server refuses the test's invalid edits
	p.Expect("409")

	for _, width := range []int{360, 1280} {
		p.Window(width, 900)
		p.checkAccess(fmt.Sprintf("an entity at %d pixels", width))
	}
	hull := valueAt("Ship", "Hull")
	p.click(hull + " button")
	p.fill(hull+" input", "300.5")
	p.Press(kb.Enter)
	p.waitText(`[data-path="Hull"] .field-error`, "Hull: must be a whole number, not \"300.5\"")
	p.Until("document.querySelector('[data-path=Hull] input').getAttribute('aria-invalid') === 'true'")
	p.fill(hull+" input", "-42")
	p.Press(kb.Enter)
	p.waitText(hull, "-42")
	p.holds("the hull", func() bool { return f.ship.Get(f.london).Hull == -42 })
	p.Until("document.querySelector('[data-path=Hull] .field-error').textContent === ''")
	p.Until("document.activeElement.classList.contains('leaf-button')") // so Enter edits the value again
	p.Press(kb.Enter)
	p.fill(hull+" input", "7")
	p.Press(kb.Escape)
	p.waitText(hull, "-42")

	since := valueAt("Infected", "Since")
	p.click(since + " button")
	p.fill(since+" input", "9007199254740993")
	p.Press(kb.Enter)
	p.waitText(since, "9007199254740993")
	stage := valueAt("Infected", "Stage")
	p.click(stage + " button")
	p.Eval("(() => { const soon = fetch; fetch = async (...a) => { globalThis.asked = String(a[0]); "+
		"await new Promise((r) => setTimeout(r, 500)); return soon(...a); }; })()", nil)
	p.Eval(fmt.Sprintf("document.querySelector(%q).value = '0'", stage+" select"), nil)
	p.click(stage + " [type=submit]")
	text := valueAt("Note", "Text")
	p.click(text + " button")
	p.waitText(stage+" .leaf-button", "Mild") // the answer arrives during the edit of the text
	p.Until("document.activeElement === document.querySelector('[data-column=Note] [data-path=Text] input')")
	p.fill(text+" input", hostileName)
	p.Press(kb.Enter)
	p.waitText(text, hostileName)
	source := valueAt("Infected", "Source")
	p.click(source + " button")
	p.fill(source+" input", "Par")
	p.Until("asked.includes('prefix=Par')")
	p.Press("i") // typed before the suggestions for Par arrive
	p.wait(".suggestions:not([hidden]) li")
	p.Press(kb.ArrowDown + kb.Enter + kb.Enter)
	p.waitText(source+" a", "Paris")
	name := valueAt("Name", "")
	p.click(name + " button")
	p.fill(name+" input", "Paris")
	p.Press(kb.Enter)
	p.waitText("[data-column=Name] .field-error", `the name "Paris" belongs to entity`)
	p.Press(kb.Escape)
	p.holds("all edits", func() bool {
		i := f.infected.Get(f.london)
		return i.Since == 9007199254740993 && i.Stage == Mild && i.Source == f.paris &&
			f.note.Get(f.london).Text == hostileName
	})
}

func TestPageEntityChangesStructure(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	f := entityFixture(t, Options{ReadWrite: true})
	p := openEntity(t, f, f.london)
	p.Eval("document.querySelector('[data-column=Ship] .panel-tools button').click()", nil)
	p.click("dialog [type=submit]")
	p.Until("!document.querySelector('[data-column=Ship]')")
	p.Eval("[...document.querySelectorAll('.entity-head button')].find((b) => b.textContent === "+
		"'Add').click()", nil)
	p.Eval("(() => { const s = document.querySelector('dialog select'); s.value = [...s.options].find((o) "+
		"=> o.textContent === 'Ship').value; })()", nil)
	p.click("dialog [type=submit]")
	p.waitText(valueAt("Ship", "Hull"), "0")
	p.Eval("document.querySelector('.entity-head .danger').click()", nil)
	p.waitText("dialog", "It is the target of 333 entities in ChildOf")
	p.click("dialog [type=submit]")
	p.waitText(".box-title", "This entity is no longer alive")
	p.holds("the deletion", func() bool {
		return !f.w.Alive(f.london) &&
			f.childOf.CountSources(f.paris) == 333
	})
}

func TestPageEntityTreeByKeys(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	f := entityFixture(t, Options{})
	p := openEntity(t, f, f.paris)
	p.wait(".children > [role=treeitem]")
	focused := func(want string) {
		t.Helper()
		p.Until(fmt.Sprintf("document.activeElement.getAttribute('aria-label') === %q", want))
	}
	p.Eval("document.querySelector('.children [tabindex=\"0\"]').focus()", nil)
	focused("London")
	p.Press(kb.ArrowRight)
	p.wait("[aria-label=London] > ul > [role=treeitem]")
	p.Press(kb.ArrowRight)
	child := f.people[1].String()
	focused(child)
	p.Press(kb.ArrowRight)
	p.Until(fmt.Sprintf("document.querySelectorAll('[data-id=%q] > ul > [role=treeitem]').length === 2",
		child))
	p.Press(kb.ArrowDown + kb.ArrowDown)
	focused(f.people[3].String())
	p.Press(kb.ArrowLeft)
	focused(child)
	p.Press(kb.Home + kb.ArrowLeft + kb.End)
	p.Until("document.activeElement.classList.contains('more-children')")
	p.Press(kb.Enter)
	p.Until("document.querySelectorAll('.children > [data-id]').length === 100")
	p.Press(kb.Home + kb.Enter)
	p.waitText(".entity-title", "London")
	p.Press("/")
	p.Until("document.activeElement.classList.contains('entity-input')")
	p.fill(".entity-input", "<im") // replaces the slash, which a headless browser types too
	p.wait(".suggestions:not([hidden]) li")
	if got := p.text(".suggestions li"); !strings.HasPrefix(got, hostileName) {
		t.Errorf("the first suggestion is %q, want the hostile name", got)
	}
	p.Press(kb.Enter)
	p.waitText(".entity-title", hostileName)
}
