package vastsql

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"sort"
	"time"
	"unsafe"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/probe"
)

// image is the copy of a table at one moment.
type image struct {
	table *table
	rows  int
	runs  []run
	gens  []uint32 // generation of the entity of each row; nil if the statement does not use entities
	bases []base   // by the index of the part
	// texts holds the values that clients see, by the index of the field and the row. It holds only fields
	// whose values refer to memory that the owner of the world may change: blobs and JSON of a HeapColumn.
	texts     map[int][][]byte
	names     []namedRow     // names of entities, in ascending order of rows; only for table entities
	presences []presence     // components of entities; only for table entities
	values    [][]any        // the rows of a report; nil for other tables
	indexes   map[int]*index // by the index of the field
}

// run is a range of rows whose entities are in consecutive slots.
type run struct {
	slot, row, rows int
}

// end returns the row after the last one.
func (r run) end() int { return r.row + r.rows }

// base refers to the elements of a part, one for each row. The elements are a copy, or they lie in a slice of
// Options.Lists or in a world that does not change.
type base struct {
	first unsafe.Pointer // nil if the statement does not use the part
	size  uintptr
	keep  any // the Go value that contains the elements; nil if they lie in a buffer or in the world
}

// at returns the address of the value of a field in a row.
func (m *image) at(f *field, row int) unsafe.Pointer {
	b := &m.bases[f.part]
	return unsafe.Add(b.first, uintptr(row)*b.size+f.offset)
}

// entityAt returns the ID of the entity that a field of kindEntity has in a row.
func (m *image) entityAt(column, row int) uint64 {
	return (*(*vast.Entity)(m.at(&m.table.fields[column], row))).ID()
}

// entity returns the ID of the entity in a row. slot is the entity's slot.
func (m *image) entity(row, slot int) int64 {
	return int64(uint64(m.gens[row])<<32 | uint64(uint32(slot)))
}

// runOf returns the index of the run that contains a row.
func (m *image) runOf(row int) int {
	return sort.Search(len(m.runs), func(i int) bool { return row < m.runs[i].end() })
}

// find returns the index of the run and the row of an entity, and whether the entity has a row.
func (m *image) find(id int64) (r, row int, ok bool) {
	if l := m.table.list; l != nil {
		row, ok = l.find(id)
		return 0, row, ok
	}
	slot := int(uint32(id))
	r = sort.Search(len(m.runs), func(i int) bool { return m.runs[i].slot+m.runs[i].rows > slot })
	if r == len(m.runs) || m.runs[r].slot > slot {
		return 0, 0, false
	}
	row = m.runs[r].row + slot - m.runs[r].slot
	return r, row, m.gens[row] == uint32(uint64(id)>>32)
}

// copier copies tables. Its methods run in World.Visit.
type copier struct {
	world    *vast.World
	buffers  *lease
	bytes    int // bytes that may still be copied
	limit    int
	until    time.Time // end of the time in which values may be read one by one
	rendered int       // bytes of rendered values since render last checked the time
	still    bool      // the world does not change
}

// need lists the data of a table that a statement uses.
type need struct {
	parts uint64 // bit i stands for table.parts[i], or for the computed field table.fields[i]; bit 63 for all
	texts uint64 // bit i stands for table.fields[i] if it is a blob or JSON; bit 63 also for later fields
	gens  bool   // the statement uses the generations of the entities
	links bool   // the statement calls functions that follow the links of the relation
}

func (n *need) add(o need) {
	n.parts |= o.parts
	n.texts |= o.texts
	n.gens = n.gens || o.gens
	n.links = n.links || o.links
}

func (n need) has(part int) bool { return n.parts>>part&1 != 0 || n.parts>>63 != 0 }

func (n need) hasText(field int) bool { return n.texts>>min(field, 63)&1 != 0 }

// uses returns what a statement needs to read a field.
func (t *table) uses(field int) need {
	switch f := &t.fields[field]; {
	case f.computed != nil:
		return need{parts: 1 << field}
	case f.part < 0:
		return need{gens: true}
	case f.kind == kindBlob || f.kind == kindJSON:
		return need{parts: 1 << min(f.part, 63), texts: 1 << min(field, 63)}
	default:
		return need{parts: 1 << min(f.part, 63)}
	}
}

