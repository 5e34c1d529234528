package bulk

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/anishathalye/porcupine"
	"github.com/vastgo/vast/internal/modeltest"
)

// recordHistory runs operations in several goroutines at once and returns what went in, what came out, and when, for porcupine
// to find an order in which a sequential object would have done the same. Moments are counted, not timed: what a coarse clock
// calls the same moment would count as done at once, and the orders to try would be far too many.
func recordHistory(clients, operations int, seed uint64, choose func(*rand.Rand) any, do func(client int, input any) any) []porcupine.Operation {
	var clock, ready atomic.Int64
	of := make([][]porcupine.Operation, clients)
	var all sync.WaitGroup
	for client := range clients {
		all.Go(func() {
			r := rand.New(rand.NewPCG(seed, uint64(client)))
			for ready.Add(1); ready.Load() < int64(clients); {
				runtime.Gosched()
			}
			for range operations {
				input := choose(r)
				call := clock.Add(1)
				output := do(client, input)
				of[client] = append(of[client], porcupine.Operation{ClientId: client, Input: input, Call: call, Output: output, Return: clock.Add(1)})
			}
		})
	}
	all.Wait()
	var whole []porcupine.Operation
	for _, operations := range of {
		whole = append(whole, operations...)
	}
	return whole
}

// linearHistories returns how many histories are checked.
func linearHistories() int {
	if testing.Short() {
		return 300
	}
	return 3000
}

// poolOp is an operation on a pool of numbers.
type poolOp struct {
	name   string // insert, remove, load or valid
	handle Handle[uint64]
	number uint64 // that insert puts in
}

// poolResult is what came of it.
type poolResult struct {
	handle Handle[uint64]
	number uint64
	ok     bool
}

// gone stands for an element that was removed.
const gone = ^uint64(0)

