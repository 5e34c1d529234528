package vastarrow

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
	"unsafe"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/probe"
	"github.com/vastgo/vast/vm"
)

const (
	// gridBytes and gridRows bound the rows that an importer holds at once.
	gridBytes = 4 << 20
	gridRows  = 8 << 10
	// mostArchetypes bounds the archetypes that Read makes for the rows of a file.
	mostArchetypes = 64
)

// importer makes entities from rows.
type importer struct {
	ctx        context.Context
	world      *vast.World
	components []*incoming
	byName     map[string]*cells
	folded     map[string]*cells // by the result of fold; the value is nil if several names have this result
	ids        *cells            // IDs of the entities in the file
	rows       int               // rows in the cells
	most       int               // rows that fit into the cells
	made       int               // rows whose entities were made
	mostRows   int               // ReadOptions.MaxRows
	archetypes map[string]*vast.Archetype
	report     Report

	byID  map[uint64]vast.Entity // the new entity for each ID of the file; nil if no leaf refers to entities
	links []link
}

// incoming is a component that an importer reads from a file.
type incoming struct {
	component
	cells   []*cells
	refers  bool   // whether a leaf refers to an entity
	present []bool // for each row, whether the entity gets the component
	every   bool   // whether all rows in the cells have it; false if the importer has too many archetypes
}

// link is a reference to an entity of the file, which Read resolves when it has made all entities.
type link struct {
	from      vast.Entity
	to        uint64
	row       int
	component *incoming
	cells     *cells
}

func newImporter(ctx context.Context, w *vast.World, o ReadOptions) (*importer, error) {
	components, err := importable(w, o.Columns)
	if err != nil {
		return nil, err
	}
	m := &importer{ctx: ctx, world: w, mostRows: o.MaxRows, byName: map[string]*cells{},
		folded:     map[string]*cells{},
		archetypes: map[string]*vast.Archetype{}}
	rowBytes := 16
	for _, c := range components {
		for _, l := range c.leaves {
			rowBytes += l.size() + 24
		}
	}
	m.most = max(1, min(gridRows, gridBytes/rowBytes))
	m.ids = newCells(leaf{name: entityColumn, kind: kindEntity}, m.most)
	m.add(m.ids)
	for _, c := range components {
		in := &incoming{component: c, present: make([]bool, m.most)}
		for _, l := range c.leaves {
			in.refers = in.refers || l.kind == kindEntity
			in.cells = append(in.cells, newCells(l, m.most))
			m.add(in.cells[len(in.cells)-1])
		}
		if in.refers {
			m.byID = map[uint64]vast.Entity{}
		}
		m.components = append(m.components, in)
	}
	return m, nil
}

// importable returns the components of the given columns, or, if cols is nil, of all columns that files can
// hold.
func importable(w *vast.World, cols []vast.AnyColumn) ([]component, error) {
	if cols != nil {
		components, err := describeAll(cols, false)
		if err == nil && len(components) > 0 && components[0].world != w {
			panic("vastarrow: Read: a column of ReadOptions.Columns belongs to another world")
		}
		return components, err
	}
	for _, col := range probe.Columns(w) {
		if _, err := describe(col); err == nil {
			cols = append(cols, col)
		}
	}
	return describeAll(cols, false)
}

func (m *importer) add(c *cells) {
	m.byName[c.name] = c
	folded := fold(c.name)
	if _, shared := m.folded[folded]; shared {
		c = nil
	}
	m.folded[folded] = c
}

// column returns the cells for a column of the file, or nil. If no cells have exactly this name, it returns
// those with the same result of fold, unless several names have this result.
func (m *importer) column(name string) *cells {
	c := m.byName[name]
	if c == nil {
		c = m.folded[fold(name)]
	}
	if c == nil {
		m.report.unknown(name)
		return nil
	}
	c.found = true
	return c
}

// put completes the value of a row: err says why the value did not fit, or is nil. A number that did not fit
// is zero. A text or a time that did not fit is absent.
func (m *importer) put(c *cells, row int, err error) {
	if c.set[row] = err == nil || c.data != nil && c.kind != kindTime; err != nil {
		if c.data != nil {
			clear(c.row(row))
		}
		m.refuse(c, row, err)
	}
}

