package bitset

import (
	"testing"

	"github.com/vastgo/vast/vm"
)

// TestEqualWordsOfManySetsLieAtDifferentCacheLines makes 12 sets at regular distances, as a world does. At
// most two sets may have their first word at the same offset in a page.
func TestEqualWordsOfManySetsLieAtDifferentCacheLines(t *testing.T) {
	const sets, capacity = 12, 1 << 16
	r, err := vm.Reserve(sets*(Size(capacity)+vm.PageSize()), vm.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	lines := make(map[uintptr]int)
	for range sets {
		s, err := New(r, capacity)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Grow(capacity); err != nil {
			t.Fatal(err)
		}
		if s.Len() < capacity {
			t.Fatalf("%d of %d slots are usable", s.Len(), capacity)
		}
		s.Set(capacity - 1) // writes to the last word and its summaries
		s.CheckInvariants()
		if uintptr(s.words)%cacheLine != 0 {
			t.Errorf("the words at %p are not at the beginning of a cache line", s.words)
		}
		lines[uintptr(s.words)%(64*cacheLine)]++
		blocks, _ := sizes(capacity)
		if at := int(uintptr(s.words)-uintptr(r.Base())) - blocks - s.skew; at%vm.PageSize() != 0 ||
			s.skew != Skew(at/vm.PageSize()) {
			t.Errorf("a set at byte %d of its region has the skew %d", at, s.skew)
		}
	}
	for line, n := range lines {
		if n > 2 {
			t.Errorf("%d of %d sets have their first word at byte %d of a page, want at most 2", n, sets,
				line)
		}
	}
}

func TestSkewsSpreadEvenly(t *testing.T) {
	for _, distance := range []int{1, 16, 530, 4096, 66_050, 131_586} {
		lines := make(map[int]int)
		for i := range 64 {
			skew := Skew(i * distance)
			if skew < 0 || skew >= skewRoom || skew%cacheLine != 0 {
				t.Fatalf("Skew(%d) = %d, want a multiple of %d below %d", i*distance, skew, cacheLine,
					skewRoom)
			}
			lines[skew]++
		}
		for skew, n := range lines {
			if n > 6 {
				t.Errorf("of 64 sets at a distance of %d pages, %d have the skew %d, want at most 6",
					distance, n, skew)
			}
		}
	}
}
