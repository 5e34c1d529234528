package vm

import (
	"fmt"
	"strings"
	"testing"

	"github.com/vastgo/vast/internal/modeltest"
)

func TestDescribe(t *testing.T) {
	p := PageSize()
	eachBackend(t, func(t *testing.T, backend backend) {
		r := open(t, backend, 16*p, Options{})
		s, err := r.Carve(8*p, 0)
		must(t, err)
		r.Label(s.Offset()+64, s.Size()-64, Label{What: "ships", Element: "slot", Size: 40})
		says := func(off int, state PageState, index int, want string) {
			t.Helper()
			at, ok := Describe(uintptr(r.Base()) + uintptr(off))
			if !ok || at.State != state || at.Index != index || at.String() != want ||
				at.Purpose != t.Name() || at.Closed {
				t.Errorf("byte %d is %q: %+v, want %q", off, at, at, want)
			}
			if !strings.Contains(at.Made, "place_test.go:") || at.ClosedAt != "" {
				t.Errorf("made at %q, closed at %q", at.Made, at.ClosedAt)
			}
		}
		says(64, 0, 0, "slot 0 of ships is beyond its end: no slot is usable yet")
		must(t, r.Commit(0, 2*p))
		usable := (2*p - 64) / 40
		says(64+40*7+39, PageCommitted, 7, "slot 7 of ships is usable")
		says(2*p, 0, usable, fmt.Sprintf("slot %d of ships is beyond its %d usable slots", usable, usable))
		says(7*p+64, 0, 7*p/40, fmt.Sprintf("slot %d of ships is beyond its %d usable slots", 7*p/40, usable))
		must(t, r.Commit(5*p, p))
		says(4*p, 0, (4*p-64)/40, fmt.Sprintf("slot %d of ships lies in memory that is not committed",
			(4*p-64)/40))
		must(t, r.Decommit(p, p))
		says(p+40, PageDecommitted, (p-24)/40, fmt.Sprintf("slot %d of ships lies in memory that was given "+
			"back", (p-24)/40))
		// A part of a region without a label is described as bytes of the region.
		says(9*p+3, 0, 9*p+3, fmt.Sprintf("byte %d of region %q is beyond its %d usable bytes", 9*p+3,
			t.Name(), p))
		says(7, PageCommitted, 7, fmt.Sprintf("byte 7 of region %q is usable", t.Name()))
		// The newest label counts.
		r.Label(9*p, p, Label{})
		says(9*p+3, 0, 3, fmt.Sprintf("byte 3 of region %q is beyond its end: no byte is usable yet",
			t.Name()))

		if at, ok := Describe(uintptr(r.Base()) + uintptr(r.Size()) - 1); !ok || at.Index != 16*p-1 {
			t.Errorf("the last byte is %+v, %t", at, ok)
		}
	})
	if at, ok := Describe(1); ok {
		t.Errorf("address 1 is %v", at)
	}
}

// TestDescribeClosed: Describe finds a closed region until another region gets its addresses, or until 256
// other regions were closed.
func TestDescribeClosed(t *testing.T) {
	backend := onlyOS(t)
	r := open(t, backend, 3*PageSize(), Options{Name: "first"})
	r.Label(0, r.Size(), Label{What: "numbers", Element: "number", Size: 8})
	base := uintptr(r.Base())
	must(t, r.Close())
	at, ok := Describe(base + 80)
	if !ok || !at.Closed || at.Purpose != "first" ||
		at.String() != "number 10 of numbers is gone: its region was closed" ||
		!strings.Contains(at.Made, "place_test.go:") || !strings.Contains(at.ClosedAt, "place_test.go:") {
		t.Errorf("the address is %+v: %v", at, at)
	}
	// This region stays open, so that the regions below do not get these addresses.
	again := open(t, backend, 3*PageSize(), Options{Name: "second"})
	if uintptr(again.Base()) != base {
		t.Skip("the addresses were not used again")
	}
	if at, ok := Describe(base + 80); !ok || at.Closed || at.Purpose != "second" {
		t.Errorf("the reused address is %+v", at)
	}
	for range len(closings.of) + 3 {
		must(t, open(t, backend, PageSize(), Options{}).Close())
	}
	for i := range closings.of {
		if e := &closings.of[i]; e.size != PageSize() || e.purpose != t.Name() {
			t.Errorf("%d bytes of %s are remembered", e.size, e.purpose)
		}
	}
	must(t, again.Close())
	if at, ok := Describe(base + 80); !ok || !at.Closed || at.Purpose != "second" {
		t.Errorf("after two regions at the address were closed, it is described as %+v", at)
	}
}

func TestLabelMisuse(t *testing.T) {
	r := openWithoutCleanup(t, PageSize())
	says := func(want string, f func()) {
		t.Helper()
		if text := modeltest.PanicText(f); !strings.Contains(text, want) {
			t.Errorf("Label panics with %q, want %q", text, want)
		}
	}
	says("reaches outside", func() { r.Label(0, r.Size()+1, Label{}) })
	says("an element of -1 bytes", func() { r.Label(0, 1, Label{Size: -1}) })
	must(t, r.Close())
	says("closed region", func() { r.Label(0, 1, Label{}) })
}
