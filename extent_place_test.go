package vast

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/vastgo/vast/vm"
)

// places returns the first word and the number of words of each extent of an archetype.
func places(a *Archetype) (all [][2]uint32) {
	for _, x := range a.extents {
		all = append(all, [2]uint32{x.word, x.words})
	}
	return all
}

func expectPlaces(t *testing.T, what string, a *Archetype, want ...[2]uint32) {
	t.Helper()
	if got := places(a); !slices.Equal(got, want) {
		t.Errorf("%s: the extents have first words and lengths %v, want %v", what, got, want)
	}
	a.world.checkInvariants()
}

// someArchetypes returns a world with room for a number of words, and n archetypes with one column each.
func someArchetypes(t *testing.T, words, n int, o Options) (w *World, as []*Archetype) {
	o.MaxEntities = words * 64
	w = NewWorld(o)
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	for range n {
		as = append(as, w.Archetype(anotherColumn[uint64](w)))
	}
	return w, as
}

// clearOut deletes all entities of an archetype of someArchetypes.
func clearOut(a *Archetype) { a.world.DeleteAll(a.world.Query(a.columns[0].asAny())) }

// TestDrawnWords checks how many words an archetype takes from the world: as many as it needs, but at least a
// quarter of its words. If fewer words are left in the world, it takes the remaining words.
func TestDrawnWords(t *testing.T) {
	_, as := someArchetypes(t, 1000, 2, Options{Pages: vm.PagesSmall})
	a, b := as[0], as[1]
	a.NewN(3*64+1, nil)
	expectPlaces(t, "193 entities", a, [2]uint32{0, 4})
	b.New()
	a.NewN(4*64, nil)
	expectPlaces(t, "4 words more", a, [2]uint32{0, 4}, [2]uint32{5, 4})
	a.NewN(391*64, nil)
	a.NewN(63, nil)
	expectPlaces(t, "399 words", a, [2]uint32{0, 4}, [2]uint32{5, 4}, [2]uint32{9, 391})
	a.New()
	expectPlaces(t, "one entity more", a, [2]uint32{0, 4}, [2]uint32{5, 4}, [2]uint32{9, 391},
		[2]uint32{400, 99})
	a.NewN(98*64+63, nil)
	b.NewN(64+63, nil)
	a.NewN(64*200, nil)
	expectPlaces(t, "more than a quarter", a,
		[2]uint32{0, 4}, [2]uint32{5, 4}, [2]uint32{9, 391}, [2]uint32{400, 99}, [2]uint32{500, 200})
	b.NewN(64*250, nil)
	a.New()
	expectPlaces(t, "all remaining words", a,
		[2]uint32{0, 4}, [2]uint32{5, 4}, [2]uint32{9, 391}, [2]uint32{400, 99}, [2]uint32{500, 200},
		[2]uint32{950, 50})
}

// TestDrawAtALimit checks that an archetype takes only the words that it needs if the limit has no room for a
// quarter of the archetype's words.
func TestDrawAtALimit(t *testing.T) {
	if vm.HeapStandIn() {
		t.Skip("the heap stand-in takes all memory at once")
	}
	used := 0
	for _, maxBytes := range []int{1 << 30, 0} {
		if maxBytes == 0 {
			maxBytes = used + 1<<18
		}
		limit := vm.NewLimit(maxBytes)
		w, as := someArchetypes(t, 1<<15, 1, Options{Pages: vm.PagesSmall, Limit: limit})
		a := as[0]
		a.NewN(1<<20, nil)
		if used == 0 {
			used = limit.Used()
			continue
		}
		a.New()
		expectPlaces(t, "one entity more", a, [2]uint32{0, 1 << 14}, [2]uint32{1 << 14, 1})
		if w.frontier != 1<<14+1 || w.Len() != 1<<20+1 {
			t.Errorf("%d entities, the first free word is %d", w.Len(), w.frontier)
		}
	}
}

