package earth

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/vastgo/vast/store"
)

type continents struct {
	globe   *Globe
	regions []*Region
	sent    [][][][]byte // sent[tick][sender][receiver] is a section; ticks begin at 1
}

func newContinents(t testing.TB, c Config, regions int) *continents {
	t.Helper()
	g, err := NewGlobe(c, regions)
	if err != nil {
		t.Fatal(err)
	}
	cs := &continents{globe: g, sent: make([][][][]byte, 1)}
	for i := range regions {
		cs.regions = append(cs.regions, g.Region(i))
	}
	t.Cleanup(func() {
		for _, r := range cs.regions {
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		}
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
	return cs
}

func (cs *continents) tick(t testing.TB, order []int) {
	t.Helper()
	n := len(cs.sent)
	sent := make([][][]byte, len(cs.regions))
	for _, i := range order {
		var received [][]byte
		if n > Lookahead {
			for _, from := range cs.sent[n-Lookahead] {
				received = append(received, from[i])
			}
		}
		sections, err := cs.regions[i].Tick(uint64(n), received)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range sections {
			sent[i] = append(sent[i], bytes.Clone(s))
		}
	}
	cs.sent = append(cs.sent, sent)
}

func (cs *continents) hash(t testing.TB) string {
	t.Helper()
	var states []State
	for _, r := range cs.regions {
		states = append(states, r.State())
	}
	hash, err := cs.globe.HashOf(states)
	if err != nil {
		t.Fatal(err)
	}
	return hash
}

// count returns the number of travellers in the regions and in transit. It returns -1 if InTransit differs
// from the number of travellers in the sections of the last Lookahead ticks.
func (cs *continents) count() (n int) {
	for _, r := range cs.regions {
		n += r.Earth().Counts().Travellers + r.InTransit()
	}
	inSections, inTransit := 0, 0
	for _, sent := range cs.sent[max(1, len(cs.sent)-Lookahead):] {
		for _, from := range sent {
			for _, section := range from {
				inSections += len(section) / BytesTraveller
			}
		}
	}
	for _, r := range cs.regions {
		inTransit += r.InTransit()
	}
	if inSections != inTransit {
		return -1
	}
	return n
}

func TestRegionsHaveTheHashOfOneWorld(t *testing.T) {
	const ticks = 400
	c := Config{Travellers: 20_000, Seed: 5, Places: village(t, 400)}
	want := make([]string, ticks+1)
	counts := make([]int, ticks+1)
	whole := newEarth(t, c)
	for i := range ticks {
		tick(t, whole, 1)
		want[i+1], counts[i+1] = whole.Hash(), whole.Counts().Travellers
	}
	for _, regions := range []int{1, 2, 5, 16} {
		t.Run(fmt.Sprint(regions), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(uint64(regions), 1))
			cs := newContinents(t, c, regions)
			crossed := 0
			for i := 1; i <= ticks; i++ {
				cs.tick(t, rng.Perm(regions))
				if i%16 > 0 && i != ticks {
					continue
				}
				if got := cs.hash(t); got != want[i] || cs.count() != counts[i] {
					t.Fatalf("tick %d: hash %s and %d travellers, want %s and %d", i, got, cs.count(),
						want[i], counts[i])
				}
				r := rng.IntN(regions)
				saved, err := cs.regions[r].Save()
				if err != nil {
					t.Fatal(err)
				}
				saved = bytes.Clone(saved)
				if err := cs.regions[r].Load(saved); err != nil {
					t.Fatal(err)
				}
				if again, err := cs.regions[r].Save(); err != nil || !bytes.Equal(again, saved) {
					t.Fatalf("tick %d: region %d: Save after Load returns other bytes: %v", i, r, err)
				}
			}
			for _, sent := range cs.sent {
				for from, sections := range sent {
					for to, s := range sections {
						crossed += len(s) / BytesTraveller
						if from == to && len(s) > 0 {
							t.Error("a region has sent travellers to itself")
						}
					}
				}
			}
			if (crossed > 1000) != (regions > 1) {
				t.Errorf("%d travellers have departed for another region", crossed)
			}
		})
	}
}

