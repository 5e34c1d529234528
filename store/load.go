package store

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"unsafe"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/probing"
	"github.com/vastgo/vast/internal/state"
	"github.com/vastgo/vast/probe"
)

// Load reads a world that [Save] has written into w. The program makes w, registers columns, relations,
// edges, trackers and resources as the program that saved did, in any order, and calls Load before it makes
// the first entity. Columns and archetypes that w has beyond those of the file stay.
//
// Trackers of one column are told apart by their order. Calls of [vast.World.Require] come before Load, too.
//
// Columns and fields are found by their names. Where the types differ, Load converts: it drops what the
// program no longer has, leaves zero what the file lacks, and lets integers and floats become wider. Integers
// also become narrower if each value fits. The report says what it did. Options.Renamed gives new names.
// Everything else that differs is an error that names the column, the field, both types and the remedy.
//
// Load calls no callbacks: what OnAdd derives from components is derived by the program after Load, or saved
// as a resource. A tracker that the file does not know sees all components as added. Promises of Grow are not
// kept.
//
// Containers that the options name must be new, too, but may have room that Grow has made. Their options may
// differ from those of the saved ones: the layout of a Table, or a Capacity that is large enough. An element
// of another type is converted like a component, apart from a List's elements of another size: Lists lie
// where the size has put them. A HashIndex whose keys are floats, or larger than 8 bytes, or have padding,
// has its pairs in another order than before: Go hashes such keys with a seed that each process draws.
// The indices of a bulk.Indexed are read from the file if they fit the elements, and otherwise made from the
// elements.
//
// If Load returns an error or panics, it has closed w or left w without entities: close w and make a new
// world. The containers have no elements then. A world that had entities before, and a container that had
// elements, stay as they were.
//
// Load checks checksums, and that the parts of the world fit together, so a damaged file is an error and
// never a damaged world. A forged file may hold values that no program writes, such as a bool that is neither
// true nor false.
//
// If src is neither an io.ByteReader nor a file, Load may read beyond the end of the world.
//
// Complexity: one read for each MiB, and a check of each entity, link and element of a pool. All processors
// read from a file.
func Load(w *vast.World, src io.Reader, o Options) (*Report, error) {
	from, end := sourceOf(src)
	_, report, err := readWorld(w, from, o)
	if err == nil {
		err = end()
	}
	if err != nil {
		return nil, fmt.Errorf("store: loading world %q: %w", w.Options().Name, err)
	}
	return report, nil
}

// readWorld reads a world. It returns the description of the world, too.
func readWorld(w *vast.World, src source, o Options) (*manifest, *Report, error) {
	l := newLoader(w, o)
	if err := l.read(src); err != nil {
		return nil, nil, err
	}
	return l.m, l.report, nil
}

func newLoader(w *vast.World, o Options) *loader {
	return &loader{w: w, options: o, codecs: codecsOf(o),
		changes: &changes{renamed: o.Renamed, report: new(Report)}}
}

// read reads the world. If it fails, it has closed the world or left it without entities.
func (l *loader) read(src source) error {
	whole := false
	defer func() {
		if !whole { // a codec panics
			_ = src.wait()
			_ = l.abandon()
		}
	}()
	err := l.load(src)
	err = errors.Join(err, src.wait()) // nothing writes into a world that is abandoned
	whole = true
	if err != nil {
		err = errors.Join(err, l.abandon())
	}
	return err
}

// abandon closes the world if a part of it was restored.
func (l *loader) abandon() error {
	l.abandonContainers()
	if l.restored == nil {
		return nil
	}
	engine.Abandon(l.restored)
	return l.w.Close()
}

// loader is one call of Load.
type loader struct {
	w       *vast.World
	options Options
	codecs
	*changes

	world    vast.Options // of the world that makeWorld makes
	m        *manifest
	r        *blockReader
	own      *state.World // as the program has made the world
	s        *state.World // as the file describes it
	restored any
	targets  []target // for each array of the file
	settled  bool

	containers []container  // of the program
	kept       []*container // for each container of the file, the program's, or nil

	values    map[uint32]*values
	resources map[uint32]bool // the resources that have been read
}

// target is where the elements of an array of the file go.
type target struct {
	array *state.Array // nil for an array that the program does not have
	from  *schema
	*conversion
}

// values is a HeapColumn whose components are being read.
type values struct {
	from  *schema
	slots []int // of the components that have not been read yet
	next  uint64
	of    any
	path  string
}

