package linearizability

import (
	"maps"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/anishathalye/porcupine"
	"github.com/vastgo/vast/bulk"
)

// poolOp is an operation on a pool of numbers.
type poolOp struct {
	name   string // insert, remove, load or valid
	handle bulk.Handle[uint64]
	number uint64 // element that insert adds
}

type poolResult struct {
	handle bulk.Handle[uint64]
	number uint64
	ok     bool
}

// gone stands for an element that was removed.
const gone = ^uint64(0)

// poolOrder is the model of a sequential pool. Its state has an entry for each handle that Insert has
// returned: the element, or gone after the removal of the element.
var poolOrder = porcupine.Model{
	Init: func() any { return map[bulk.Handle[uint64]]uint64{} },
	Step: func(state, input, output any) (bool, any) {
		s, in, out := state.(map[bulk.Handle[uint64]]uint64), input.(poolOp), output.(poolResult)
		number, known := s[in.handle]
		live := known && number != gone
		switch in.name {
		case "insert":
			if _, used := s[out.handle]; used {
				return false, s
			}
			s = maps.Clone(s)
			s[out.handle] = in.number
			return true, s
		case "remove":
			if out.ok && live {
				s = maps.Clone(s)
				s[in.handle] = gone
			}
			return out.ok == live, s
		case "load":
			return out.ok == live && (!live || out.number == number), s
		}
		return out.ok == live, s
	},
	Equal: func(a, b any) bool {
		return maps.Equal(a.(map[bulk.Handle[uint64]]uint64), b.(map[bulk.Handle[uint64]]uint64))
	},
}

type linearPool interface {
	Insert(v uint64) (bulk.Handle[uint64], *uint64)
	Remove(h bulk.Handle[uint64]) bool
	Load(h bulk.Handle[uint64]) (uint64, bool)
	Valid(h bulk.Handle[uint64]) bool
}

// poolHistory records operations on a pool by several goroutines. The operations choose from at most three
// recently inserted elements, so that goroutines often use one element at the same time.
func poolHistory(p linearPool, seed uint64) []porcupine.Operation {
	var last [3]atomic.Pointer[bulk.Handle[uint64]]
	var numbers atomic.Uint64
	choose := func(r *rand.Rand) any {
		op := poolOp{name: [...]string{"insert", "remove", "load", "valid"}[r.IntN(4)],
			number: numbers.Add(1)}
		if h := last[r.IntN(len(last))].Load(); h != nil {
			op.handle = *h
		} else {
			op.name = "insert"
		}
		return op
	}
	return recordHistory(3+int(seed%2), 8, seed, choose, func(_ int, input any) any {
		var out poolResult
		switch in := input.(poolOp); in.name {
		case "insert":
			out.handle, _ = p.Insert(in.number)
			last[in.number%uint64(len(last))].Store(&out.handle)
		case "remove":
			out.ok = p.Remove(in.handle)
		case "load":
			out.number, out.ok = p.Load(in.handle)
		case "valid":
			out.ok = p.Valid(in.handle)
		}
		return out
	})
}

func newPool(t *testing.T, capacity int) *bulk.SharedPool[uint64] {
	p, err := bulk.NewSharedPool[uint64](bulk.Options{Capacity: capacity})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func TestSharedPoolIsLinearizable(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	// The pool has few slots, so slots are soon reused. SharedPool then stores generations in both
	// ways: one for all slots of a word, and one for each slot.
	p := newPool(t, 34)
	for i := range uint64(linearHistories()) {
		h := poolHistory(p, seed+i)
		if !porcupine.CheckOperations(poolOrder, h) {
			t.Fatalf("history %d has no sequential order:\n%s", i, printed(h))
		}
		switch {
		case i%8 == 7:
			p.Clear(nil)
		case p.Len() > 6:
			for handle := range p.All() {
				p.Remove(handle)
			}
		}
	}
}

// forgetfulPool is wrong: its Remove first tests whether the element exists, and removes it a moment later.
type forgetfulPool struct {
	mu   sync.Mutex
	live map[bulk.Handle[uint64]]uint64
	next uint32
}

func (p *forgetfulPool) Insert(v uint64) (bulk.Handle[uint64], *uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.next++
	h := bulk.HandleOf[uint64](uint64(p.next) | 1<<32)
	p.live[h] = v
	return h, nil
}

func (p *forgetfulPool) Load(h bulk.Handle[uint64]) (uint64, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	v, ok := p.live[h]
	return v, ok
}

func (p *forgetfulPool) Valid(h bulk.Handle[uint64]) bool {
	_, ok := p.Load(h)
	return ok
}

func (p *forgetfulPool) Remove(h bulk.Handle[uint64]) bool {
	if !p.Valid(h) {
		return false
	}
	runtime.Gosched()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.live, h)
	return true
}

func TestWrongPoolIsFound(t *testing.T) {
	for seed := range uint64(20_000) {
		if !porcupine.CheckOperations(poolOrder,
			poolHistory(&forgetfulPool{live: map[bulk.Handle[uint64]]uint64{}}, seed)) {
			return
		}
	}
	t.Error("a pool whose Remove is not atomic passes")
}
