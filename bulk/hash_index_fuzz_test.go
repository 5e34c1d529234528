package bulk

import (
	"testing"

	"github.com/vastgo/vast/internal/longtest"
	"github.com/vastgo/vast/internal/modeltest"
)

// padded has padding bytes between its fields, which comparisons ignore.
type padded struct {
	a uint8
	b uint32
	c uint16
}

func TestHashIndexAgainstModel(t *testing.T) {
	longtest.OneGoroutine(t)
	rounds := longtest.Pick(1, 6)
	for range rounds {
		data := modeltest.RandomBytes(t, 600)
		for _, pages := range pageKinds {
			playHash(t, Options{Pages: pages}, data, func(i int) int { return i * 1 << 20 }, nil)
		}
		playHash(t, Options{}, data, func(i int) uint8 { return uint8(i) }, nil)
		playHash(t, Options{}, data, func(i int) uint16 { return uint16(i) }, nil)
		playHash(t, Options{}, data, func(i int) uint32 { return uint32(i) << 16 }, nil)
		playHash(t, Options{}, data, func(i int) float64 { return float64(i) / 3 }, nil)
		playHash(t, Options{}, data, func(i int) padded { return padded{uint8(i), uint32(i), uint16(i)} },
			nil)
		playHash(t, Options{}, data, func(i int) [2]uint64 { return [2]uint64{7, uint64(i)} }, nil)
		playHash(t, Options{}, data, func(i int) [5]int32 { return [5]int32{4: int32(i)} }, nil)
		// With b = 0 all hashes are the same; with b = 1<<56 only the multiplication by c mixes the bits.
		playHash(t, Options{}, data[:150], func(i int) int { return i }, func(h *hasher[int]) { h.b = 0 })
		playHash(t, Options{}, data[:150], func(i int) int { return i },
			func(h *hasher[int]) { h.b = 1 << 56 })
	}
}

func FuzzHashIndex(f *testing.F) {
	f.Add([]byte{1, 10, 200, 50, 0, 1, 200, 0, 200, 9, 1, 7, 3, 190, 40, 1, 200, 7, 4, 3, 6, 0, 1, 3, 190, 0,
		3, 3, 2, 200, 1, 8, 2})
	f.Add([]byte{1, 0, 255, 255, 2, 3, 0, 255, 0, 5, 5, 200, 1, 1, 5, 255, 200, 2, 8, 5, 2, 7, 7, 3, 1, 255,
		255, 13})
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, pages := range pageKinds {
			playHash(t, Options{Pages: pages}, data, func(i int) int { return i * 1 << 20 }, nil)
		}
		playHash(t, Options{}, data, func(i int) padded { return padded{uint8(i), uint32(i), uint16(i)} },
			nil)
		playHash(t, Options{}, data[:min(len(data), 100)], func(i int) int { return i },
			func(h *hasher[int]) { h.b = 1 << 56 })
	})
}
