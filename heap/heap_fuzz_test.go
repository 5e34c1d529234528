package heap

import (
	"testing"

	"github.com/vastgo/vast/vm"
)

func FuzzHeap(f *testing.F) {
	f.Add([]byte{3, 3, 40, 63, 6, 0, 5, 200, 0, 7, 0, 7, 255, 7, 255, 6, 9, 10, 0, 0, 9, 10, 1, 11, 5, 200, 4,
		0, 9})
	f.Add([]byte{0, 6, 10, 0, 7, 0, 6, 200, 7, 0, 7, 250, 7, 0, 5, 40, 0, 6, 30, 8, 9, 10, 2, 50, 50})
	f.Add([]byte{0, 7, 255, 0, 0, 7, 255, 0, 0, 7, 255, 0, 4, 100, 0, 7, 200, 0, 9, 7, 255, 0, 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, pages := range []vm.Pages{vm.PagesAuto, vm.PagesHeap} {
			play(t, Options{Pages: pages}, data)
			play(t, Options{Pages: pages, Limit: vm.NewLimit(1 << 20)}, data)
		}
	})
}
