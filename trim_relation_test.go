package vast

import (
	"testing"

	"github.com/vastgo/vast/vm"
)

func TestTrimGivesBackLinks(t *testing.T) {
	const few, many = 1000, 200_000
	limit := vm.NewLimit(1 << 30)
	w := NewWorld(Options{MaxEntities: 1 << 18, Limit: limit})
	defer w.Close()
	part := NewRelation(w, "PartOf", RelationOptions{})
	plain := w.Archetype()
	root := plain.New()
	var first []Run
	plain.NewN(few, func(r Run) { first = append(first, r) })
	for _, r := range first {
		part.SetRun(r, root)
	}
	var rest []Run
	other := w.Archetype(NewTag(w, "Other"))
	other.NewN(many, func(r Run) { rest = append(rest, r) })
	for _, r := range rest {
		part.SetRun(r, root)
	}
	before := limit.Used()
	if n := w.DeleteAll(w.Query().Without(NewTag(w, "Unused")).To(part, root)); n != few+many {
		t.Fatalf("%d entities were deleted", n)
	}
	first = first[:0]
	plain.NewN(few, func(r Run) { first = append(first, r) })
	for _, r := range first {
		part.SetRun(r, root)
	}
	if err := w.Trim(); err != nil {
		t.Fatal(err)
	}
	if back := before - limit.Used(); back < many*12 {
		t.Errorf("%d bytes of %d were given back: the links of %d entities take more", back, before, many)
	}
	if n := part.CountSources(root); n != few {
		t.Errorf("%d sources, want %d", n, few)
	}
	rest = rest[:0]
	other.NewN(many, func(r Run) { rest = append(rest, r) })
	for _, r := range rest {
		if !part.SetRun(r, root) {
			t.Fatal("the root is gone")
		}
	}
	if n := part.CountSources(root); n != few+many {
		t.Errorf("%d sources, want %d", n, few+many)
	}
	w.checkInvariants()
}