func (l *loader) load(src source) (err error) {
	if l.w != nil { // before the file is read, because it needs a world without entities
		if l.own, err = engine.Describe(l.w); err != nil {
			return err
		}
	}
	if l.r, err = newBlockReader(src); err != nil {
		return err
	}
	b, err := l.r.next()
	if err != nil {
		return err
	}
	if b.kind != blockManifest {
		return errors.New("the file does not begin with the description of the world")
	}
	text, err := l.r.bytes(b)
	if err != nil {
		return err
	}
	if l.m, err = parse(text); err != nil {
		return err
	}
	if l.w == nil {
		if err := l.makeWorld(); err != nil {
			return err
		}
		if l.own, err = engine.Describe(l.w); err != nil {
			return err
		}
	}
	if err := l.columns(); err != nil {
		return err
	}
	if err := l.matchContainers(); err != nil {
		return err
	}
	for {
		b, err := l.r.next()
		if err != nil {
			return err
		}
		if b.kind == blockEnd {
			if b.count != l.r.blocks-1 || b.size != 0 {
				return fmt.Errorf("the file has %d blocks, of %d", l.r.blocks-1, b.count)
			}
			return l.finish()
		}
		if err := l.block(b); err != nil {
			return err
		}
	}
}

// block reads a block.
func (l *loader) block(b block) error {
	switch b.kind {
	case blockExtents:
		return l.extents(b)
	case blockArray:
		return l.array(b)
	case blockValues, blockResource:
		if err := l.settle(); err != nil {
			return err
		}
		if b.kind == blockValues {
			return l.readValues(b)
		}
		return l.resource(b)
	}
	return fmt.Errorf("block %d has the unknown kind %d", l.r.blocks-1, b.kind)
}

// columns finds the program's column for each column of the file.
func (l *loader) columns() error {
	if slices.ContainsFunc(l.m.Columns, func(c columnManifest) bool { return c.Names }) {
		l.w.Names()
		var err error
		if l.own, err = engine.Describe(l.w); err != nil {
			return err
		}
	}
	own := l.own
	l.s = &state.World{Mark: l.m.Mark, Alignment: l.m.Alignment, Words: l.m.Words, Used: l.m.Used,
		Archetypes: l.m.Archetypes}
	for i, c := range own.Columns {
		if slices.ContainsFunc(own.Columns[:i], func(o state.Column) bool { return o.Name == c.Name }) {
			return fmt.Errorf("two columns of the program have the name %q: give one of them another name "+
				"with Named", c.Name)
		}
	}
	found := make(map[string]bool)
	for _, c := range l.m.Columns {
		one := state.Column{Name: c.Name, Linked: c.Linked, Names: c.Names, Slots: c.Slots, Notes: c.Notes}
		if c.Pool != nil {
			one.Pool = &state.Contents{Slots: c.Pool.Slots, Mark: c.Pool.Mark}
		}
		name := l.nameNow(&c)
		i := slices.IndexFunc(own.Columns, func(o state.Column) bool { return o.Name == name })
		if i < 0 {
			if !c.Private {
				l.report.Dropped = append(l.report.Dropped, c.Name)
			}
			l.s.Columns = append(l.s.Columns, one)
			continue
		}
		p := &own.Columns[i]
		if found[name] {
			return fmt.Errorf("two columns of the file are %q in the program: correct Options.Renamed", name)
		}
		found[name] = true
		if storages[p.Storage] != c.Storage || (p.Linked == "") != (c.Linked == "") ||
			p.Private != c.Private || p.Names != c.Names {
			return fmt.Errorf("column %s is %s in the file and %s in the program: keep the storage, or load "+
				"into a column of the old storage under another name, and copy", name,
				kindOf(c.Storage, c.Linked), kindOf(storages[p.Storage], p.Linked))
		}
		one.Of, one.Type = p.Of, p.Type
		l.s.Columns = append(l.s.Columns, one)
	}
	for _, p := range own.Columns {
		if !found[p.Name] && !p.Private {
			l.report.Added = append(l.report.Added, p.Name)
		}
	}
	return nil
}

// nameNow returns the name that a column of the file has in the program.
func (l *loader) nameNow(c *columnManifest) string {
	name := c.Name
	if c.Linked != "" {
		name = c.Linked // the column of the targets is renamed with its relation
	}
	if now, ok := l.renamed[name]; ok {
		return now + strings.TrimPrefix(c.Name, name)
	}
	return c.Name
}

