package linearizability

import (
	"math/rand/v2"
	"testing"

	"github.com/anishathalye/porcupine"
	"github.com/vastgo/vast/bulk"
)

func TestInsertersAreLinearizable(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	p := newPool(t, 512)
	stay := map[bulk.Handle[uint64]]bool{}
	for i := range 512 {
		h, _ := p.Insert(uint64(i))
		if stay[h] = i%16 == 0; !stay[h] {
			p.Remove(h)
		}
	}
	free := insertersOf(p, 4)
	for i := range uint64(linearHistories()) {
		h := poolHistory(byInserters{p, free}, seed+i)
		if !porcupine.CheckOperations(poolOrder, h) {
			t.Fatalf("history %d has no sequential order:\n%s", i, printed(h))
		}
		in := <-free
		for handle := range p.All() {
			if i%8 == 0 && !stay[handle] {
				in.Remove(handle)
			}
		}
		if i%16 == 0 {
			in.Close()
		}
		free <- in
	}
	for h, stays := range stay {
		if stays && !p.Valid(h) {
			t.Fatalf("the handle %v is not valid, but its element was never removed", h)
		}
	}
}

// byInserters is a pool that inserts and removes elements with inserters. Each call takes a free inserter.
type byInserters struct {
	*bulk.SharedPool[uint64]
	free chan *bulk.Inserter[uint64]
}

func insertersOf(p *bulk.SharedPool[uint64], n int) chan *bulk.Inserter[uint64] {
	free := make(chan *bulk.Inserter[uint64], n)
	for range n {
		free <- p.Inserter()
	}
	return free
}

func (b byInserters) Insert(v uint64) (bulk.Handle[uint64], *uint64) {
	in := <-b.free
	defer func() { b.free <- in }()
	return in.Insert(v)
}

func (b byInserters) Remove(h bulk.Handle[uint64]) bool {
	in := <-b.free
	defer func() { b.free <- in }()
	return in.Remove(h)
}
