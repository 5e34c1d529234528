package ring

import "testing"

func FuzzEndless(f *testing.F) {
	f.Add([]byte{200, 50, 9, 100, 0, 200, 9, 1, 50, 8, 40, 0, 5, 30, 10, 5, 200, 40, 9, 200, 40, 3, 100})
	f.Add([]byte{1, 0, 1, 0, 0, 6, 1, 8, 1, 2, 1, 8, 1, 4, 1, 9})
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, pages := range pageKinds {
			playEndless(t, pages, data)
		}
	})
}
