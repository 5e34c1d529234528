package bulk

import "testing"

func FuzzDense(f *testing.F) {
	f.Add([]byte{2, 200, 50, 5, 100, 2, 255, 255, 9, 8, 0, 2, 200, 9, 6, 1, 1, 1, 7, 255, 255})
	f.Add([]byte{2, 10, 3, 9, 3, 0, 9, 3, 4, 9, 0, 0, 9, 8, 0, 0, 9})
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, pages := range pageKinds {
			playHandled(t, "Dense", Options{Pages: pages}, data, numbered)
		}
	})
}