func TestStatesDifferAfter2To32Ticks(t *testing.T) {
	c := Config{Travellers: 500, Seed: 2, Places: village(t, 12)}
	whole := newEarth(t, c)
	cs := newContinents(t, c, 3)
	for range 20 {
		tick(t, whole, 1)
		cs.tick(t, []int{0, 1, 2})
	}
	before := cs.hash(t)
	old := cs.regions[0].State()
	whole.ticks += 5 << 32
	for _, r := range cs.regions {
		r.earth.ticks += 5 << 32
	}
	if got, want := cs.hash(t), whole.Hash(); got != want || got == before {
		t.Errorf("hash %s, want %s; 5 · 2³² ticks earlier the hash was %s", got, want, before)
	}
	_, err := cs.globe.HashOf([]State{old, cs.regions[1].State(), cs.regions[2].State()})
	if err == nil || !strings.Contains(err.Error(), "different ticks") {
		t.Errorf("HashOf of states of different ticks returned %v", err)
	}
}

func TestRegionsHaveEqualShares(t *testing.T) {
	cs := newContinents(t, Config{Travellers: 50_000, Seed: 5, Places: village(t, 3000)}, 8)
	cs.tick(t, []int{0, 1, 2, 3, 4, 5, 6, 7})
	for i, r := range cs.regions {
		if n := r.Earth().Counts().Travellers; n < 50_000/8*8/10 || n > 50_000/8*12/10 {
			t.Errorf("region %d has %d of 50,000 travellers", i, n)
		}
		for p := cs.globe.bounds[i]; p < cs.globe.bounds[i+1]; p++ {
			if got := cs.globe.RegionOf(int(p)); got != i {
				t.Fatalf("place %d is in region %d, want %d", p, got, i)
			}
		}
	}
}

func TestAsManyRegionsAsPlaces(t *testing.T) {
	c := Config{Travellers: 500, Seed: 2, Places: village(t, 12)}
	whole := newEarth(t, c)
	cs := newContinents(t, c, 12)
	order := []int{11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0}
	for range 200 {
		tick(t, whole, 1)
		cs.tick(t, order)
	}
	if got, want := cs.hash(t), whole.Hash(); got != want {
		t.Errorf("hash %s, want %s", got, want)
	}
	if _, err := NewGlobe(c, 13); err == nil {
		t.Error("NewGlobe made 13 regions of 12 places")
	}
}

func TestInvalidSectionsAndStates(t *testing.T) {
	c := Config{Travellers: 3000, Seed: 2, Places: village(t, 40)}
	cs := newContinents(t, c, 2)
	var section []byte
	for len(section) == 0 || len(cs.sent) <= Lookahead {
		cs.tick(t, []int{0, 1})
		if s := cs.sent[len(cs.sent)-1][0][1]; len(s) > 0 {
			section = s[:BytesTraveller]
		}
	}
	tick := uint64(len(cs.sent))
	saved, err := cs.regions[1].Save()
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []struct {
		what   string
		at     int
		change byte
		cut    int
	}{
		{"a part of a traveller", 0, 0, 1}, {"a wrong cohort", 8, 0x80, 0}, {"a wrong home", 12, 0x80, 0},
		{"a wrong start", 16, 0x80, 0}, {"a wrong destination", 20, 0x80, 0}, {"a wrong health", 21, 0x80, 0},
	} {
		s := slices.Clone(section[:len(section)-bad.cut])
		s[bad.at] ^= bad.change
		if _, err := cs.regions[1].Tick(tick, [][]byte{s, nil}); err == nil {
			t.Errorf("Tick accepted a section with %s", bad.what)
		}
		if err := cs.regions[1].Load(saved); err != nil {
			t.Fatal(err)
		}
	}
	for i := 0; i < len(saved); i += len(saved) / 20 {
		saved[i] ^= 0xff
		if err := cs.regions[1].Load(saved); err == nil {
			t.Errorf("Load accepted a saved region with a changed byte %d", i)
		}
		saved[i] ^= 0xff
	}
}

func TestCompare(t *testing.T) {
	cs := newContinents(t, Config{Travellers: 3000, Seed: 2, Places: village(t, 40)}, 2)
	for range 5 {
		cs.tick(t, []int{0, 1})
	}
	saved, err := cs.regions[1].Save()
	if err != nil {
		t.Fatal(err)
	}
	if err := cs.regions[1].Compare(saved); err != nil {
		t.Errorf("Compare with the state that was just saved: %v", err)
	}
	e := cs.regions[1].earth
	for run := range e.world.Query(e.life).Runs() {
		e.life.Slice(run)[0].Ends++
		break
	}
	err = cs.regions[1].Compare(saved)
	var d *store.Difference
	if !errors.As(err, &d) || d.Column != "Life" || d.Field != "Ends" {
		t.Errorf("Compare returned %v, want a difference in the field Ends of Life", err)
	}
}
