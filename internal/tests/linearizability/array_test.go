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
	"github.com/vastgo/vast/internal/modeltest"
)

type arrayOp struct {
	name   string // append, at or len
	index  int
	number uint64 // number that append adds
}

type arrayResult struct {
	index  int    // index of the appended element, or length
	number uint64 // element that at returned
	ok     bool   // whether at found an element
}

// arrayOrder is the model of a sequential array. An append may use any free index. The length of the array is
// its lowest free index.
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

// linearShared is a SharedArray whose At does not panic, but reports whether there is an element.
type linearShared struct{ *bulk.SharedArray[uint64] }

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
		a, err := bulk.NewSharedArray[uint64](bulk.Options{Capacity: 100})
		if err != nil {
			t.Fatal(err)
		}
		h := arrayHistory(linearShared{a}, seed+i)
		if !porcupine.CheckOperations(arrayOrder, h) {
			t.Fatalf("history %d has no sequential order:\n%s", i, printed(h))
		}
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// hastyArray is wrong: Append makes the array longer before it writes the element.
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
