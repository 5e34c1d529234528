package bulk

import (
	"testing"

	"github.com/vastgo/vast/internal/longtest"
	"github.com/vastgo/vast/internal/modeltest"
)

func FuzzTable(f *testing.F) {
	f.Add([]byte{2, 40, 9, 0, 3, 5, 1, 2, 3, 4, 5, 9, 1, 0, 0, 5, 9, 2, 255, 255, 9, 0, 8, 0, 2, 30, 9, 1})
	f.Add([]byte{0, 9, 0, 3, 1, 0, 0, 9, 0, 2, 90, 3, 29, 9, 0, 4, 7, 9, 0, 7, 3, 6, 255, 255})
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, layout := range layouts {
			for _, pages := range pageKinds {
				playRows(t, TableOptions{Layout: layout, Pages: pages}, len(data)%2 == 0, data)
			}
		}
	})
}

func TestTableAgainstModel(t *testing.T) {
	rounds := longtest.Pick(2, 6)
	for range rounds {
		data := modeltest.RandomBytes(t, 1200)
		for _, layout := range layouts {
			for _, pages := range pageKinds {
				for _, step := range []int{0, 1, 100_000} {
					o := TableOptions{Layout: layout, Pages: pages, Step: step, PageAligned: step == 1}
					playRows(t, o, step == 0, data)
				}
			}
		}
	}
}
