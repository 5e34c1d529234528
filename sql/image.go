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
	bases []base   // for each part
	// texts has, by the number of a field, its values for clients. It has the fields whose values refer to
	// memory that the owner of the world may change: blobs and JSON of a HeapColumn.
	texts map[int][][]byte
}

// run is a range of rows whose entities are in consecutive slots.
type run struct {
	slot, row, rows int
}

// base is the copy of the elements of a part, one for each row.
type base struct {
	first unsafe.Pointer // nil if the statement does not use the part
	size  uintptr
	keep  any // the value that contains the memory, if it is no buffer
}

// at returns the address of the value of a row.
func (m *image) at(f *field, row int) unsafe.Pointer {
	b := &m.bases[f.part]
	return unsafe.Add(b.first, uintptr(row)*b.size+f.offset)
}

// entity returns the ID of the entity in a row.
func (m *image) entity(row, slot int) int64 {
	return int64(uint64(m.gens[row])<<32 | uint64(uint32(slot)))
}

// find returns the run and the row of an entity, and whether the entity has a row.
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
	world   *vast.World
	buffers *lease
	bytes   int // bytes that may still be copied
	limit   int
	until   time.Time // values that are read one by one must be read by then
}

// need says what a statement uses of a table.
type need struct {
	parts uint64 // bit i stands for table.parts[i]; bit 63 for all
	gens  bool   // the generations of the entities
}

func (n *need) add(o need) {
	n.parts |= o.parts
	n.gens = n.gens || o.gens
}

func (n need) has(part int) bool { return n.parts>>part&1 != 0 || n.parts>>63 != 0 }

// size returns the number of rows of a table, and the bytes of a copy.
func (c *copier) size(t *table, n need) (rows, bytes int) {
	if t.list != nil {
		return t.list.image.rows, 0
	}
	rows = t.query.Count()
	if n.gens {
		bytes += 4 * rows
	}
	for i := range t.parts {
		if n.has(i) {
			bytes += t.parts[i].size * rows
		}
	}
	return rows, bytes
}

// copy returns the image of a table.
func (c *copier) copy(t *table, n need) (*image, error) {
	if t.list != nil {
		return t.list.image, nil
	}
	m := &image{table: t, bases: make([]base, len(t.parts))}
	rows, bytes := c.size(t, n)
	if c.bytes -= bytes; c.bytes < 0 {
		return nil, tooManyBytes(c.limit-c.bytes, c.limit)
	}
	for r := range t.query.Runs() {
		m.runs = append(m.runs, run{slot: r.Start(), row: m.rows, rows: r.Len()})
		m.rows += r.Len()
	}
	if n.gens {
		m.gens = unsafe.Slice((*uint32)(c.buffers.take(4*rows)), rows)
		c.copyGenerations(m)
	}
	for i := range t.parts {
		if !n.has(i) || t.parts[i].size == 0 {
			continue
		}
		if err := c.copyPart(m, i, rows); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (c *copier) copyPart(m *image, i, rows int) error {
	p := &m.table.parts[i]
	b := &m.bases[i]
	b.size = uintptr(p.size)
	if p.copied() {
		b.first = c.buffers.take(rows * p.size)
		dst := unsafe.Slice((*byte)(b.first), rows*p.size)
		for r := range m.table.query.Runs() {
			dst = dst[copy(dst, probe.Bytes(p.column, r)):]
		}
		return nil
	}
	values := reflect.MakeSlice(reflect.SliceOf(p.info.Type), rows, rows)
	b.first, b.keep = values.UnsafePointer(), values
	row := 0
	for e := range m.table.query.All() {
		if row%256 == 0 && time.Now().After(c.until) {
			return &LimitError{"MaxPause", "reading the values of table " + m.table.name + " takes longer: " +
				"raise the limit, or read a stored moment"}
		}
		if p.names != nil {
			name, _ := p.names.Of(e)
			values.Index(row).SetString(name)
		} else if v, ok := probe.Value(p.column, e); ok {
			values.Index(row).Set(v)
		}
		m.render(i, row)
		row++
	}
	return nil
}

// render notes the values for clients of the fields of a part that refer to memory of the program. It must
// run in World.Visit.
func (m *image) render(part, row int) {
	if m.table.parts[part].info.Storage != probe.StorageHeap {
		return
	}
	for i := range m.table.fields {
		f := &m.table.fields[i]
		if f.part != part || f.kind != kindBlob && f.kind != kindJSON {
			continue
		}
		if m.texts == nil {
			m.texts = map[int][][]byte{}
		}
		m.texts[i] = append(m.texts[i], textOf(f, m.at(f, row)))
	}
}

// textOf returns a blob, or a value as JSON; nil for NULL.
func textOf(f *field, p unsafe.Pointer) []byte {
	if f.kind == kindBlob {
		return bytes.Clone(*(*[]byte)(p))
	}
	b, err := json.Marshal(reflect.NewAt(f.typ, p).Interface())
	if err != nil {
		return nil // the value has no JSON form, such as a channel or a pointer to itself
	}
	return b
}

// copyGenerations fills m.gens from the world's array of generations, which has, for each slot, the high 32
// bits of the entity's ID.
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

// copyOne returns the image of the row of one entity, or an image without rows if the entity has no row.
func (c *copier) copyOne(t *table, id int64) *image {
	if t.list != nil {
		return t.list.image
	}
	m := &image{table: t, bases: make([]base, len(t.parts))}
	e := vast.EntityOf(uint64(id))
	if !c.world.Alive(e) {
		return m
	}
	for i := range t.parts {
		p := &t.parts[i]
		if p.info.Storage == probe.StorageTag {
			if probe.Presence(c.world, p.column, int(e.Slot())/64)>>(e.Slot()%64)&1 == 0 {
				return m
			}
			continue
		}
		v, ok := probe.Value(p.column, e)
		if !ok {
			return m
		}
		if p.size > 0 {
			cell := reflect.New(p.info.Type)
			cell.Elem().Set(v)
			m.bases[i] = base{cell.UnsafePointer(), uintptr(p.size), cell}
			m.render(i, 0)
		}
	}
	m.rows, m.gens = 1, []uint32{uint32(uint64(id) >> 32)}
	m.runs = []run{{slot: int(e.Slot()), rows: 1}}
	return m
}
