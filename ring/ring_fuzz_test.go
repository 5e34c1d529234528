package ring

import "testing"

func FuzzRing(f *testing.F) {
	f.Add([]byte{9, 200, 50, 0, 100, 2, 255, 4, 255, 7, 0, 200, 9, 9, 1, 11, 1, 15, 200, 4, 40, 12})
	f.Add([]byte{255, 255, 143, 255, 0, 143, 255, 7, 143, 255, 2, 143, 255, 4, 143, 255, 11, 3, 14, 3, 13})
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, pages := range pageKinds {
			playRing(t, Options{Pages: pages}, data)
		}
	})
}
