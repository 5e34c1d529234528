package bulk

import "testing"

func FuzzPool(f *testing.F) {
	f.Add([]byte{2, 200, 50, 5, 100, 2, 255, 255, 9, 8, 0, 2, 200, 9, 6, 1, 1, 1, 7, 255, 255})
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, pages := range pageKinds {
			playPool(t, Options{Pages: pages}, data, numbered)
		}
	})
}

func TestPoolAgainstModel(t *testing.T) {
	rounds := 8
	if testing.Short() {
		rounds = 2
	}
	for range rounds {
		data := randomBytes(t, 1500)
		for _, pages := range pageKinds {
			for _, step := range []int{0, 1, 100_000} {
				o := Options{Pages: pages, Step: step}
				playPool(t, o, data, numbered)
				playPool(t, o, data, numberedByte)
				playPool(t, o, data[:300], numberedLarge)
				playPool(t, o, data[:300], func(int) struct{} { return struct{}{} })
			}
		}
	}
}
