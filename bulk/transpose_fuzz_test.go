package bulk

import (
	"testing"

	"github.com/vastgo/vast/internal/modeltest"
)

func FuzzTranspose(f *testing.F) {
	f.Add([]byte{0, 100, 200, 3, 5, 1, 9, 2, 0, 64, 128})
	f.Add([]byte{255, 255, 1, 0, 7, 255, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		b := modeltest.NewStream(data)
		c := newBodyColumns(1 + b.Below(1<<14))
		p := newPool[body](t, Options{Capacity: 1 << 12})
		defer p.Close()
		want := make(map[Handle[body]]body)
		var handles []Handle[body]
		for i := range b.Below(1 << 10) {
			h, v := p.Insert(numberedBody(i))
			want[h] = *v
			handles = append(handles, h)
		}
		for b.More() && len(handles) > 0 { // remove consecutive elements
			from := b.Below(len(handles))
			for _, h := range handles[from:min(len(handles), from+b.Byte())] {
				p.Remove(h)
				delete(want, h)
			}
			if b.Byte()%4 == 0 {
				break
			}
		}
		stop, seen := b.Byte(), 0
		for rows := range c.Pool(p) {
			x := c.x.Slice()
			if len(x) != rows {
				t.Fatalf("a block of %d rows has a slice of %d values", rows, len(x))
			}
			passed := []Handle[body]{}
			for i := range x {
				h := c.HandleAt(i)
				if h.IsZero() {
					continue
				}
				v, lives := want[h]
				if !lives || x[i] != v.position[0] || int(h.Slot()) != c.Index(i) {
					t.Fatalf("row %d stands for %v with %v, want %v", i, h, x[i], v)
				}
				seen++
				if b.Byte()%8 == 1 {
					p.Remove(h)
					delete(want, h)
					continue
				}
				passed = append(passed, h)
			}
			c.step()
			for _, h := range passed {
				v := want[h]
				stepBody(&v)
				want[h] = v
			}
			if stop != 0 && seen > stop {
				break
			}
		}
		if p.Len() != len(want) {
			t.Fatalf("%d elements, want %d", p.Len(), len(want))
		}
		for h, v := range want {
			if got := p.Get(h); got == nil || *got != v {
				t.Fatalf("%v is %v, want %v", h, got, v)
			}
		}
	})
}
