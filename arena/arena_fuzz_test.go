package arena

import (
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/vastgo/vast/internal/longtest"
	"github.com/vastgo/vast/vm"
)

// allocation is the model of an allocation. The test sets all of its bytes to the value of the field number.
type allocation struct {
	bytes  []byte
	number byte
}

func FuzzArena(f *testing.F) {
	f.Add([]byte{0, 3, 1, 200, 5, 0, 2, 9, 3, 77, 4, 1, 6, 0, 0, 1, 5, 0, 1, 255, 7, 0, 2, 2})
	f.Fuzz(func(t *testing.T, data []byte) { runOperations(t, data, vm.PagesAuto) })
}

func TestAgainstModel(t *testing.T) {
	length := longtest.Pick(5_000, 20_000)
	for _, pages := range []vm.Pages{vm.PagesAuto, vm.PagesSmall, vm.PagesHuge, vm.PagesHeap} {
		seed := rand.Uint64()
		t.Logf("%v, seed %d", pages, seed)
		random := rand.New(rand.NewPCG(seed, 0))
		data := make([]byte, length)
		for i := range data {
			data[i] = byte(random.Uint32())
		}
		runOperations(t, data, pages)
	}
}

func bytesOf[T any](p *T, n int) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(p)), n*int(unsafe.Sizeof(*p)))
}

// runOperations runs operations of two bytes each, the kind and the size, on an arena and on a model. The
// model is the list of the arena's live allocations.
func runOperations(t *testing.T, data []byte, pages vm.Pages) {
	t.Helper()
	a := open(t, Options{Capacity: 1 << 20, HighWater: 1 << 16, Pages: pages})
	var live []allocation
	var marks []Mark
	var counts []int // number of allocations at each mark
	var growing []uint16
	number := byte(0)
	add := func(b []byte) {
		for i, v := range b {
			if v != 0 {
				t.Fatalf("byte %d of %d new bytes is %d, want 0", i, len(b), v)
			}
		}
		number++
		for i := range b {
			b[i] = number
		}
		live = append(live, allocation{b, number})
	}
	truncate := func(allocations, markCount int) {
		live, marks, counts, growing = live[:allocations], marks[:markCount], counts[:markCount], nil
	}
	for n := 0; n+1 < len(data); n += 2 {
		size := int(data[n+1])
		switch data[n] % 9 {
		case 0:
			if e, failed := panicOf(func() { add(bytesOf(Make[record](a), 1)) }).(error); failed &&
				a.Used() < 1<<20-64 {
				t.Fatal(e)
			}
		case 1:
			if a.Used()+size*400 < 1<<20 {
				s := MakeSlice[uint16](a, size, size*200)
				add(bytesOf(unsafe.SliceData(s), cap(s)))
			}
		case 2:
			if p, err := a.Alloc(size, 1<<(size%7)); err == nil {
				add(unsafe.Slice((*byte)(p), size))
			}
		case 3:
			if a.Used()+2*len(growing)+size < 1<<19 {
				growing = Append(a, growing, uint16(n))
			}
		case 4:
			if err := a.Grow(size * 100); err == nil && int(a.end-a.next) < size*100 {
				t.Fatalf("Grow(%d) leaves room for %d bytes", size*100, a.end-a.next)
			}
		case 5:
			marks, counts, growing = append(marks, a.Mark()), append(counts, len(live)), nil
		case 6, 7:
			if len(marks) > 0 {
				k := len(marks) - 1 - size%len(marks)%3
				a.Release(marks[k])
				truncate(counts[k], k)
			}
		case 8:
			if size < 32 {
				a.Reset()
				truncate(0, 0)
			}
		}
		for i, v := range growing {
			if i > 0 && v <= growing[i-1] {
				t.Fatalf("element %d of the growing slice is %d, want more than the %d before it", i, v,
					growing[i-1])
			}
		}
		if a.Used() > 1<<20 || int(a.end) > max(a.Committed(), 0) {
			t.Fatalf("%d bytes are used and %d are usable, but %d are committed", a.Used(), a.end,
				a.Committed())
		}
		if n%64 != 0 && n+3 < len(data) {
			continue
		}
		for _, l := range live {
			for i, v := range l.bytes {
				if v != l.number {
					t.Fatalf("byte %d of allocation %d is %d, want %[2]d", i, l.number, v)
				}
			}
		}
	}
}