// refuse reports err, which says why a value of a row did not fit, or is nil.
func (m *importer) refuse(c *cells, row int, err error) {
	if err != nil {
		m.report.refuse(m.made+row, c.name, err.Error())
	}
}

// room returns how many more rows fit into the cells. If the cells are full, room first calls flush. Call
// room only if the file has another row: it returns an error if MaxRows rows have been read already.
func (m *importer) room() (int, error) {
	if m.rows == m.most {
		if err := m.flush(); err != nil {
			return 0, err
		}
	}
	left := m.mostRows - m.made - m.rows
	if left <= 0 {
		return 0, m.tooMany()
	}
	return min(m.most-m.rows, left), nil
}

func (m *importer) tooMany() error {
	return fmt.Errorf("vastarrow: the file has more than %d rows: set ReadOptions.MaxRows to read more",
		m.mostRows)
}

// flush makes the entities of the rows in the cells.
func (m *importer) flush() (err error) {
	if m.rows == 0 {
		return nil
	}
	if err := m.ctx.Err(); err != nil {
		return err
	}
	defer func() { // additions of components panic if memory runs out
		if r := recover(); r != nil {
			e, ok := r.(*vm.Error)
			if !ok {
				panic(r)
			}
			err = fmt.Errorf("vastarrow: the world cannot grow: %w", e)
		}
	}()
	m.presence()
	a := m.archetype()
	if err := a.Grow(m.rows); err != nil {
		return fmt.Errorf("vastarrow: the world cannot grow: %w", err)
	}
	made := make([]vast.Entity, 0, m.rows)
	a.NewN(m.rows, func(run vast.Run) {
		for _, c := range m.components {
			if c.role == roleDense && c.every {
				c.scatter(run, len(made))
			}
		}
		for _, e := range run.All() {
			made = append(made, e)
		}
	})
	m.report.Entities += len(made)
	for _, c := range m.components {
		m.finish(c, made)
	}
	if m.byID != nil && m.ids.found {
		for row, e := range made {
			if m.ids.set[row] {
				m.byID[*(*uint64)(m.ids.at(row, 0))] = e
			}
		}
	}
	m.made += m.rows
	m.clear()
	return nil
}

func (m *importer) clear() {
	m.ids.clear(m.rows)
	for _, c := range m.components {
		for _, x := range c.cells {
			x.clear(m.rows)
		}
	}
	m.rows = 0
}

// presence finds the components that the entity of each row gets: those with a value in the row, and the tags
// that are true. It also counts the nulls for the report.
func (m *importer) presence() {
	for _, c := range m.components {
		present := c.present[:m.rows]
		for row := range present {
			n := 0
			for _, x := range c.cells {
				if x.set[row] {
					n++
				}
			}
			present[row] = n > 0
			if c.role == roleTag {
				present[row] = n > 0 && *(*bool)(c.cells[0].at(row, 0))
			} else if n > 0 && n < len(c.cells) {
				for _, x := range c.cells {
					if x.found && !x.set[row] {
						m.report.Nulls++
					}
				}
			}
		}
		c.every = !slices.Contains(present, false)
	}
}

// archetype returns the archetype with those components of dense columns and tags that all rows have. If the
// file needs more than mostArchetypes, it returns the archetype without components, because a world keeps its
// archetypes for ever.
func (m *importer) archetype() *vast.Archetype {
	var key strings.Builder
	var cols []vast.AnyColumn
	for i, c := range m.components {
		if c.every && (c.role == roleDense || c.role == roleTag) {
			cols = append(cols, c.col)
			fmt.Fprintf(&key, "%d,", i)
		}
	}
	a := m.archetypes[key.String()]
	if a == nil {
		if len(m.archetypes) >= mostArchetypes {
			for _, c := range m.components {
				c.every = false
			}
			return m.world.Archetype()
		}
		a = m.world.Archetype(cols...)
		m.archetypes[key.String()] = a
	}
	return a
}

// scatter writes components into the new entities of a run. The first entity gets the component of the given
// row, the next entity that of the next row, and so on. The documentation of probe.Bytes forbids writes,
// because trackers would miss them. Here they miss nothing: the entities were just made by Archetype.NewN,
// and trackers note all their components as new.
func (c *incoming) scatter(run vast.Run, row int) {
	b := probe.Bytes(c.col, run)
	for _, x := range c.cells {
		if x.kind != kindEntity && x.found {
			size := x.size()
			scatter(b[x.offset:], x.data[row*size:], c.stride, size, x.typ.Align(), run.Len())
		}
	}
}

