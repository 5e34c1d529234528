package vastarrow

import (
	"bytes"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"
)

// TestDamaged reads files with changed, missing and repeated bytes.
func TestDamaged(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	w := newFixture(t)
	w.fill(t, 70)
	for _, f := range allFormats {
		whole := mustWrite(t, f, mustEntities(t, w.Query(), w.columns()...))
		refused := 0
		for range 100 {
			b := slices.Clone(whole)
			for range 1 + r.IntN(4) {
				at := r.IntN(len(b))
				switch r.IntN(8) {
				case 0:
					b = b[:at+1]
				case 1:
					b = slices.Insert(b, at, whole[:r.IntN(len(whole))]...)
				case 2:
					b = slices.Delete(b, at, at+r.IntN(min(16, len(b)-at)))
				default:
					b[at] = byte(r.Uint32())
				}
				if len(b) == 0 {
					b = append(b, 0)
				}
			}
			g := newFixture(t)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			report, err := Read(t.Context(), g.World, bytes.NewReader(b), f, ReadOptions{MaxRows: fuzzRows})
			runtime.ReadMemStats(&after)
			if n := after.TotalAlloc - before.TotalAlloc; n > 256<<20 {
				t.Errorf("%s: Read allocated %d bytes, want at most %d, %v", f, n, 256<<20, err)
			}
			if g.Len() != report.Entities {
				t.Errorf("%s: %d entities, and the report says %d, %v", f, g.Len(), report.Entities, err)
			}
			if err != nil || report.Refused > 0 {
				refused++
			}
		}
		if refused == 0 {
			t.Errorf("%s: no damage was found", f)
		}
	}
}
