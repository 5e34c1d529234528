package ring

import "testing"

// FuzzClose ends an exchange in one way at one moment.
func FuzzClose(f *testing.F) {
	for i, data := range closeSeeds {
		f.Add(byte(i), byte(2*i), data)
	}
	f.Fuzz(func(t *testing.T, ending, at byte, data []byte) {
		r := newRing(t, Options{Capacity: 1})
		steps := closeSteps(data, r.size)
		if len(steps) == 0 {
			return
		}
		where := int(at>>1) % len(steps)
		inside := at&1 != 0 && (steps[where].op == 7 || steps[where].op == 15)
		for _, pages := range pageKinds {
			playClose(t, pages, steps, int(ending)%len(endings), where, inside, ending >= 128)
		}
	})
}
