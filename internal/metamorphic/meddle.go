package metamorphic

import (
	"fmt"
	"strings"

	"github.com/vastgo/vast"
)

// meddle is what a hook or a fill does in a configuration with Meddling: what it must not do is refused, and
// changes nothing.
func (p *player) meddle() {
	if !p.Meddling {
		return
	}
	p.meddled++
	w := p.world
	var forbidden func()
	switch p.meddled % 6 {
	case 0:
		forbidden = func() { _ = w.Trim() }
	case 1:
		forbidden = w.Reset
	case 2:
		forbidden = func() { w.DeleteAll(w.Query(p.tag)) }
	case 3:
		forbidden = func() { p.archetypes[0].NewN(3, nil) }
	case 4:
		forbidden = func() { w.Exchange(w.Query(), []vast.AnyColumn{p.tag}, []vast.AnyColumn{p.key}) }
	case 5:
		p.grow()
		if p.meddled < 100 {
			vast.NewTag(w, "met").OnRemove(func(vast.Entity) { panic("metamorphic: a tag that nobody has is lost") })
		}
		return
	}
	defer func() {
		if text := fmt.Sprint(recover()); !strings.Contains(text, "after the loop") && !strings.Contains(text, ": call it after ") {
			panic(fmt.Sprintf("metamorphic: a callback did what it must not do, and it says %q", text))
		}
	}()
	forbidden()
}

// grow makes room for what may come. There is enough of it for all streams.
func (p *player) grow() {
	errs := []error{p.archetypes[p.at%len(p.archetypes)].Grow(p.at % 50), p.key.Grow(), p.tag.Grow(), p.parent.Grow(p.at % 10),
		p.aim.Grow(1), p.roads.Grow(p.at % 20)}
	for _, err := range errs {
		if err != nil {
			panic(err)
		}
	}
}