// finish gives the new entities the components that they were not born with, and notes their links.
func (m *importer) finish(c *incoming, made []vast.Entity) {
	born := c.every && (c.role == roleDense || c.role == roleTag)
	for row, e := range made {
		if !c.present[row] {
			continue
		}
		if !born {
			m.give(c, e, row)
		}
		if !c.refers {
			continue
		}
		for _, x := range c.cells {
			if x.kind == kindEntity && x.set[row] {
				if id := *(*uint64)(x.at(row, 0)); id != 0 {
					m.links = append(m.links, link{e, id, m.made + row, c, x})
				}
			}
		}
	}
}

// give adds a component to an entity.
func (m *importer) give(c *incoming, e vast.Entity, row int) {
	switch c.role {
	case roleRelation: // importer.link sets the target
		return
	case roleNames:
		_, err := c.names.Set(e, c.cells[0].texts[row])
		m.refuse(c.cells[0], row, err)
		return
	case roleTag:
		t := c.typ
		if t == nil {
			t = reflect.TypeFor[struct{}]()
		}
		probe.AddValue(c.col, e, reflect.New(t).Elem())
		return
	}
	v := reflect.New(c.typ).Elem()
	for _, x := range c.cells {
		if !x.set[row] {
			continue
		}
		p := unsafe.Add(v.Addr().UnsafePointer(), x.offset) // the address of a part of v
		switch x.kind {
		case kindEntity: // importer.link sets the entity
		case kindText:
			*(*string)(p) = x.texts[row]
		case kindTime:
			*(*time.Time)(p) = time.Unix(0, *(*int64)(x.at(row, 0))).UTC()
		case kindJSON:
			to := reflect.NewAt(x.typ, p)
			if err := json.Unmarshal([]byte(x.texts[row]), to.Interface()); err != nil {
				to.Elem().SetZero()
				m.refuse(x, row, err)
			}
		default:
			copy(unsafe.Slice((*byte)(p), x.size()), x.row(row))
		}
	}
	probe.AddValue(c.col, e, v)
}

// link resolves the references to entities of the file.
func (m *importer) link() error {
	for i, l := range m.links {
		if i%1024 == 0 && m.ctx.Err() != nil {
			return m.ctx.Err()
		}
		target, ok := m.byID[l.to]
		if !ok {
			m.report.refuse(l.row, l.cells.name, fmt.Sprintf("the file has no entity %d", l.to))
			continue
		}
		if l.component.role == roleRelation {
			if err := setTarget(l.component.relation, l.from, target); err != nil {
				return err
			} else if got, _ := l.component.relation.Target(l.from); got != target {
				m.report.refuse(l.row, l.cells.name, fmt.Sprintf("the link to entity %d closes a circle",
					l.to))
			}
			continue
		}
		if v, ok := probe.Value(l.component.col, l.from); ok {
			*(*vast.Entity)(unsafe.Add(v.Addr().UnsafePointer(), l.cells.offset)) = target
			probe.SetValue(l.component.col, l.from, v)
		}
	}
	return nil
}

// setTarget links two entities. A link that would close a circle changes nothing.
func setTarget(r vast.Relation, from, to vast.Entity) (err error) {
	defer func() {
		switch e := recover().(type) {
		case nil:
		case *vm.Error:
			err = fmt.Errorf("vastarrow: the world cannot grow: %w", e)
		case string: // the panic for a circle
			if !strings.Contains(e, "circle") {
				panic(e)
			}
		default:
			panic(e)
		}
	}()
	r.Set(from, to)
	return nil
}

// end makes the last entities and the links, and completes the report.
func (m *importer) end() error {
	if err := m.flush(); err != nil {
		return err
	}
	for _, c := range m.components {
		if slices.ContainsFunc(c.cells, func(x *cells) bool { return x.found }) {
			for _, x := range c.cells {
				if !x.found {
					m.report.missing(x.name)
				}
			}
		}
	}
	return m.link()
}
