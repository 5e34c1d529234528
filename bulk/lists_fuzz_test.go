package bulk

import (
	"testing"

	"github.com/vastgo/vast/internal/longtest"
	"github.com/vastgo/vast/internal/modeltest"
)

func FuzzLists(f *testing.F) {
	f.Add([]byte{0, 0, 0, 1, 0, 4, 130, 0, 1, 5, 6, 0, 0, 7, 2, 3, 8, 0, 0, 14, 0, 0, 0, 11, 0, 0, 13, 1, 1,
		1, 0, 0, 15, 0})
	// Grow within the capacity, and beyond it.
	f.Add([]byte{0, 0, 12, 255, 255, 0, 0, 12, 204, 90})
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, pages := range pageKinds {
			playLists(t, Options{Pages: pages}, data, numbered)
		}
	})
}

func TestListsAgainstModel(t *testing.T) {
	longtest.OneGoroutine(t)
	rounds := longtest.Pick(1, 4)
	for range rounds {
		data := modeltest.RandomBytes(t, 3000)
		for _, pages := range pageKinds {
			for _, step := range []int{0, 1, 100_000} {
				o := Options{Pages: pages, Step: step}
				playLists(t, o, data, numbered)
				playLists(t, o, data, numberedByte)
				playLists(t, o, data[:600], numberedLarge)
			}
		}
	}
}
