package inspect

import (
	"testing"
)

func TestPageLoads(t *testing.T) {
	f := newFixture(t, Options{Attribution: []string{"Land: somebody"}})
	p := openPage(t, f, "/")
	p.waitText("#world-name", "fixture")
	p.waitText("#foot", "Land: somebody")
	p.waitPage("overview")
	p.keepPicture("x")
}
