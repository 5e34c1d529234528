package bulk

import "testing"

func FuzzPool(f *testing.F) {
	f.Add([]byte{2, 200, 50, 5, 100, 2, 255, 255, 9, 8, 0, 2, 200, 9, 6, 1, 1, 1, 7, 255, 255})
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, pages := range pageKinds {
			playHandled(t, "Pool", Options{Pages: pages}, data, numbered)
		}
	})
}
