package bulk

import (
	"math/rand/v2"
	"testing"
)

// filled returns a pool and its handles in random order.
func filled(b *testing.B) (*Pool[record], []Handle[record]) {
	p := newPool[record](b, Options{Capacity: benchmarkElements})
	handles := make([]Handle[record], benchmarkElements)
	insertMany(p, handles)
	r := rand.New(rand.NewPCG(1, 0))
	r.Shuffle(len(handles), func(i, j int) { handles[i], handles[j] = handles[j], handles[i] })
	return p, handles
}

//go:noinline
func insertMany(p *Pool[record], handles []Handle[record]) {
	for i := range handles {
		handles[i], _ = p.Insert(record{0: uint64(i)})
	}
}

func BenchmarkPoolGet(b *testing.B) {
	p, handles := filled(b)
	for b.Loop() {
		sumGet(p, handles)
	}
	perElement(b)
}

//go:noinline
func sumGet(p *Pool[record], handles []Handle[record]) (sum uint64) {
	for _, h := range handles {
		sum += p.Get(h)[0]
	}
	return sum
}

// BenchmarkPoolRemoveInsert removes half of the elements in random order and fills the holes.
func BenchmarkPoolRemoveInsert(b *testing.B) {
	p, handles := filled(b)
	for b.Loop() {
		removeMany(p, handles[:len(handles)/2])
		insertMany(p, handles[:len(handles)/2])
	}
	perElement(b)
}

//go:noinline
func removeMany(p *Pool[record], handles []Handle[record]) {
	for _, h := range handles {
		p.Remove(h)
	}
}

func BenchmarkPoolRunsHalfFull(b *testing.B) {
	p, handles := filled(b)
	removeMany(p, handles[:len(handles)/2])
	for b.Loop() {
		sumRuns(p)
	}
	perElement(b)
}

//go:noinline
func sumRuns(p *Pool[record]) (sum uint64) {
	for _, run := range p.Runs() {
		for i := range run {
			sum += run[i][0]
		}
	}
	return sum
}

func BenchmarkPoolAllHalfFull(b *testing.B) {
	p, handles := filled(b)
	removeMany(p, handles[:len(handles)/2])
	for b.Loop() {
		sumAll(p)
	}
	perElement(b)
}

//go:noinline
func sumAll(p *Pool[record]) (sum uint64) {
	for _, e := range p.All() {
		sum += e[0]
	}
	return sum
}
