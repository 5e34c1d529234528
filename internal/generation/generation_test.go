package generation

import "testing"

func TestNextCountsAndRetires(t *testing.T) {
	tag := NewTag()
	g := uint32(0)
	for i := uint32(1); i <= MaxCount; i++ {
		if Exhausted(g) {
			t.Fatalf("exhausted after %d of %d", i-1, MaxCount)
		}
		g = Next(g, tag)
		if Count(g) != i || g&^uint32(MaxCount) != uint32(tag) {
			t.Fatalf("generation %d is %#x with tag %#x", i, g, tag)
		}
	}
	if !Exhausted(g) {
		t.Fatal("the last count is not exhausted")
	}
}

func TestTagsAreDifferentAndNeverZero(t *testing.T) {
	seen := map[Tag]bool{}
	for range MaxTag {
		tag := NewTag()
		if uint32(tag)>>countBits == 0 || uint32(tag)&MaxCount != 0 {
			t.Fatalf("tag %#x", tag)
		}
		seen[tag] = true
	}
	if len(seen) != MaxTag {
		t.Fatalf("%d different tags, want %d", len(seen), MaxTag)
	}
}
