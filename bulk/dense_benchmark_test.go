package bulk

import (
	"math/rand/v2"
	"testing"
)

// filledDense returns a full Dense, and its handles in random order.
func filledDense(b *testing.B) (*Dense[record], []Handle[record]) {
	d := newDense[record](b, Options{Capacity: benchmarkElements})
	handles := make([]Handle[record], benchmarkElements)
	insertManyDense(d, handles)
	r := rand.New(rand.NewPCG(1, 0))
	r.Shuffle(len(handles), func(i, j int) { handles[i], handles[j] = handles[j], handles[i] })
	return d, handles
}

//go:noinline
func insertManyDense(d *Dense[record], handles []Handle[record]) {
	for i := range handles {
		handles[i], _ = d.Insert(record{0: uint64(i)})
	}
}

func BenchmarkDenseGet(b *testing.B) {
	d, handles := filledDense(b)
	for b.Loop() {
		sumGetDense(d, handles)
	}
	perElement(b)
}

//go:noinline
func sumGetDense(d *Dense[record], handles []Handle[record]) (sum uint64) {
	for _, h := range handles {
		sum += d.Get(h)[0]
	}
	return sum
}

func BenchmarkDenseRemoveInsert(b *testing.B) {
	d, handles := filledDense(b)
	for b.Loop() {
		removeManyDense(d, handles[:len(handles)/2])
		insertManyDense(d, handles[:len(handles)/2])
	}
	perElement(b)
}

//go:noinline
func removeManyDense(d *Dense[record], handles []Handle[record]) {
	for _, h := range handles {
		d.Remove(h)
	}
}

func BenchmarkDenseSlice(b *testing.B) {
	d, _ := filledDense(b)
	for b.Loop() {
		sumSliceDense(d)
	}
	perElement(b)
}

//go:noinline
func sumSliceDense(d *Dense[record]) (sum uint64) {
	for i, es := 0, d.Slice(); i < len(es); i++ {
		sum += es[i][0]
	}
	return sum
}
