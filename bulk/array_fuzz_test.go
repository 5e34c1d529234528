package bulk

import (
	"testing"

	"github.com/vastgo/vast/internal/longtest"
	"github.com/vastgo/vast/internal/modeltest"
)

func FuzzArray(f *testing.F) {
	f.Add([]byte{0, 0, 1, 200, 2, 1, 1, 100, 3, 255, 255, 5, 9})
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, pages := range pageKinds {
			playArray(t, Options{Pages: pages}, data, numbered)
		}
	})
}

func TestArrayAgainstModel(t *testing.T) {
	longtest.OneGoroutine(t)
	rounds := longtest.Pick(1, 12)
	for range rounds {
		data := modeltest.RandomBytes(t, 3000)
		for _, pages := range pageKinds {
			for _, step := range []int{0, 1, 100_000} {
				o := Options{Pages: pages, Step: step}
				playArray(t, o, data, numbered)
				playArray(t, o, data, numberedByte)
				playArray(t, o, data[:300], numberedLarge)
			}
		}
	}
}