func TestHolesByTheirSize(t *testing.T) {
	w, as := someArchetypes(t, 40, 16, Options{Pages: vm.PagesSmall})
	for i, words := range []int{2, 3, 5, 3, 8, 3, 8, 3} { // at words 0, 2, 5, 10, 13, 21, 24, 32
		as[i].NewN(words*64, nil)
	}
	for i := 0; i < 8; i += 2 {
		clearOut(as[i])
	}
	for i, c := range []struct {
		words int
		at    uint32
	}{{4, 5}, {2, 0}, {1, 9}, {6, 13}, {3, 24}, {5, 27}, {2, 19}, {4, 35}} {
		if err := as[8+i].Grow(c.words * 64); err != nil {
			t.Fatal(err)
		}
		expectPlaces(t, fmt.Sprintf("%d words", c.words), as[8+i], [2]uint32{c.at, uint32(c.words)})
	}
	if n := w.vacant.Count(); n != 0 || w.frontier != 39 {
		t.Errorf("%d words are vacant before the frontier, word %d; want 0 before word 39", n, w.frontier)
	}
}

// TestLargestHole checks the placement if neither a hole nor the words behind all extents have enough words.
// The archetype takes the largest hole first, then smaller holes. A refused Grow gives all words back.
func TestLargestHole(t *testing.T) {
	w, as := someArchetypes(t, 20, 7, Options{Pages: vm.PagesSmall})
	for i, words := range []int{2, 3, 4, 3, 3, 4} { // at words 0, 2, 5, 9, 12, 15; one word is left
		as[i].NewN(words*64, nil)
	}
	for i := 0; i < 6; i += 2 {
		clearOut(as[i])
	}
	a := as[6]
	a.NewN(8*64, nil)
	expectPlaces(t, "8 words of 10", a, [2]uint32{0, 1}, [2]uint32{5, 4}, [2]uint32{12, 3})
	if err := a.Grow(3 * 64); !errors.Is(err, vm.ErrCapacity) || w.frontier != 19 {
		t.Errorf("Grow by 3 words when 2 are free: %v; the frontier is word %d, want 19", err, w.frontier)
	}
	expectPlaces(t, "after a refusal", a, [2]uint32{0, 1}, [2]uint32{5, 4}, [2]uint32{12, 3})
	if err := a.Grow(2 * 64); err != nil {
		t.Error(err)
	}
	expectPlaces(t, "the last 2 words", a,
		[2]uint32{0, 1}, [2]uint32{1, 1}, [2]uint32{5, 4}, [2]uint32{12, 3}, [2]uint32{19, 1})
}

// TestExtentsOfHugePages checks that an extent that fills a huge page, and lies behind all other extents,
// begins at the start of a huge page. There are two exceptions: an extent that continues the archetype's last
// extent, and an extent for which the world has too few words from the next huge page on.
func TestExtentsOfHugePages(t *testing.T) {
	huge := vm.HugePageSize()
	if huge == 0 || huge > 4<<20 || vm.HeapStandIn() {
		t.Skip("the system has no huge pages, or very large ones")
	}
	words := uint32(huge / 8 / 64) // the words of a huge page in a column of 8 bytes
	w, as := someArchetypes(t, int(4*words), 3, Options{Pages: vm.PagesSmall})
	a, b, c := as[0], as[1], as[2]
	a.New()
	b.NewN(int(words-1)*64, nil)
	expectPlaces(t, "a word less than a huge page", b, [2]uint32{1, words - 1})
	clearOut(b)
	b.NewN(int(words)*64, nil)
	expectPlaces(t, "a huge page", b, [2]uint32{words, words})
	if n := uint32(w.vacant.Count()); n != words-1 || w.frontier != 2*words {
		t.Errorf("%d words are vacant before the frontier, word %d; want %d before word %d", n, w.frontier,
			words-1, 2*words)
	}
	c.New()
	expectPlaces(t, "a small extent", c, [2]uint32{1, 1})
	b.New()
	expectPlaces(t, "the next extent of b", b, [2]uint32{2, words / 4}, [2]uint32{words, words})
	a.NewN(int(words)*64, nil)
	expectPlaces(t, "another huge page", a, [2]uint32{0, 1}, [2]uint32{2 * words, words})
	a.NewN(int(words)*64, nil)
	expectPlaces(t, "an extent that continues the last", a,
		[2]uint32{0, 1}, [2]uint32{2 * words, words}, [2]uint32{3 * words, words})

	_, as = someArchetypes(t, int(2*words), 2, Options{Pages: vm.PagesSmall})
	as[0].New()
	as[1].NewN(int(words+1)*64, nil)
	expectPlaces(t, "too large for the last huge page", as[1], [2]uint32{1, words + 1})

	_, as = someArchetypes(t, int(2*words), 2, Options{Pages: vm.PagesSmall})
	as[0].New()
	as[1].NewN(int(words)*64, nil)
	expectPlaces(t, "the last huge page", as[1], [2]uint32{words, words})
}
