package sched

import (
	"math/rand/v2"
	"testing"

	"github.com/vastgo/vast"
)

func TestEachOnce(t *testing.T) {
	for _, workers := range []int{1, 2, 5} {
		w, c := newWorld(t, 2)
		w.Archetype(c[0]).NewN(3000, nil)
		w.Archetype(c[0], c[1]).NewN(1000, nil)
		w.Archetype(c[0]).NewN(77, nil)
		q := w.Query(c[0]).Without(c[1])
		s := newSchedule(t, w, Options{Workers: workers})
		for i, size := range []int{1, 64, 100, 5000} {
			s.Add(System{Name: string(rune('a' + i)), Writes: Columns(c[0]), Run: func(x *Context) {
				x.Each(q, size, func(_ *Context, b vast.Batch) {
					for e := range b.All() {
						*c[0].Get(e) += 1 << (8 * i)
					}
				})
			}})
		}
		tick(t, s, 20)
		n := 0
		for e := range q.All() {
			if n++; *c[0].Get(e) != 0x14141414 {
				t.Fatalf("%d workers: the visits of %v are %x", workers, e, *c[0].Get(e))
			}
		}
		for e := range w.Query(c[1]).All() {
			if n++; *c[0].Get(e) != 0 {
				t.Fatalf("%v was visited", e)
			}
		}
		if n != 4077 {
			t.Errorf("%d entities", n)
		}
	}
}

// TestReduceSameBits adds floating-point numbers, because their sum depends on the order of the additions.
func TestReduceSameBits(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	sums := make(map[float64]bool)
	for _, workers := range []int{1, 2, 3, 8} {
		r := rand.New(rand.NewPCG(seed, 2))
		w := vast.NewWorld(vast.Options{MaxEntities: 1 << 14})
		defer w.Close()
		col := vast.NewColumn[float64](w)
		w.Archetype(col).NewN(10_000, func(run vast.Run) {
			for i := range col.Slice(run) {
				col.Slice(run)[i] = r.NormFloat64() * 1e9
			}
		})
		q, none := w.Query(col), w.Query(col).Without(vast.NewTag(w, "none"))
		s := newSchedule(t, w, Options{Workers: workers})
		var sum float64
		var most int
		s.Add(System{Name: "sum", Reads: Columns(col), Run: func(c *Context) {
			sum = Reduce(c, q, 100, func(_ *Context, b vast.Batch) (sum float64) {
				for run := range b.Runs() {
					for _, v := range col.Slice(run) {
						sum += v
					}
				}
				return sum
			}, func(a, b float64) float64 { return a + b })
			most = Reduce(c, none, 3000, func(_ *Context, b vast.Batch) int {
				return b.Len()
			}, func(a, b int) int {
				return max(a, b)
			})
		}})
		for range 20 {
			tick(t, s, 1)
			sums[sum] = true
			if most != 3008 {
				t.Errorf("the largest part has %d entities", most)
			}
		}
		col.RemoveAll(q)
		tick(t, s, 1)
		if sum != 0 || most != 0 {
			t.Errorf("without entities the sum is %v and the maximum %d", sum, most)
		}
	}
	if len(sums) != 1 {
		t.Errorf("sums differ: %v", sums)
	}
}

func TestRandom(t *testing.T) {
	w, c := newWorld(t, 1)
	w.Archetype(c[0]).NewN(1000, nil)
	seen := make(map[uint64]bool)
	draw := func(seed uint64, name string) {
		s := newSchedule(t, w, Options{Workers: 1, Seed: seed})
		s.Add(System{Name: name, Reads: Columns(c[0]), Run: func(x *Context) {
			for e := range w.Query(c[0]).All() {
				r := x.Random(e)
				seen[r.Uint64()] = true
				seen[r.Uint64()] = true
			}
		}})
		tick(t, s, 3)
	}
	draw(1, "a")
	draw(1, "a")
	if len(seen) != 6000 {
		t.Errorf("%d numbers, want 6000: both runs must give the same numbers", len(seen))
	}
	draw(2, "a")
	draw(1, "b")
	if len(seen) != 18_000 {
		t.Errorf("%d numbers, want 18,000", len(seen))
	}
	r := Random(5)
	var sum, mean float64
	for range 100_000 {
		f, below, wait := r.Float64(), r.Below(7), r.Exponential(3)
		if f < 0 || f >= 1 || below < 0 || below > 6 || wait < 0 || wait > 120 {
			t.Fatalf("Float64 %v, Below(7) %d, Exponential %v", f, below, wait)
		}
		sum += f
		mean += wait
	}
	if sum < 49_000 || sum > 51_000 || mean < 295_000 || mean > 305_000 || r.Chance(0) || !r.Chance(1) {
		t.Errorf("the sum of Float64 is %v, the sum of Exponential %v", sum, mean)
	}
	// Source: with the seed 0, the authors' code of SplitMix64 returns these two numbers first.
	zero := Random(0)
	if a, b := zero.Uint64(), zero.Uint64(); a != 0xe220a8397b1dcdaf || b != 0x6e789e6aa1b965f4 {
		t.Errorf("%#x %#x", a, b)
	}
	mustPanic(t, "Below(0)", func() { r.Below(0) })
}
