package bulk

import (
	"math/bits"
	"math/rand/v2"
	"testing"
	"unsafe"
)

// filled returns a full pool, and its handles in random order.
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

// BenchmarkPoolInsert fills a pool that has memory for all elements.
func BenchmarkPoolInsert(b *testing.B) {
	p, handles := filled(b)
	for b.Loop() {
		p.Clear(nil)
		insertMany(p, handles)
	}
	perElement(b)
}

func BenchmarkPoolInsertZero(b *testing.B) {
	p, handles := filled(b)
	for b.Loop() {
		p.Clear(nil)
		insertZeroMany(p, handles)
	}
	perElement(b)
}

//go:noinline
func insertZeroMany(p *Pool[record], handles []Handle[record]) {
	for i := range handles {
		h, e := p.InsertZero()
		e[0] = uint64(i)
		handles[i] = h
	}
}

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

// BenchmarkPoolRunsHalfFullFloor measures the least time that Runs can take. It sums the elements without
// Runs. This time includes the branches that the processor mispredicts, because the runs have random lengths.
func BenchmarkPoolRunsHalfFullFloor(b *testing.B) {
	p, handles := filled(b)
	removeMany(p, handles[:len(handles)/2])
	words := unsafe.Slice((*uint64)(p.words), benchmarkElements/wordBits)
	elements := unsafe.Slice((*record)(p.base), benchmarkElements)
	for b.Loop() {
		sumWords(words, elements)
	}
	perElement(b)
}

//go:noinline
func sumWords(words []uint64, elements []record) (sum uint64) {
	for w, m := range words {
		for m != 0 {
			after := m + m&-m
			lo, hi := bits.TrailingZeros64(m), bits.TrailingZeros64(after)
			m &= after
			run := elements[w*wordBits+lo : w*wordBits+hi]
			for i := range run {
				sum += run[i][0]
			}
		}
	}
	return sum
}

// BenchmarkPoolRemoveFloor measures the least time that Remove can take: the benchmark only clears bits.
func BenchmarkPoolRemoveFloor(b *testing.B) {
	_, handles := filled(b)
	words := make([]uint64, benchmarkElements/wordBits)
	for b.Loop() {
		clearBits(words, handles)
	}
	perElement(b)
}

//go:noinline
func clearBits(words []uint64, handles []Handle[record]) {
	for _, h := range handles {
		words[h.slot/wordBits] &^= 1 << (h.slot % wordBits)
	}
}

func BenchmarkPoolRemove(b *testing.B) {
	p, handles := filled(b)
	for b.Loop() {
		removeMany(p, handles)
		b.StopTimer()
		insertMany(p, handles)
		rand.Shuffle(len(handles), func(i, j int) { handles[i], handles[j] = handles[j], handles[i] })
		b.StartTimer()
	}
	perElement(b)
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