func kindOf(storage, linked string) string {
	if linked != "" {
		return "a relation or edges"
	}
	return map[string]string{"dense": "a Column", "tag": "a Tag", "sparse": "a SparseColumn",
		"heap": "a HeapColumn"}[storage]
}

// extents reads the extents and prepares the world for the arrays.
func (l *loader) extents(b block) error {
	const size = uint64(unsafe.Sizeof(state.Extent{}))
	if l.restored != nil || b.count != uint64(l.m.Extents) || b.size/size != b.count || b.size%size != 0 {
		return fmt.Errorf("block %d has %d extents, of %d", l.r.blocks-1, b.count, l.m.Extents)
	}
	bytes, err := l.r.bytes(b)
	if err != nil {
		return err
	}
	l.s.Extents = make([]state.Extent, b.count)
	copy(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(l.s.Extents))), b.size), bytes)
	ofContainers, err := l.reserveContainers()
	if err != nil {
		return err
	}
	var arrays []state.Array
	if l.restored, arrays, err = engine.Restore(l.w, l.s); err != nil {
		return err
	}
	for i := range l.m.Arrays {
		a := &l.m.Arrays[i]
		t := target{from: a.Type}
		among := arrays
		if a.Container > 0 {
			among = ofContainers
		}
		number := l.number(a)
		k := slices.IndexFunc(among, func(own state.Array) bool {
			return own.Kind == a.Kind && own.Column == a.Column && own.Container == a.Container &&
				own.Number == number
		})
		if k >= 0 {
			t.array = &among[k]
			if t.conversion, err = l.conversionTo(t.array, a); err != nil {
				return err
			}
			t.array.Converted = t.conversion != nil && !sameFields(a.Type, schemaOf(t.array.Type))
			if t.array.Converted && t.array.Derived {
				t.array = nil
			}
		}
		l.targets = append(l.targets, t)
	}
	l.takeArrays(ofContainers)
	return nil
}

// conversionTo returns how elements of an array of the file become those of an array of the program.
func (l *loader) conversionTo(own *state.Array, a *arrayManifest) (*conversion, error) {
	to := schemaOf(own.Type)
	switch {
	case a.Container > 0:
		return l.conversionInContainer(own, a, to)
	case a.Kind == state.PoolElements:
		return l.conversionOfPool(a.Type, to, l.nameNow(&l.m.Columns[a.Column]))
	case a.Column >= 0:
		return l.conversionOf(a.Type, to, l.nameNow(&l.m.Columns[a.Column]))
	}
	return l.conversionOf(a.Type, to, a.Kind)
}

// array reads a part of an array.
func (l *loader) array(b block) error {
	if l.restored == nil || l.settled || int64(b.index) >= int64(len(l.targets)) {
		return fmt.Errorf("block %d belongs to no array", l.r.blocks-1)
	}
	t := &l.targets[b.index]
	if t.array == nil {
		return l.r.skip(b)
	}
	if most := uint64(t.array.Len); b.first > most || b.count > most-b.first ||
		t.from.Size == 0 && b.size > 0 || t.from.Size > 0 && b.size/uint64(t.from.Size) != b.count ||
		b.size != b.count*uint64(t.from.Size) {
		return fmt.Errorf("block %d has %d elements from %d on and %d bytes: the array has %d elements",
			l.r.blocks-1, b.count, b.first, b.size, t.array.Len)
	}
	first, n := int(b.first), int(b.count)
	if t.array.Write != nil {
		return l.writeTo(t, b)
	}
	t.array.Filled = append(t.array.Filled, [2]int{first, first + n})
	dst := t.array.Bytes(first, first+n)
	if t.conversion == nil {
		return l.r.into(dst)
	}
	src, err := l.r.bytes(b)
	if err != nil {
		return err
	}
	return t.run(dst, src, first, n)
}

