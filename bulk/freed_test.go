package bulk

import (
	"strings"
	"testing"

	"github.com/vastgo/vast/internal/invariants"
	"github.com/vastgo/vast/internal/modeltest"
)

// Insert must panic if a removed element was written, and only then.
func TestWritesToRemovedElements(t *testing.T) {
	if !invariants.Enabled {
		t.Skip("built without the tag invariants")
	}
	for _, pages := range pageKinds {
		o := Options{Name: "ships", Capacity: 1000, Pages: pages}
		for name, c := range map[string]struct {
			store interface {
				Insert(record) (Handle[record], *record)
				Remove(Handle[record]) bool
				Clear(func(Handle[record], *record))
				Trim() error
			}
			says string
		}{
			"Pool": {newPool[record](t, o),
				"bulk: slot 1 of ships was written after it was freed: byte 8 of 40 is 0x2a, and 0xdb was " +
					"left there"},
			"Dense": {newDense[record](t, o),
				"bulk: place 1 of ships was written after it was freed: byte 8 of 40 is 0x2a, and 0xdb was " +
					"left there"},
		} {
			s := c.store
			s.Insert(numbered(1))
			h, e := s.Insert(numbered(2))
			for range 3 {
				s.Remove(h)
				if e[1] != 0x0101010101010101*uint64(invariants.PoisonByte) {
					t.Errorf("%s, %v: a removed element holds %#x", name, pages, e[1])
				}
				h, e = s.Insert(numbered(3))
			}
			s.Clear(nil)
			if err := s.Trim(); err != nil {
				t.Fatal(err)
			}
			s.Insert(numbered(1))
			h, e = s.Insert(numbered(2))
			s.Remove(h)
			e[1] = e[1]&^0xff | 42
			text := modeltest.PanicText(func() { s.Insert(numbered(4)) })
			if !strings.Contains(text, c.says) {
				t.Errorf("%s, %v: Insert panics with %q, want %q", name, pages, text, c.says)
			}
			e[1] = e[1]&^0xff | invariants.PoisonByte
		}
	}
}
