package metamorphic

import (
	"fmt"
	"strings"

	"github.com/vastgo/vast"
)

// meddle makes a call in a hook or in a callback of NewN or CloneN, if the configuration has Meddling. A
// forbidden call must panic and change nothing.
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
			vast.NewTag(w, fmt.Sprint("met ", p.meddled)).OnRemove(func(vast.Entity) {
				panic("metamorphic: a tag was removed that no entity has")
			})
		}
		return
	}
	defer func() {
		text := fmt.Sprint(recover())
		if !strings.Contains(text, "after the loop") && !strings.Contains(text, ": call it after ") {
			panic(fmt.Sprintf("metamorphic: a forbidden call in a callback must panic, but recover "+
				"returned %q", text))
		}
	}()
	forbidden()
}

// grow makes room for the next operations. It cannot fail, because the capacities of the world suffice for
// all streams.
func (p *player) grow() {
	errs := []error{p.archetypes[p.at%len(p.archetypes)].Grow(p.at % 50), p.key.Grow(1), p.tag.Grow(1),
		p.parent.GrowLevels(p.at % 10),
		p.aim.GrowLevels(1), p.roads.Grow(p.at % 20)}
	for _, err := range errs {
		if err != nil {
			panic(err)
		}
	}
}
