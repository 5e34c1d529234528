package bulk

import (
	"maps"
	"math"
	"testing"
)

// TestForgedLevel loads an index whose file has a wrong level. Settle must add the pairs or return an error.
func TestForgedLevel(t *testing.T) {
	saved := newHashIndex[uint64, uint32](t, Options{Capacity: 1000})
	for i := range uint64(100) {
		saved.Add(i, uint32(i))
	}
	kept, err := saved.keep()
	if err != nil {
		t.Fatal(err)
	}
	from := kept.(*hashIndexState[uint64, uint32])
	contents := from.Describe()
	level := contents.Numbers["level"]
	for _, forged := range []struct{ level, moving uint64 }{{level, 0}, {math.MaxUint64, 1},
		{math.MaxUint64 - 1, 2}, {0, math.MaxUint64}, {1 << 40, 0}, {level + 1, 1}} {
		c := contents
		c.Numbers = maps.Clone(c.Numbers)
		c.Numbers["level"], c.Numbers["moving"] = forged.level, forged.moving
		x := newHashIndex[uint64, uint32](t, Options{Capacity: 1000})
		to := &hashIndexState[uint64, uint32]{x: x, pairs: make([]pairState[uint64, uint32], 0, 100)}
		if err := to.Reserve(c); err != nil {
			t.Fatal(err)
		}
		for k, v := range saved.All() {
			to.pairs = appendPair(to.pairs, k, v)
		}
		for i := range contents.Numbers["buckets"] {
			to.control = append(to.control, *saved.control(i))
		}
		if err := to.Settle(c, to.Arrays(c, 0)); err != nil {
			if forged.level == level {
				t.Errorf("the true level: %v", err)
			}
			continue
		}
		for i := range uint64(100) {
			if !x.Has(i, uint32(i)) || x.Len() != 100 {
				t.Fatalf("level %d, moving %d: the pair %d is lost, %d pairs", forged.level, forged.moving, i,
					x.Len())
			}
		}
	}
}