// settle gives the world its entities, once all arrays have been read.
func (l *loader) settle() error {
	if l.settled {
		return nil
	}
	if l.restored == nil {
		return errors.New("the file has no extents")
	}
	l.settled = true
	if err := l.r.src.wait(); err != nil {
		return err
	}
	if err := engine.Settle(l.restored); err != nil {
		return err
	}
	if err := l.settleContainers(); err != nil {
		return err
	}
	l.values = make(map[uint32]*values)
	for i := range l.s.Columns {
		c := &l.s.Columns[i]
		if c.Of == nil || l.m.Columns[i].Storage != storages[probing.StorageHeap] {
			continue
		}
		name := l.nameNow(&l.m.Columns[i])
		to, err := l.codecs.schemaOf(c.Type, name)
		if err != nil {
			return err
		}
		v := &values{from: l.m.Columns[i].Type, of: c.Of, path: name}
		if err := l.check(v.from, to, name); err != nil {
			return err
		}
		engine.Slots(c.Of, func(slot int) bool {
			v.slots = append(v.slots, slot)
			return true
		})
		l.values[uint32(i)] = v
	}
	return nil
}

// readValues reads components of a HeapColumn.
func (l *loader) readValues(b block) error {
	if int64(b.index) >= int64(len(l.m.Columns)) {
		return fmt.Errorf("block %d belongs to no column", l.r.blocks-1)
	}
	v := l.values[b.index]
	if v == nil {
		return l.r.skip(b)
	}
	if b.first != v.next || b.count > uint64(len(v.slots)) {
		return fmt.Errorf("block %d has %d values from %d on: %d follow %d", l.r.blocks-1, b.count, b.first,
			len(v.slots), v.next)
	}
	bytes, err := l.r.bytes(b)
	if err != nil {
		return err
	}
	parts := decoder{b: bytes}
	for _, slot := range v.slots[:b.count] {
		part, err := parts.take()
		if err == nil {
			err = l.decodeAll(part, v.from, engine.Value(v.of, slot), v.path)
		}
		if err != nil {
			return fmt.Errorf("slot %d: %w", slot, err)
		}
	}
	v.slots = v.slots[b.count:]
	v.next += b.count
	return nil
}

// decodeAll decodes a value that takes all bytes of b.
func (l *loader) decodeAll(b []byte, from *schema, v reflect.Value, path string) error {
	d := decoder{codecs: l.codecs, changes: l.changes, b: b}
	if err := d.decode(from, v, path); err != nil {
		return err
	}
	if len(d.b) > 0 {
		return fmt.Errorf("%s: %d bytes follow the value", path, len(d.b))
	}
	return nil
}

// resource reads a resource.
func (l *loader) resource(b block) error {
	if int64(b.index) >= int64(len(l.m.Resources)) {
		return fmt.Errorf("block %d belongs to no resource", l.r.blocks-1)
	}
	m := &l.m.Resources[b.index]
	if l.resources[b.index] {
		return fmt.Errorf("the resource %s is in the file twice", m.Name)
	}
	if l.resources == nil {
		l.resources = make(map[uint32]bool)
	}
	l.resources[b.index] = true
	i := slices.IndexFunc(l.options.Resources, func(t reflect.Type) bool {
		name := nameOf(t)
		if now, ok := l.renamed[m.Name]; ok {
			return name == now
		}
		return name == m.Name
	})
	if i < 0 {
		l.report.Dropped = append(l.report.Dropped, m.Name)
		return l.r.skip(b)
	}
	typ := l.options.Resources[i]
	to, err := l.codecs.schemaOf(typ, nameOf(typ))
	if err != nil {
		return err
	}
	if err := l.check(m.Type, to, nameOf(typ)); err != nil {
		return err
	}
	bytes, err := l.r.bytes(b)
	if err != nil {
		return err
	}
	v := reflect.New(typ).Elem()
	if err := l.decodeAll(bytes, m.Type, v, nameOf(typ)); err != nil {
		return err
	}
	probe.SetResource(l.w, v)
	return nil
}

// finish checks the world.
func (l *loader) finish() error {
	if err := l.settle(); err != nil {
		return err
	}
	for _, v := range l.values {
		if len(v.slots) > 0 {
			return fmt.Errorf("column %s: %d values are missing", v.path, len(v.slots))
		}
	}
	if len(l.resources) != len(l.m.Resources) {
		return fmt.Errorf("%d resources of %d are missing", len(l.m.Resources)-len(l.resources),
			len(l.m.Resources))
	}
	for _, t := range l.options.Resources {
		if !slices.ContainsFunc(l.m.Resources, func(m resourceManifest) bool {
			return m.Name == nameOf(t) || l.renamed[m.Name] == nameOf(t)
		}) {
			l.report.Added = append(l.report.Added, nameOf(t))
		}
	}
	return engine.Finish(l.restored)
}
