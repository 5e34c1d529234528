package bulk

import (
	"math"
	"testing"

	"github.com/vastgo/vast/internal/modeltest"
)

func FuzzIndexed(f *testing.F) {
	f.Add([]byte{0, 1, 5, 0, 2, 9, 0, 1, 5, 3, 0, 7, 7, 4, 1, 6, 0, 2, 9, 5, 3, 2, 200, 200, 7})
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, pages := range pageKinds {
			u := newIndexedUnits(t, Options{Pages: pages, Capacity: 1 << 12},
				Options{Pages: pages, Capacity: 1 << 12})
			playIndexed(t, u, data)
			u.byTeam.Close()
			u.bySpeed.Close()
			u.Pool().Close()
		}
	})
}

func playIndexed(t *testing.T, u *indexedUnits, data []byte) {
	u.attach(t)
	units := make(map[Handle[unit]]unit)
	var handles []Handle[unit] // of live and of removed units
	b := modeltest.NewStream(data)
	handle := func() (h Handle[unit]) {
		if len(handles) > 0 {
			h = handles[b.Below(len(handles))]
		}
		return h
	}
	for id := 0; b.More() && len(handles) < 1000; id++ {
		switch op := b.Byte() % 8; op {
		case 0, 1, 2:
			v := unit{uint32(b.Below(20)), float32(b.Byte()) - 100, id}
			h, p := u.Insert(v)
			if _, had := units[h]; had || *p != v {
				t.Fatalf("handle %v is not new, or its element is %v", h, *p)
			}
			units[h] = v
			handles = append(handles, h)
		case 3, 4:
			h := handle()
			team, speed := uint32(b.Below(20)), float32(b.Byte())
			v, lives := units[h]
			if u.Update(h, func(p *unit) { p.team, p.speed = team, speed }) != lives {
				t.Fatalf("Update(%v) returns %t", h, !lives)
			}
			if lives {
				v.team, v.speed = team, speed
				units[h] = v
			}
		case 5:
			h := handle()
			_, lives := units[h]
			if u.Remove(h) != lives {
				t.Fatalf("Remove(%v) returns %t", h, !lives)
			}
			delete(units, h)
		case 6:
			h := handle()
			_, lives := units[h]
			text := modeltest.PanicText(func() {
				u.Update(h,
					func(p *unit) { p.speed = float32(math.NaN()) })
			})
			if (text != "") != lives {
				t.Fatalf("Update to a NaN key: panic %q; the unit lives: %t", text, lives)
			}
		case 7:
			if b.Byte()%8 == 0 {
				u.Clear(nil)
				clear(units)
			}
		}
	}
	u.compare(t)
	if u.Pool().Len() != len(units) {
		t.Fatalf("%d units, want %d", u.Pool().Len(), len(units))
	}
	for _, h := range handles {
		v, lives := units[h]
		if p := u.Pool().Get(h); (p != nil) != lives || lives && *p != v {
			t.Fatalf("the element of %v is %v, want %v", h, p, v)
		}
	}
}
