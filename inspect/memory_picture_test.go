package inspect

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/vastgo/vast/probe"
)

type drawnPicture struct {
	n                                        int
	sampled                                  bool
	seconds                                  float64
	committed, resident, huge, notes, values []byte
	areas, archetypes                        []uint16
}

func (f *fixture) draw(t testing.TB, query string) (d drawnPicture) {
	t.Helper()
	status, b := f.do(t, "GET", prefix+"memory/picture?"+query, "", "")
	if status != http.StatusOK || string(b[:4]) != "VPIC" || binary.LittleEndian.Uint32(b[4:]) != 1 {
		t.Fatalf("%s: %d %.200s", query, status, b)
	}
	d.n = int(binary.LittleEndian.Uint32(b[8:]))
	d.sampled = binary.LittleEndian.Uint32(b[12:])&1 != 0
	d.seconds = math.Float64frombits(binary.LittleEndian.Uint64(b[16:]))
	b = b[24:]
	next := func(bytes int) []byte {
		plane := b[:bytes]
		b = b[(bytes+3)&^3:]
		return plane
	}
	for _, plane := range []*[]byte{&d.committed, &d.resident, &d.huge, &d.notes, &d.values} {
		*plane = next(d.n)
	}
	for _, plane := range []*[]uint16{&d.areas, &d.archetypes} {
		raw := next(2 * d.n)
		for i := range d.n {
			*plane = append(*plane, binary.LittleEndian.Uint16(raw[2*i:]))
		}
	}
	if len(b) != 0 {
		t.Fatalf("the answer has %d bytes too many", len(b))
	}
	return d
}

func TestPictureOfEverything(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Options{})
	var m memoryAnswer
	f.get(t, "memory", &m)
	committed, resident := 0, 0
	for _, a := range m.Areas {
		committed, resident = committed+a.Committed, resident+a.Resident
	}
	for _, n := range []int{1, 3, 1000, 65536} {
		var p memoryPictureJSON
		f.get(t, fmt.Sprintf("memory/picture?format=json&cells=%d", n), &p)
		d := f.draw(t, fmt.Sprintf("cells=%d", n))
		if len(p.Cells) != n || d.n != n || p.By != "state" {
			t.Fatalf("%d cells in JSON and %d in binary, want %d", len(p.Cells), d.n, n)
		}
		at, c, r := 0, 0, 0
		for i, cell := range p.Cells {
			if cell[0] != at || cell[2] > cell[1] || cell[3] > cell[2] || cell[4] > cell[3] {
				t.Fatalf("cell %d is %v, but the cell before it ends at %d", i, cell, at)
			}
			at += cell[1]
			c, r = c+cell[2], r+cell[3]
			if d.committed[i] != share(cell[2], cell[1]) || (cell[5] < 0) != (d.areas[i] == nothing) ||
				cell[5] >= 0 && int(d.areas[i]) != cell[5] {
				t.Fatalf("cell %d is %v in JSON, and has the committed share %d and area %d in binary",
					i, cell, d.committed[i], d.areas[i])
			}
			if k := cell[5]; k >= 0 && (m.Areas[k].From >= at ||
				m.Areas[k].From+m.Areas[k].Bytes <= cell[0]) {
				t.Fatalf("cell %d is %v, outside of its area %d: %+v", i, cell, k, m.Areas[k])
			}
			if cell[2] > 0 && cell[5] >= 0 && m.Areas[cell[5]].Committed == 0 {
				t.Fatalf("cell %d has %d bytes committed, but its area has none: %+v", i, cell[2],
					m.Areas[cell[5]])
			}
		}
		// Resident memory may grow between the requests.
		if at != m.Bytes || c != committed || r < resident {
			t.Errorf("%d cells have %d bytes, want %d; %d bytes are committed, want %d; "+
				"%d bytes are resident, want at least %d", n, at, m.Bytes, c, committed, r, resident)
		}
	}
}

