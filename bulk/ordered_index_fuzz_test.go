package bulk

import (
	"testing"

	"github.com/vastgo/vast/internal/longtest"
	"github.com/vastgo/vast/internal/modeltest"
)

func FuzzOrderedIndex(f *testing.F) {
	f.Add([]byte{1, 10, 200, 50, 0, 1, 200, 0, 150, 9, 2, 3, 7, 190, 40, 1, 7, 0, 255, 255, 4, 3, 6, 0, 1, 3,
		190, 0, 3, 4, 2})
	f.Add([]byte{1, 0, 255, 255, 1, 3, 0, 255, 0, 0, 5, 200, 1, 1, 5, 255, 200, 2, 8, 5, 2, 7, 7, 3, 1, 255,
		255, 3})
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, pages := range pageKinds {
			playOrdered(t, Options{Pages: pages}, data, func(i int) int64 { return int64(i) - 30_000 })
		}
		playOrdered(t, Options{}, data, func(i int) float32 { return float32(i)/16 - 2000 })
	})
}

func TestOrderedIndexAgainstModel(t *testing.T) {
	rounds := longtest.Pick(2, 6)
	for range rounds {
		data := modeltest.RandomBytes(t, 800)
		for _, pages := range pageKinds {
			playOrdered(t, Options{Pages: pages}, data, func(i int) int64 { return int64(i) - 30_000 })
		}
		playOrdered(t, Options{}, data, func(i int) uint8 { return uint8(i >> 8) })
		playOrdered(t, Options{}, data, func(i int) uint16 { return uint16(i) })
		playOrdered(t, Options{}, data, func(i int) float32 { return float32(i)/16 - 2000 })
		playOrdered(t, Options{}, data, func(i int) float64 { return float64(i) * 1e300 })
	}
}