// size returns the number of rows of a table, and the bytes that a copy of the rows takes.
func (c *copier) size(t *table, n need) (rows, bytes int) {
	rows = t.count(c.world)
	return rows, rows * t.bytesPerRow(n)
}

// bytesPerRow returns the bytes of a row in a copy.
func (t *table) bytesPerRow(n need) (bytes int) {
	if t.list != nil {
		return 0
	}
	if n.gens {
		bytes += 4
	}
	for i := range t.parts {
		if n.has(i) {
			bytes += t.parts[i].size
		}
	}
	return bytes
}

// copy returns the image of a table.
func (c *copier) copy(t *table, n need) (*image, error) {
	switch {
	case t.list != nil:
		return t.list.copy(), nil
	case t.edges != nil:
		return c.copyEdges(t, n)
	}
	m := &image{table: t, bases: make([]base, len(t.parts))}
	rows, bytes := c.size(t, n)
	if err := c.spend(bytes); err != nil {
		return nil, err
	}
	for q := range t.spans(c.world) {
		for r := range q.Runs() {
			m.runs = append(m.runs, run{slot: r.Start(), row: m.rows, rows: r.Len()})
			m.rows += r.Len()
		}
	}
	if n.gens {
		m.gens = unsafe.Slice((*uint32)(c.buffers.take(4*rows)), rows)
		c.copyGenerations(m)
	}
	for i := range t.parts {
		if !n.has(i) || t.parts[i].size == 0 {
			continue
		}
		if err := c.copyPart(m, i, rows, n); err != nil {
			return nil, err
		}
	}
	return m, c.readComputed(m, n)
}

// readComputed reads what the computed fields of a table need.
func (c *copier) readComputed(m *image, n need) error {
	for i := range m.table.fields {
		if f := &m.table.fields[i]; f.computed != nil && n.has(i) {
			if err := f.computed.read(c, m); err != nil {
				return err
			}
		}
	}
	return nil
}

// spend subtracts bytes from those that may still be copied. It returns an error if too few are left.
func (c *copier) spend(bytes int) error {
	if c.bytes -= bytes; c.bytes < 0 {
		return tooManyBytes(c.limit-c.bytes, c.limit)
	}
	return nil
}

// checkPause returns an error if the world has waited too long for values of t that are read one by one.
func (c *copier) checkPause(t *table) error {
	if time.Now().After(c.until) {
		return &LimitError{"MaxPause", "reading the values of table " + t.name + " takes longer than the " +
			"limit: raise the limit, or read a checkpoint"}
	}
	return nil
}

// copyPart copies the elements of part i of a table.
func (c *copier) copyPart(m *image, i, rows int, n need) error {
	p := &m.table.parts[i]
	b := &m.bases[i]
	b.size = uintptr(p.size)
	if c.still && p.copied() && len(m.runs) == 1 { // the elements are adjacent: the image can refer to them
		for q := range m.table.spans(c.world) {
			for r := range q.Runs() {
				b.first = unsafe.Pointer(unsafe.SliceData(probe.Bytes(p.column, r)))
			}
		}
		return nil
	}
	if p.copied() {
		b.first = c.buffers.take(rows * p.size)
		dst := unsafe.Slice((*byte)(b.first), rows*p.size)
		for q := range m.table.spans(c.world) {
			for r := range q.Runs() {
				dst = dst[copy(dst, probe.Bytes(p.column, r)):]
			}
		}
		return nil
	}
	values := reflect.MakeSlice(reflect.SliceOf(p.info.Type), rows, rows)
	b.first, b.keep = values.UnsafePointer(), values
	row := 0
	for q := range m.table.spans(c.world) {
		for e := range q.All() {
			if row%256 == 0 {
				if err := c.checkPause(m.table); err != nil {
					return err
				}
			}
			if p.names != nil {
				name, _ := p.names.Of(e)
				values.Index(row).SetString(name)
			} else if v, ok := probe.Value(p.column, e); ok {
				values.Index(row).Set(v)
			}
			if err := c.render(m, i, row, n); err != nil {
				return err
			}
			row++
		}
	}
	return nil
}

