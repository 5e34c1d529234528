package vastsql

import (
	"slices"
	"strings"

	"github.com/ncruces/go-sqlite3"
	"github.com/vastgo/vast"
	"github.com/vastgo/vast/probe"
)

// entities makes the table of all entities. The tables of s give the components their names.
func (s *schema) entities(w *vast.World) *table {
	return &table{name: entitiesTable, query: w.Query(), fields: []field{
		{name: "entity", kind: kindInt64, part: -1},
		{name: "slot", kind: kindUint32, part: -1},
		{name: "generation", kind: kindUint32, part: -1},
		{name: "name", kind: kindText, part: -1, made: &made{(*copier).readNames, (*image).showName}},
		{name: "components", kind: kindText, part: -1, made: &made{s.readComponents,
			(*image).showComponents}},
	}}
}

// namedRow is the name of the entity in a row.
type namedRow struct {
	row  int
	name string
}

// having tells which entities have a component.
type having struct {
	table string // table of the component
	word  int    // number of the first word
	words []uint64
}

// slots returns the range of slots that holds the entities of an image.
func (m *image) slots() (lo, hi int) {
	if len(m.runs) == 0 {
		return 0, 0
	}
	last := m.runs[len(m.runs)-1]
	return m.runs[0].slot, last.slot + last.rows
}

// readNames notes the rows whose entities have a name. It must run in World.Visit.
func (c *copier) readNames(m *image) error {
	names, ok := probe.NamesOf(c.world)
	if !ok {
		return nil
	}
	r := 0
	for e := range c.world.Query(names).Between(m.slots()).All() {
		if len(m.names)%256 == 0 {
			if err := c.late(m.table); err != nil {
				return err
			}
		}
		slot := int(e.Slot())
		for slot >= m.runs[r].slot+m.runs[r].rows {
			r++
		}
		name, _ := names.Of(e)
		m.names = append(m.names, namedRow{m.runs[r].row + slot - m.runs[r].slot, name})
	}
	return nil
}

// readComponents copies presence bits. It must run in World.Visit.
func (s *schema) readComponents(c *copier, m *image) error {
	lo, hi := m.slots()
	if lo == hi {
		return nil
	}
	for i, col := range probe.Columns(c.world) {
		name := ""
		if i < len(s.nameOf) {
			name = s.nameOf[i]
		} else if info := probe.Describe(col); !info.Private {
			name = tableName(info)
		}
		if name == "" || probe.Occupied(c.world, col, lo, hi) == 0 {
			continue
		}
		first, end := lo/64, (hi+63)/64
		if err := c.spend(8 * (end - first)); err != nil {
			return err
		}
		h := having{name, first, make([]uint64, end-first)}
		for k := range h.words {
			if k%4096 == 0 {
				if err := c.late(m.table); err != nil {
					return err
				}
			}
			h.words[k] = probe.Presence(c.world, col, h.word+k)
		}
		m.has = append(m.has, h)
	}
	return nil
}

// showName passes the name of a row's entity to SQLite.
func (m *image) showName(ctx sqlite3.Context, row, _ int) {
	i, ok := slices.BinarySearchFunc(m.names, row, func(n namedRow, row int) int { return n.row - row })
	if !ok {
		ctx.ResultNull()
		return
	}
	ctx.ResultText(m.names[i].name)
}

// showComponents passes the components of a row's entity to SQLite.
func (m *image) showComponents(ctx sqlite3.Context, row, r int) {
	var b strings.Builder
	slot := m.slot(row, r)
	for _, h := range m.has {
		if h.words[slot/64-h.word]>>(slot%64)&1 != 0 {
			if b.Len() > 0 {
				b.WriteByte(',')
			}
			b.WriteString(h.table)
		}
	}
	ctx.ResultText(b.String())
}
