package vastsql

import (
	"fmt"
	"strings"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/probe"
)

// maxArchetypeName limits the bytes of the name of an archetype's table. PostgreSQL truncates longer names.
const maxArchetypeName = 63

// newArchetypeTable makes the table of the entities that were born with an archetype and still have all its
// components.
func (s *schema) newArchetypeTable(w *vast.World, a *vast.Archetype) *table {
	columns := probe.ColumnsOf(a)
	names := []string{"archetype"}
	for _, c := range columns {
		names = append(names, s.nameOf[probe.Describe(c).ID])
	}
	name := strings.Join(names, "_")
	if len(columns) == 0 || len(name) > maxArchetypeName || s.find(name) != nil {
		name = fmt.Sprintf("archetype_%d", probe.NumberOf(a))
	}
	t := newTable(w, name, columns...)
	t.archetype = a
	return t
}

// archetypeOf returns the archetype of a living entity.
func archetypeOf(w *vast.World, e vast.Entity) *vast.Archetype {
	for x := range probe.Extents(w, int(e.Slot())) {
		return x.Archetype // of the extent that holds the slot
	}
	return nil
}
