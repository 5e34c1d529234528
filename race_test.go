//go:build race

package vast

import (
	"strings"
	"sync"
	"testing"
)

func init() { children["two writers"] = twoWriters }

func twoWriters() {
	w := NewWorld(Options{MaxEntities: 64})
	c := NewColumn[uint64](w)
	e := w.Archetype(c).New()
	var wg sync.WaitGroup
	for k := range 2 {
		wg.Go(func() {
			for i := range 1000 {
				*c.Get(e) = uint64(i*2 + k)
			}
		})
	}
	wg.Wait()
}

// TestRaceIsFound: in builds with the race detector, components must lie in memory that the detector watches.
func TestRaceIsFound(t *testing.T) {
	out, err := runChild(t, "two writers")
	if err == nil || !strings.Contains(out, "WARNING: DATA RACE") || !strings.Contains(out, "twoWriters") {
		t.Errorf("the race of two writers was not found: %v\n%s", err, out)
	}
}
