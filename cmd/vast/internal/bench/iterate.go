package bench

import (
	"math/bits"
	"math/rand/v2"

	"github.com/vastgo/vast/bulk"
)

// iterations returns the sides of the works iterate-full and iterate-half: read a number from each live
// element. If half is true, about half of the elements, chosen at random, were removed before. The slice of
// slice-loop has no holes. All rounds use the same containers.
func iterations(n int, half bool) (sides []side, done func()) {
	keepIt := func() func() bool {
		r := rand.New(rand.NewPCG(seedOrder, 0))
		return func() bool { return !half || r.Uint32()&1 == 0 }
	}
	p, handles := filledPool(n)
	l := filledFreeList(n)
	var es []element
	stays := keepIt()
	for i, h := range handles {
		if stays() {
			es = append(es, numbered(i))
		} else {
			p.Remove(h)
			l.remove(uint32(i))
		}
	}
	var want float32
	for i := range es {
		want += es[i].position.y
	}
	pass := func() float32 { return sumPool(p) }
	if half {
		pass = func() float32 { return sumPoolHoles(p) }
	}
	return []side{
		reading("vast", want, pass),
		reading("slice-loop", want, func() float32 { return sumSlice(es) }),
		reading("free-list", want, func() float32 { return sumFreeList(l) }),
	}, func() { mustSucceed(p.Close()) }
}

//go:noinline
func sumPool(p *bulk.Pool[element]) (sum float32) {
	for _, run := range p.Runs() {
		for i := range run {
			sum += run[i].position.y
		}
	}
	return sum
}

// sumPoolHoles uses Pool.All, which is faster than Pool.Runs in a pool with many holes.
//
//go:noinline
func sumPoolHoles(p *bulk.Pool[element]) (sum float32) {
	for _, e := range p.All() {
		sum += e.position.y
	}
	return sum
}

//go:noinline
func sumSlice(es []element) (sum float32) {
	for i := range es {
		sum += es[i].position.y
	}
	return sum
}

//go:noinline
func sumFreeList(l *freeList) (sum float32) {
	for w, m := range l.valid {
		for ; m != 0; m &= m - 1 {
			sum += l.elements[w*64+bits.TrailingZeros64(m)].position.y
		}
	}
	return sum
}