// renderedPerCheck is the number of rendered bytes after which render checks the time.
const renderedPerCheck = 64 << 10

// render adds the values of a row to m.texts, for the needed fields of a part whose values refer to memory of
// the program. It must run in World.Visit.
func (c *copier) render(m *image, part, row int, n need) error {
	if m.table.parts[part].info.Storage != probe.StorageHeap {
		return nil
	}
	for i := range m.table.fields {
		f := &m.table.fields[i]
		if f.part != part || f.kind != kindBlob && f.kind != kindJSON || !n.hasText(i) {
			continue
		}
		if m.texts == nil {
			m.texts = map[int][][]byte{}
		}
		p, known := m.at(f, row), 0
		if f.kind == kindBlob {
			known = len(*(*[]byte)(p))
		}
		if err := c.spend(known); err != nil { // so that a blob that is too large is not copied
			return err
		}
		text := textOf(f, p)
		if err := c.spend(len(text) - known); err != nil {
			return err
		}
		if c.rendered += len(text); c.rendered >= renderedPerCheck {
			c.rendered = 0
			if err := c.checkPause(m.table); err != nil {
				return err
			}
		}
		m.texts[i] = append(m.texts[i], text)
	}
	return nil
}

// textOf returns a copy of a blob, or the JSON text of another value. nil stands for NULL.
func textOf(f *field, p unsafe.Pointer) (text []byte) {
	if f.kind == kindBlob {
		return bytes.Clone(*(*[]byte)(p))
	}
	defer func() {
		if recover() != nil {
			text = nil // the program's MarshalJSON panicked: the value has no JSON form
		}
	}()
	b, err := json.Marshal(reflect.NewAt(f.typ, p).Interface())
	if err != nil {
		return nil // the value has no JSON form, such as a channel or a pointer to itself
	}
	return b
}

// copyGenerations fills m.gens from the world's array of generations. For each slot, this array has the high
// 32 bits of the entity's ID.
func (c *copier) copyGenerations(m *image) {
	areas := probe.Areas(c.world)
	i := slices.IndexFunc(areas, func(a probe.Area) bool { return a.Kind == probe.AreaGenerations })
	a := &areas[i]
	from := probe.Reservations(c.world)[a.Reservation]
	for _, r := range m.runs {
		at := a.First + r.slot*a.Stride
		from.Look(at, r.rows*a.Stride, func(off int, b []byte) {
			dst := m.gens[r.row+(off-at)/a.Stride:]
			copy(dst, unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/4))
		})
	}
}

// copyOne returns the image of the rows that have the entity id in a column. In tables of edges, the column
// is source or target. In other tables, it is the first one. The image may have no rows. For a table of
// Options.Lists, copyOne returns the image of all rows, because this image needs no copy.
func (c *copier) copyOne(t *table, column int, id int64, n need) (*image, error) {
	switch {
	case t.list != nil:
		return t.list.copy(), nil
	case t.edges != nil:
		return c.copyEdgesOf(t, column, id)
	}
	m := &image{table: t, bases: make([]base, len(t.parts))}
	e := vast.EntityOf(uint64(id))
	if !c.world.Alive(e) || t.archetype != nil && archetypeOf(c.world, e) != t.archetype {
		return m, nil
	}
	for i := range t.parts {
		p := &t.parts[i]
		if p.info.Storage == probe.StorageTag {
			if probe.Presence(c.world, p.column, int(e.Slot())/64)>>(e.Slot()%64)&1 == 0 {
				return m, nil
			}
			continue
		}
		v, ok := probe.Value(p.column, e)
		if !ok {
			return m, nil
		}
		if p.size > 0 {
			cell := reflect.New(p.info.Type)
			cell.Elem().Set(v)
			m.bases[i] = base{cell.UnsafePointer(), uintptr(p.size), cell}
			if err := c.render(m, i, 0, n); err != nil {
				return nil, err
			}
		}
	}
	m.rows, m.gens = 1, []uint32{uint32(uint64(id) >> 32)}
	m.runs = []run{{slot: int(e.Slot()), rows: 1}}
	return m, c.readComputed(m, n)
}