func TestPictureOfElements(t *testing.T) {
	f := newFixture(t, Options{})
	var m memoryAnswer
	f.get(t, "memory", &m)
	for _, name := range []string{"Infected", "Position", "Velocity"} {
		a := m.area(t, name, "elements")
		n := min(1100, (a.UsedFrom+a.Committed-a.First)/a.Stride)
		one := fmt.Sprintf("ranges=%d-%d-%d", a.First, a.First+n*a.Stride, n)
		density, archetypes := f.draw(t, one+"&by=density"), f.draw(t, one+"&by=archetype")
		var columns []string
		f.see(t, func() {
			for slot := range n {
				e, alive := probe.EntityAt(f.w, slot)
				has := alive && (f.position.Has(e) && name == "Position" || f.velocity.Has(e) &&
					name == "Velocity" || f.infected.Has(e) && name == "Infected")
				want := uint8(0)
				if has {
					want = 255
				}
				if slot < f.w.Slots() && (density.notes[slot]&noteValue == 0 ||
					density.values[slot] != want) {
					t.Fatalf("%s: slot %d has density %d, notes %b", name, slot, density.values[slot],
						density.notes[slot])
				}
				number := uint16(nothing)
				for x := range probe.Extents(f.w, slot) {
					if x.First <= slot {
						number = uint16(probe.NumberOf(x.Archetype))
						columns = nil
						for _, c := range probe.ColumnsOf(x.Archetype) {
							columns = append(columns, c.Name())
						}
					}
					break
				}
				if archetypes.archetypes[slot] != number {
					t.Fatalf("%s: slot %d belongs to archetype %d %v, but the picture shows archetype %d",
						name, slot, number, columns, archetypes.archetypes[slot])
				}
			}
		})
		all := f.draw(t, fmt.Sprintf("from=%d&to=%d&cells=1&by=density", a.First, a.First+n*a.Stride))
		f.see(t, func() {
			slots := min(n, f.w.Slots())
			col := f.model.look()[m.area(t, name, "elements").Column].col
			if want := share(probe.Occupied(f.w, col, 0, slots), slots); all.values[0] != want {
				t.Errorf("%s: the density is %d, want %d", name, all.values[0], want)
			}
		})
		if mixed := f.draw(t, fmt.Sprintf("from=%d&to=%d&cells=1&by=archetype", a.First,
			a.First+n*a.Stride)); mixed.archetypes[0] != 1 ||
			mixed.notes[0]&noteArchetypes == 0 {
			t.Errorf("%s: one cell has archetype %d, notes %b", name, mixed.archetypes[0], mixed.notes[0])
		}
	}
}

func TestPictureOfChange(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Options{})
	var m memoryAnswer
	f.get(t, "memory", &m)
	n := 64
	first := int(f.people[0].Slot())
	ranges := ""
	for _, name := range []string{"Position", "Velocity"} {
		a := m.area(t, name, "elements")
		at := a.First + first*a.Stride
		ranges += fmt.Sprintf(",%d-%d-%d", at, at+n*a.Stride, n)
	}
	if d := f.draw(t, "by=change&ranges="+ranges[1:]); d.seconds != 0 || d.notes[0]&noteValue != 0 {
		t.Errorf("the first picture compares passes %v s apart, want no comparison", d.seconds)
	}
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		d := f.draw(t, "by=change&ranges="+ranges[1:])
		if d.seconds == 0 {
			if time.Now().After(end) {
				t.Fatal("no picture shows changes")
			}
			continue
		}
		if d.seconds < passInterval.Seconds() || d.seconds > passStale.Seconds() || d.sampled {
			t.Errorf("the picture compares passes %v s apart, sampled is %t", d.seconds, d.sampled)
		}
		for i := range n {
			e := f.people[i]
			moves := i%100 != 0 // the dead do not move
			if d.notes[i]&noteValue == 0 || (d.values[i] > 0) != moves {
				t.Errorf("the change of the position of %v is %d, and the entity moves: %t", e,
					d.values[i], moves)
			}
			if d.values[n+i] != 0 || d.notes[n+i]&noteValue == 0 {
				t.Errorf("the change of the velocity of %v is %d, want 0", e, d.values[n+i])
			}
		}
		break
	}
	// A second request within passInterval does not read the memory again.
	before := f.memory.changes.lenses[0].seen.at
	f.draw(t, "by=change&ranges="+ranges[1:])
	if after := f.memory.changes.lenses[0].seen.at; after.Sub(before) > 0 &&
		after.Sub(before) < passInterval {
		t.Errorf("the time between two passes is %v", after.Sub(before))
	}
	for i := range 10 {
		f.draw(t, fmt.Sprintf("by=change&from=%d&to=%d&cells=100", i*100_000, i*100_000+1000))
	}
	if k := len(f.memory.changes.lenses); k > maxLenses {
		t.Errorf("%d lenses are kept, want at most %d", k, maxLenses)
	}
}

