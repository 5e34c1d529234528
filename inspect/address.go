package inspect

import "github.com/vastgo/vast"

// address says where an entity is, for the memory picture.
type address struct {
	Slot int `json:"slot"`
	Word int `json:"word"` // of 64 slots
	Bit  int `json:"bit"`  // in the word
}

// place is where a component's bytes lie.
type place struct {
	Offset int `json:"offset"`
}

func (in *Inspector) addressOf(e vast.Entity) address {
	slot := int(e.Slot())
	return address{slot, slot / 64, slot % 64}
}

func (in *Inspector) placeOf(c *column, e vast.Entity) *place { return nil }

// bornWith returns the names of the components that an entity was born with.
func bornWith(w *vast.World, e vast.Entity) (names []string) {
	for _, col := range w.ComponentsOf(e) {
		names = append(names, col.Name())
	}
	return names
}