// poolOrder is a sequential pool: a map from all handles that ever were to numbers, or gone.
var poolOrder = porcupine.Model{
	Init: func() any { return map[Handle[uint64]]uint64{} },
	Step: func(state, input, output any) (bool, any) {
		s, in, out := state.(map[Handle[uint64]]uint64), input.(poolOp), output.(poolResult)
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
	Equal: func(a, b any) bool { return maps.Equal(a.(map[Handle[uint64]]uint64), b.(map[Handle[uint64]]uint64)) },
}

// linearPool is what a history needs of a pool.
type linearPool interface {
	Insert(v uint64) (Handle[uint64], *uint64)
	Remove(h Handle[uint64]) bool
	Load(h Handle[uint64]) (uint64, bool)
	Valid(h Handle[uint64]) bool
}

// poolHistory runs operations on a pool. They are on the elements inserted last, so that goroutines meet.
func poolHistory(p linearPool, seed uint64) []porcupine.Operation {
	var last [3]atomic.Pointer[Handle[uint64]]
	var numbers atomic.Uint64
	choose := func(r *rand.Rand) any {
		op := poolOp{name: [...]string{"insert", "remove", "load", "valid"}[r.IntN(4)], number: numbers.Add(1)}
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

func TestSharedPoolIsLinearizable(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	p := newSharedPool[uint64](t, Options{Capacity: 34}) // slots are taken again soon, in words with generations of all kinds
	for i := range uint64(linearHistories()) {
		h := poolHistory(p, seed+i)
		if !porcupine.CheckOperations(poolOrder, h) {
			t.Fatalf("history %d has no order:\n%s", i, printed(h))
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
	p.checkInvariants()
}

func printed(history []porcupine.Operation) (text string) {
	for _, o := range history {
		text += fmt.Sprintf("goroutine %d from %d to %d: %v returned %v\n", o.ClientId, o.Call, o.Return, o.Input, o.Output)
	}
	return text
}

// forgetfulPool is wrong: its Remove looks whether the element is there, and takes it out a moment later.
type forgetfulPool struct {
	mu   sync.Mutex
	live map[Handle[uint64]]uint64
	next uint32
}

func (p *forgetfulPool) Insert(v uint64) (Handle[uint64], *uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.next++
	h := Handle[uint64]{p.next, 1}
	p.live[h] = v
	return h, nil
}

func (p *forgetfulPool) Load(h Handle[uint64]) (uint64, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	v, ok := p.live[h]
	return v, ok
}

func (p *forgetfulPool) Valid(h Handle[uint64]) bool {
	_, ok := p.Load(h)
	return ok
}

func (p *forgetfulPool) Remove(h Handle[uint64]) bool {
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
		if !porcupine.CheckOperations(poolOrder, poolHistory(&forgetfulPool{live: map[Handle[uint64]]uint64{}}, seed)) {
			return
		}
	}
	t.Error("a pool whose Remove is not atomic passes")
}

// arrayOp is an operation on an array of numbers.
type arrayOp struct {
	name   string // append, at or len
	index  int
	number uint64 // that append puts in
}

// arrayResult is what came of it.
type arrayResult struct {
	index  int // or the length
	number uint64
	ok     bool
}

// arrayOrder is a sequential array in which appending takes any index that is free. Its length is the lowest such.
var arrayOrder = porcupine.Model{
	Init: func() any { return map[int]uint64{} },
	Step: func(state, input, output any) (bool, any) {
		s, in, out := state.(map[int]uint64), input.(arrayOp), output.(arrayResult)
		switch in.name {
		case "append":
			if _, used := s[out.index]; used {
				return false, s
			}
			s = maps.Clone(s)
			s[out.index] = in.number
			return true, s
		case "at":
			number, there := s[in.index]
			return out.ok == there && out.number == number, s
		}
		n := 0
		for _, there := s[n]; there; _, there = s[n] {
			n++
		}
		return out.index == n, s
	},
	Equal: func(a, b any) bool { return maps.Equal(a.(map[int]uint64), b.(map[int]uint64)) },
}

// linearArray is what a history needs of an array.
type linearArray interface {
	Append(v uint64) int
	At(i int) (uint64, bool)
	Len() int
}

func arrayHistory(a linearArray, seed uint64) []porcupine.Operation {
	var numbers atomic.Uint64
	choose := func(r *rand.Rand) any {
		return arrayOp{[...]string{"append", "at", "len"}[r.IntN(3)], r.IntN(6), numbers.Add(1)}
	}
	return recordHistory(3+int(seed%2), 7, seed, choose, func(_ int, input any) any {
		var out arrayResult
		switch in := input.(arrayOp); in.name {
		case "append":
			out.index = a.Append(in.number)
		case "at":
			out.number, out.ok = a.At(in.index)
		case "len":
			out.index = a.Len()
		}
		return out
	})
}

// linearShared is a SharedArray whose At says whether there is such an element.
type linearShared struct{ *SharedArray[uint64] }

func (a linearShared) Append(v uint64) int {
	if v%2 == 0 {
		i, _, err := a.AppendSlice([]uint64{v})
		if err != nil {
			panic(err)
		}
		return i
	}
	i, _ := a.SharedArray.Append(v)
	return i
}

func (a linearShared) At(i int) (number uint64, ok bool) {
	ok = modeltest.PanicText(func() { number = *a.SharedArray.At(i) }) == ""
	return number, ok
}

func TestSharedArrayIsLinearizable(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for i := range uint64(linearHistories()) {
		a, err := NewSharedArray[uint64](Options{Capacity: 100})
		if err != nil {
			t.Fatal(err)
		}
		h := arrayHistory(linearShared{a}, seed+i)
		if !porcupine.CheckOperations(arrayOrder, h) {
			t.Fatalf("history %d has no order:\n%s", i, printed(h))
		}
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// hastyArray is wrong: an append is counted when it has its index, before it has written.
type hastyArray struct {
	mu      sync.Mutex
	numbers []uint64
}

func (a *hastyArray) Append(v uint64) int {
	a.mu.Lock()
	i := len(a.numbers)
	a.numbers = append(a.numbers, 0)
	a.mu.Unlock()
	runtime.Gosched()
	a.mu.Lock()
	a.numbers[i] = v
	a.mu.Unlock()
	return i
}

func (a *hastyArray) At(i int) (uint64, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if i >= len(a.numbers) {
		return 0, false
	}
	return a.numbers[i], true
}

func (a *hastyArray) Len() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.numbers)
}

func TestWrongArrayIsFound(t *testing.T) {
	for seed := range uint64(20_000) {
		if !porcupine.CheckOperations(arrayOrder, arrayHistory(&hastyArray{}, seed)) {
			return
		}
	}
	t.Error("an array that counts elements before they are written passes")
}