func TestPictureRefusals(t *testing.T) {
	f := newFixture(t, Options{})
	for _, query := range []string{"by=colour", "format=png", "cells=0", "cells=65537", "cells=-1", "cells=x",
		"from=1", "from=5&to=4&cells=1", "from=1&to=2&cells=2",
		"ranges=1", "ranges=1-2", "ranges=0-10-5-5", "ranges=,", "ranges=0-100-50,0-200000-65500",
		"ranges=0-9223372036854775807-1", "from=0&to=4611686018427387904&cells=7",
		"ranges=0-99999999999999-1", "to=100&cells=101"} {
		p := f.refused(t, http.StatusBadRequest, "GET", "memory/picture?"+query, "", "")
		if p.Code != "request" {
			t.Errorf("%s: %+v", query, p)
		}
	}
}

func TestShare(t *testing.T) {
	for _, c := range []struct {
		n, all int
		want   uint8
	}{{0, 10, 0}, {10, 10, 255}, {11, 10, 255}, {1, math.MaxInt, 1}, {1<<30 - 1, 1 << 30, 254}, {1, 2,
		128}, {0, 0, 0}, {math.MaxInt - 1, math.MaxInt, 254}} {
		if got := share(c.n, c.all); got != c.want {
			t.Errorf("share(%d, %d) = %d, want %d", c.n, c.all, got, c.want)
		}
	}
}

func TestCellsHoldEachPlaceOnce(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	for range 3000 {
		n := 1 + r.IntN(maxMemoryCells)
		c := cells{from: r.IntN(1 << (1 + r.IntN(28))), n: n}
		c.to = c.from + n + r.IntN(1<<(1+r.IntN(29)))
		if c.border(0) != c.from || c.border(n) != c.to {
			t.Fatalf("%+v has borders from %d to %d", c, c.border(0), c.border(n))
		}
		place := c.from + r.IntN(c.to-c.from)
		if i := c.holding(place); i < 0 || i >= n || c.border(i) > place || c.border(i+1) <= place {
			t.Fatalf("%+v: place %d is in cell %d from %d to %d", c, place, i, c.border(i), c.border(i+1))
		}
	}
}

// TestDensityOfSamples limits the words to four, because a picture with the usual limit samples the density
// only in a huge world.
func TestDensityOfSamples(t *testing.T) {
	f := newFixture(t, Options{})
	p := &memoryPicture{by: "density", ranges: []cells{{n: 300}}, total: 300, words: 4}
	exact := &memoryPicture{by: "density", ranges: []cells{{n: 300}}, total: 300, words: densityWords}
	if err := f.Inspector.draw(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if err := f.Inspector.draw(t.Context(), exact); err != nil {
		t.Fatal(err)
	}
	if !p.sampled || exact.sampled {
		t.Errorf("sampled is %t for four words, and %t without this limit", p.sampled, exact.sampled)
	}
	known := 0
	for i := range p.value {
		if p.notes[i] != exact.notes[i] {
			t.Errorf("cell %d: notes %b, but %b without sampling", i, p.notes[i], exact.notes[i])
		}
		if p.notes[i]&noteValue != 0 {
			known++
		}
	}
	if known == 0 {
		t.Error("no density is known")
	}
}

func FuzzMemoryPicture(f *testing.F) {
	for _, seed := range []string{"", "cells=7&by=change", "ranges=0-100-10,50-60-3&by=density",
		"from=5&to=6&cells=1", "ranges=--", "format=json&by=state", "to=9"} {
		f.Add(seed, 1<<20)
	}
	f.Fuzz(func(t *testing.T, query string, bytes int) {
		q, err := url.ParseQuery(query)
		if err != nil {
			return
		}
		p, err := parseMemoryPicture(q)
		if err != nil {
			if problemOf(err).Status != http.StatusBadRequest {
				t.Fatalf("%q: the error is %v, want a bad request", query, err)
			}
			return
		}
		l := &layout{bytes: max(0, bytes) / 4}
		if p.fit(l) != nil {
			return
		}
		total := 0
		for _, c := range p.ranges {
			total += c.n
			for i := 0; i < c.n; i += 1 + c.n/50 {
				if c.border(i) >= c.border(i+1) || c.holding(c.border(i)) != i ||
					c.holding(c.border(i+1)-1) != i {
					t.Fatalf("cell %d of %+v is empty or does not hold its own bytes", i, c)
				}
			}
		}
		if total != p.total || total < 1 || total > maxMemoryCells {
			t.Fatalf("the ranges have %d cells, but the picture counts %d", total, p.total)
		}
	})
}
