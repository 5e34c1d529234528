package generation

import "testing"

func TestNextCountsAndRetires(t *testing.T) {
	mark := NewMark()
	g := uint32(0)
	for i := uint32(1); i <= MaxCount; i++ {
		if Exhausted(g) {
			t.Fatalf("the generation is exhausted at the count %d, want %d", i-1, MaxCount)
		}
		g = Next(g, mark)
		if Count(g) != i || g&^uint32(MaxCount) != uint32(mark) {
			t.Fatalf("generation %d is %#x with mark %#x", i, g, mark)
		}
	}
	if !Exhausted(g) {
		t.Fatal("the last count is not exhausted")
	}
}

func TestMarksAreDifferentAndNeverZero(t *testing.T) {
	seen := map[Mark]bool{}
	for range MaxMark {
		mark := NewMark()
		if uint32(mark)>>countBits == 0 || uint32(mark)&MaxCount != 0 {
			t.Fatalf("the mark %#x has the number zero, or low bits that are not zero", mark)
		}
		seen[mark] = true
	}
	if len(seen) != MaxMark {
		t.Fatalf("%d different marks, want %d", len(seen), MaxMark)
	}
}

func TestMarksByNumber(t *testing.T) {
	for number := range MaxMark {
		mark := MarkOf(uint8(number + 1))
		if mark.Number() != uint8(number+1) || Next(0, mark) != uint32(number+1)<<countBits|1 {
			t.Fatalf("mark %d is %#x", number+1, mark)
		}
	}
}
