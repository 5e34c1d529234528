package heap

import (
	"slices"
	"testing"

	"github.com/vastgo/vast/internal/modeltest"
	"github.com/vastgo/vast/vm"
)

func FuzzBuffer(f *testing.F) {
	f.Add([]byte{0, 1, 2, 200, 100, 3, 255, 255, 4, 3, 2, 0, 1, 9, 3, 128, 10, 5, 6})
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, pages := range []vm.Pages{vm.PagesAuto, vm.PagesHeap} {
			playBuffers(t, Options{Pages: pages, Capacity: 8 << 20, Limit: vm.NewLimit(3 << 20)}, data)
		}
	})
}

func playBuffers(t *testing.T, o Options, data []byte) {
	h, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	type element [7]uint32
	buffers, models := [2]*Buffer[element]{NewBuffer[element](h), NewBuffer[element](h)}, [2][]element{}
	b := modeltest.NewStream(data)
	for step := uint32(0); b.More() && step < 300; step++ {
		which, v := b.Byte()%2, element{step, 6: ^step}
		buffer, want := buffers[which], &models[which]
		switch b.Byte() % 6 {
		case 0:
			if buffer.Grow(1) == nil {
				buffer.Append(v)
				*want = append(*want, v)
			}
		case 1, 2:
			n := b.Below(1 << 15)
			added, err := buffer.AppendN(n)
			if err != nil {
				break
			}
			for i := range added {
				if added[i] != (element{}) {
					t.Fatalf("added element %d of %d is not zero", i, n)
				}
				added[i] = v
				*want = append(*want, v)
			}
		case 3:
			n := b.Below(len(*want) + 1)
			buffer.Truncate(n)
			*want = (*want)[:n]
		case 4:
			if len(*want) > 0 {
				i := b.Below(len(*want))
				*buffer.At(i) = v
				(*want)[i] = v
			}
		case 5:
			if b.Byte()%8 == 0 {
				buffer.Close()
				buffers[which], *want = NewBuffer[element](h), nil
			}
		}
		if got := buffers[which]; got.Len() != len(*want) || !slices.Equal(got.Slice(), *want) {
			t.Fatalf("%v: after step %d the elements differ", o.Pages, step)
		}
		h.checked()
	}
	for i := range buffers {
		if !slices.Equal(buffers[i].Slice(), models[i]) {
			t.Fatalf("the elements of buffer %d differ", i)
		}
		buffers[i].Close()
	}
	if s := h.Stats(); s.Allocations != 0 {
		t.Fatalf("after Close: %v", s)
	}
}
