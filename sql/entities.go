package vastsql

import (
	"slices"
	"strings"

	"github.com/ncruces/go-sqlite3"
	"github.com/vastgo/vast"
	"github.com/vastgo/vast/probe"
)

// entities makes the table of all entities. The column named components lists the tables that contain the
// entity.
func (s *schema) entities(w *vast.World) *table {
	return &table{name: entitiesTable, query: probe.All(w.Query()), fields: []field{
		{name: "entity", kind: kindInt64, part: -1},
		{name: "slot", kind: kindUint32, part: -1},
		{name: "generation", kind: kindUint32, part: -1},
		{name: "name", kind: kindText, part: -1, computed: &computed{(*copier).readNames, (*image).showName}},
		{name: "components", kind: kindText, part: -1, computed: &computed{s.readComponents,
			(*image).showComponents}},
	}}
}

// namedRow is the name of the entity in a row.
type namedRow struct {
	row  int
	name string
}

// presence is a copy of the presence bits of a column. The bits tell which entities have the component.
type presence struct {
	table string   // table of the component
	word  int      // number of words[0] among the words of the column
	words []uint64 // a bit for each slot
}

// slots returns the range of slots [lo, hi) that contains the entities of an image.
func (m *image) slots() (lo, hi int) {
	if len(m.runs) == 0 {
		return 0, 0
	}
	last := m.runs[len(m.runs)-1]
	return m.runs[0].slot, last.slot + last.rows
}

// readNames collects the names of the entities of an image. It must run in World.Visit.
func (c *copier) readNames(m *image) error {
	names, ok := probe.NamesOf(c.world)
	if !ok {
		return nil
	}
	r := 0
	for e := range probe.All(c.world.Query(names)).Between(m.slots()).All() {
		if len(m.names)%256 == 0 {
			if err := c.checkPause(m.table); err != nil {
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

// readComponents copies the presence bits of columns in the slots of an image. It leaves out private columns,
// and columns without a component in these slots. It must run in World.Visit.
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
		p := presence{name, first, make([]uint64, end-first)}
		for k := range p.words {
			if k%4096 == 0 {
				if err := c.checkPause(m.table); err != nil {
					return err
				}
			}
			p.words[k] = probe.Presence(c.world, col, p.word+k)
		}
		m.presences = append(m.presences, p)
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

// showComponents passes the components of a row's entity to SQLite. r is the index of the row's run.
func (m *image) showComponents(ctx sqlite3.Context, row, r int) {
	var b strings.Builder
	slot := m.slot(row, r)
	for _, p := range m.presences {
		if p.words[slot/64-p.word]>>(slot%64)&1 != 0 {
			if b.Len() > 0 {
				b.WriteByte(',')
			}
			b.WriteString(p.table)
		}
	}
	ctx.ResultText(b.String())
}
