package store

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strings"
	"unsafe"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/mapped"
	"github.com/vastgo/vast/internal/probing"
	"github.com/vastgo/vast/internal/state"
	"github.com/vastgo/vast/probe"
)

// Load fills w with a world that [Save] has written. Before Load, the program makes w, registers the
// columns, relations, edges and trackers of the saved world in any order, and calls [vast.World.Require].
// Load sets the resources whose types are in Options.Resources. w must be new: Load returns an error if w has
// or had entities, or has room from [vast.Archetype.Grow]. w keeps columns and archetypes that the file does
// not have. Load matches the trackers of a column by the order in which they were made.
//
// w gets the mark of the file. Load returns an error if vast.Options.Mark of w is set to another mark.
//
// Load finds columns and fields by their names. Where the types differ, Load converts the components: it
// drops fields that the program no longer has, sets fields that the file lacks to zero, and widens integers
// and floats. Load also narrows integers if each value fits. The report lists these changes. Options.Renamed
// gives new names. Every other difference is an error that names the column, the field, both types and the
// remedy.
//
// Load calls no callbacks. If OnAdd derives data from components, derive the data again after Load, or save
// it as a resource. A tracker that the file does not describe sees all components as added. Load does not
// reserve the room that Grow promised in the saved world: call Grow again.
//
// The containers in Options.Containers must have no elements. They may have another Capacity, if it is large
// enough, and a Table may have another layout. Load converts their elements like components, except that the
// elements of Lists must keep their size. Load reads the indices of a bulk.Indexed from the file if they fit
// the elements; otherwise Load makes the indices again. A HashIndex gets another order of pairs if its keys
// are floats, are larger than 8 bytes or have padding, because Go hashes such keys differently in each
// process.
//
// If Load returns an error or panics, w is closed or has no entities, and the containers have no elements:
// close w and make a new world. One exception: if w is not new before the call, or a container has elements,
// Load returns an error and does not change that world or container.
//
// Load checks the checksums, and checks that the parts of the world fit together. So a damaged file gives an
// error. A forged file may hold values that no program writes, such as a bool that is neither true nor false.
//
// If src is neither an io.ByteReader nor a file, Load may read beyond the end of the world.
//
// Complexity: reads each byte once, and checks each entity, link and element of a pool. If src is a file,
// Load reads it on all processors.
func Load(w *vast.World, src io.Reader, o Options) (*Report, error) {
	from, end := sourceOf(src)
	file, err := openSaved(from)
	var report *Report
	if err == nil {
		report, err = readWorld(w, []*layer{file}, o, false)
	}
	if err == nil {
		err = end()
	}
	if err != nil {
		return nil, fmt.Errorf("store: loading world %q: %w", w.Options().Name, err)
	}
	return report, nil
}

// openSaved opens a file that must hold a complete world.
func openSaved(src source) (*layer, error) {
	file, err := openLayer(src, "")
	if err == nil && file.m.delta() {
		err = fmt.Errorf("the file holds only the changes since checkpoint %d of a store: open the "+
			"folder with Open", file.m.Kept.Base)
	}
	return file, err
}

// readWorld reads a world from a chain of files: layers[0] holds a complete world, and each later layer is a
// delta. If maps is true, readWorld may map elements instead of reading them.
func readWorld(w *vast.World, layers []*layer, o Options, maps bool) (*Report, error) {
	l := &loader{w: w, options: o, changes: &changes{renamed: o.Renamed, report: new(Report)}, layers: layers,
		maps: maps && mapped.Supported() == nil}
	l.codecs = codecsOf(o)
	l.layer = layers[0]
	returned := false
	defer func() {
		if !returned { // a codec panicked
			_ = l.r().src.wait()
			_ = l.abandon()
		}
	}()
	err := l.load()
	err = errors.Join(err, l.r().src.wait()) // no goroutine may write into an abandoned world
	returned = true
	if err != nil {
		if l.layer.name != "" {
			err = fmt.Errorf("%s: %w", l.layer.name, err)
		}
		return nil, errors.Join(err, l.abandon())
	}
	return l.report, nil
}

// abandon empties the containers, and closes the world if a part of it was restored.
func (l *loader) abandon() error {
	l.abandonContainers()
	if l.restored == nil {
		return nil
	}
	engine.Abandon(l.restored)
	return l.w.Close()
}

// loader holds the state of one call of readWorld.
type loader struct {
	w       *vast.World
	options Options
	codecs
	*changes

	layers []*layer
	layer  *layer // the layer that is being read
	// For each array, column and resource of the last layer: index of the first layer to read. See whereFrom.
	arraysFrom, valuesFrom, resourcesFrom []int
	later                                 []later // postponed blocks
	maps                                  bool    // whether elements may be mapped: see mapElements
	run                                   pending // run that is mapped next
	edges                                 []part  // unmapped ends of mapped runs: see readEdges

	m        *manifest    // manifest of the last layer
	own      *state.World // world that the program has made
	s        *state.World // world that the file describes
	restored any          // world that is being restored: see engine
	targets  []target     // target of each array in m
	settled  bool         // whether settle was called

	containers []container  // containers of the program
	kept       []*container // the program's container for each container of the file, or nil

	values    map[uint32]*values
	resources map[uint32]bool       // indices of the resources that have been read
	filled    map[reflect.Type]bool // types of the resources that have a value
}

// target is the destination of the elements of an array of the file.
type target struct {
	// array is the program's array. It is nil if the program does not have the array, or if the array is
	// Derived (see state.Array) and the types of the elements differ.
	array *state.Array
	from  *schema // type of the elements in the file
	*conversion
	maps   bool // whether the elements may be mapped
	mapped bool // whether some elements are mapped
}

// values is a HeapColumn whose components are being read.
type values struct {
	from  *schema
	slots []int  // slots whose components have not been read
	next  uint64 // number of the next component to read
	of    any
	path  string
}

// later is a block of a chain that load postpones until it has read all arrays whose elements may be read in
// any order. load then reads the postponed blocks of arrays, then those of values, then those of resources.
type later struct {
	layer *layer
	block
	offset int64  // offset of the block's bytes in the file
	number uint64 // number of the block in the file
	sum    uint32 // checksum of the block's bytes
}

func (l *loader) r() *blockReader { return l.layer.r }

func (l *loader) load() (err error) {
	if l.own, err = engine.Describe(l.w); err != nil {
		return err
	}
	last := l.layers[len(l.layers)-1]
	l.layer, l.m = last, last.m
	if err := l.columns(); err != nil {
		return err
	}
	if err := l.matchContainers(); err != nil {
		return err
	}
	var extents []state.Extent
	for _, l.layer = range l.layers {
		if extents, err = l.extents(); err != nil {
			return err
		}
	}
	if err := l.restore(extents); err != nil {
		return err
	}
	l.arraysFrom, l.valuesFrom, l.resourcesFrom = whereFrom(l.layers)
	for number, layer := range l.layers {
		l.layer = layer
		if number > 0 {
			l.cut()
		}
		if err := l.blocks(number); err != nil {
			return err
		}
		if err := errors.Join(l.mapRun(), l.readEdges()); err != nil {
			return err
		}
		if err := l.r().src.wait(); err != nil { // the next layer overwrites elements
			return err
		}
	}
	slices.SortStableFunc(l.later, func(a, b later) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.index, b.index))
	})
	for _, one := range l.later {
		l.layer = one.layer
		one.layer.r.src = &places{src: one.layer.r.src.(*places).src, offset: one.offset}
		one.layer.r.blocks, one.layer.r.sum = one.number+1, one.sum
		if err := l.readLater(one.block); err != nil {
			return err
		}
	}
	l.layer = last
	return l.finish()
}

func (l *loader) blocks(number int) error {
	for {
		b, err := l.r().next()
		if err != nil {
			return err
		}
		switch b.kind {
		case blockEnd:
			if b.count != l.r().blocks-1 || b.size != 0 {
				return fmt.Errorf("%d blocks come before the last block, which says that there are %d",
					l.r().blocks-1, b.count)
			}
			return nil
		case blockArray:
			err = l.array(b, number)
		case blockZero:
			err = l.zero(b, number)
		case blockValues:
			err = l.valueBlock(b, l.layer.columns, l.valuesFrom, number)
		case blockResource:
			err = l.valueBlock(b, l.layer.resources, l.resourcesFrom, number)
		default:
			err = fmt.Errorf("block %d has the unknown kind %d", l.r().blocks-1, b.kind)
		}
		if err != nil {
			return err
		}
	}
}

// valueBlock reads a block of values or a resource. In a chain, all arrays must be read first, so valueBlock
// postpones the block. It skips the block if the last layer lacks the column or resource, or if a later layer
// replaces the values. indices maps b.index to an index in the manifest of the last layer. layers maps this
// index to the layer whose values are valid. number is the number of the block's layer.
func (l *loader) valueBlock(b block, indices, layers []int, number int) error {
	if len(l.layers) == 1 {
		return l.encoded(b)
	}
	if int64(b.index) >= int64(len(indices)) {
		return fmt.Errorf("block %d belongs to no column or resource", l.r().blocks-1)
	}
	k := indices[b.index]
	if k < 0 || layers[k] != number {
		return l.r().skip(b)
	}
	return l.postpone(b, k)
}

// postpone notes a block of a chain for later reading. index is the index of its array, column or resource in
// the last layer's manifest.
func (l *loader) postpone(b block, index int) error {
	src := l.r().src.(*places)
	if b.size > uint64(math.MaxInt64-src.offset) {
		return fmt.Errorf("block %d has %d bytes", l.r().blocks-1, b.size)
	}
	b.index = uint32(index)
	l.later = append(l.later, later{l.layer, b, src.offset, l.r().blocks - 1, l.r().sum})
	src.offset += int64(b.size)
	return nil
}

func (l *loader) readLater(b block) error {
	if b.kind == blockArray {
		return l.writeTo(&l.targets[b.index], b)
	}
	return l.encoded(b)
}

// encoded reads a block of values or a resource. All arrays must have been read.
func (l *loader) encoded(b block) error {
	if err := l.settle(); err != nil {
		return err
	}
	if b.kind == blockValues {
		return l.readValues(b)
	}
	return l.resource(b)
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
			one.Pool = &state.Contents{Slots: c.Pool.Slots, Mark: c.Pool.Mark, Numbers: c.Pool.Numbers}
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
			return fmt.Errorf("two columns of the file get the name %q: correct Options.Renamed", name)
		}
		found[name] = true
		if storages[p.Storage] != c.Storage || (p.Linked == "") != (c.Linked == "") ||
			p.Private != c.Private || p.Names != c.Names {
			return fmt.Errorf("column %s is %s in the file and %s in the program: keep the storage, or load "+
				"into a column of the old storage under another name, and copy the components", name,
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
		"heap": "a HeapColumn", "shared": "a shared.Column"}[storage]
}

// extents reads the second block of a layer, the extents.
func (l *loader) extents() ([]state.Extent, error) {
	b, err := l.r().next()
	if err != nil {
		return nil, err
	}
	const size = uint64(unsafe.Sizeof(state.Extent{}))
	if b.kind != blockExtents || b.count != uint64(l.layer.m.Extents) || b.size/size != b.count ||
		b.size%size != 0 {
		return nil, fmt.Errorf("block %d has kind %d and %d extents, and the description of the world "+
			"says %d extents", l.r().blocks-1, b.kind, b.count, l.layer.m.Extents)
	}
	bytes, err := l.r().bytes(b)
	if err != nil {
		return nil, err
	}
	extents := make([]state.Extent, b.count)
	copy(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(extents))), b.size), bytes)
	return extents, nil
}

// restore prepares the world for the arrays.
func (l *loader) restore(extents []state.Extent) error {
	l.s.Extents = extents
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
			t.maps = t.conversion == nil && l.m.placed(a)
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

// conversionTo returns the conversion of elements of the file's array a to elements of the program's array
// own.
func (l *loader) conversionTo(own *state.Array, a *arrayManifest) (*conversion, error) {
	to := schemaOf(own.Type)
	switch {
	case a.Container > 0:
		return l.conversionInContainer(own, a, to)
	case a.Kind == state.PoolElements && l.m.Columns[a.Column].Storage != storages[probing.StorageShared]:
		return l.conversionOfPool(a.Type, to, l.nameNow(&l.m.Columns[a.Column]))
	case a.Column >= 0:
		return l.conversionOf(a.Type, to, l.nameNow(&l.m.Columns[a.Column]))
	}
	return l.conversionOf(a.Type, to, a.Kind)
}

// target returns the target of a block whose elements have the given size in the file. number is the number
// of the block's layer. target returns nil if a later layer drops or replaces the elements, or if the field
// target.array is nil.
func (l *loader) target(b block, size uint64, number int) (*target, error) {
	y := l.layer
	if l.settled || int64(b.index) >= int64(len(y.arrays)) {
		return nil, fmt.Errorf("block %d belongs to no array", l.r().blocks-1)
	}
	most, k := uint64(y.m.Arrays[b.index].Len), y.arrays[b.index]
	var t *target
	if k >= 0 && number >= l.arraysFrom[k] && l.targets[k].array != nil {
		t = &l.targets[k]
		if number == len(l.layers)-1 || t.array.Write != nil {
			most = uint64(t.array.Len)
		}
	}
	if b.first > most || b.count > most-b.first || size == 0 && b.size > 0 ||
		size > 0 && b.size/size != b.count || b.size != b.count*size {
		return nil, fmt.Errorf("block %d has %d elements, beginning with element %d, and %d bytes: the "+
			"array has %d elements", l.r().blocks-1, b.count, b.first, b.size, most)
	}
	if y.m.delta() {
		if b.first < y.next[b.index] {
			return nil, fmt.Errorf("block %d begins with element %d, but must begin with element %d or a "+
				"later one", l.r().blocks-1, b.first, y.next[b.index])
		}
		y.next[b.index] = b.first + b.count
	}
	return t, nil
}

func (l *loader) array(b block, number int) error {
	size := 0
	if int64(b.index) < int64(len(l.layer.m.Arrays)) {
		size = l.layer.m.Arrays[b.index].Type.Size
	}
	t, err := l.target(b, uint64(size), number)
	if err != nil {
		return err
	}
	if t == nil {
		return l.r().skip(b)
	}
	if t.array.Write != nil {
		if len(l.layers) > 1 {
			return l.postpone(b, l.layer.arrays[b.index])
		}
		return l.writeTo(t, b)
	}
	// A later layer may have shortened the array.
	first, n := int(b.first), int(b.count)
	left := max(min(n, t.array.Len-first), 0)
	if left == n && l.maps && t.maps {
		if done, err := l.mapElements(t, first, n); done || err != nil {
			return err
		}
	}
	if left == n {
		t.array.Filled = append(t.array.Filled, [2]int{first, first + n})
		if t.conversion == nil {
			return l.r().into(t.array.Bytes(first, first+n))
		}
	}
	src, err := l.r().bytes(b)
	if err != nil || left == 0 {
		return err
	}
	if left < n {
		t.array.Filled = append(t.array.Filled, [2]int{first, first + left})
	}
	dst := t.array.Bytes(first, first+left)
	if t.conversion == nil {
		copy(dst, src)
		return nil
	}
	return t.run(dst, src[:left*size], first, left)
}

// zero reads a block that clears elements of an array.
func (l *loader) zero(b block, number int) error {
	if b.size > 0 || !l.layer.m.delta() {
		return fmt.Errorf("block %d of kind %d has %d bytes: only a delta may have such a block, and the "+
			"block must have 0 bytes", l.r().blocks-1, b.kind, b.size)
	}
	t, err := l.target(b, 0, number)
	if err != nil || t == nil {
		return err
	}
	if t.array.Write != nil {
		return fmt.Errorf("block %d clears elements of an array that must be read in order", l.r().blocks-1)
	}
	t.clear(int(b.first), int(b.first+b.count))
	return nil
}

// clear clears elements that earlier layers may have filled.
func (t *target) clear(lo, hi int) {
	if hi = min(hi, t.array.Len); lo < hi && (len(t.array.Filled) > 0 || t.mapped) {
		clear(t.array.Bytes(lo, hi))
	}
}

// cut shortens each array to its length in this layer: it clears the elements from this length on, which
// earlier layers may have filled.
func (l *loader) cut() {
	ends := make([]int, len(l.targets))
	for i, k := range l.layer.arrays {
		if k >= 0 {
			ends[k] = l.layer.m.Arrays[i].Len
		}
	}
	for k := range l.targets {
		if t := &l.targets[k]; t.array != nil && t.array.Write == nil {
			t.clear(ends[k], t.array.Len)
		}
	}
}

// settle gives the world its entities after all arrays have been read.
func (l *loader) settle() error {
	if l.settled {
		return nil
	}
	if l.restored == nil {
		return errors.New("the file has no extents")
	}
	l.settled = true
	if err := l.r().src.wait(); err != nil {
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

func (l *loader) readValues(b block) error {
	if int64(b.index) >= int64(len(l.m.Columns)) {
		return fmt.Errorf("block %d belongs to no column", l.r().blocks-1)
	}
	v := l.values[b.index]
	if v == nil {
		return l.r().skip(b)
	}
	if b.first != v.next || b.count > uint64(len(v.slots)) {
		return fmt.Errorf("block %d has %d values, beginning with value %d: the column still needs %d "+
			"values, beginning with value %d", l.r().blocks-1, b.count, b.first, len(v.slots), v.next)
	}
	bytes, err := l.r().bytes(b)
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

// decodeAll decodes v from b. It returns an error if bytes follow the value.
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

func (l *loader) resource(b block) error {
	if int64(b.index) >= int64(len(l.m.Resources)) {
		return fmt.Errorf("block %d belongs to no resource", l.r().blocks-1)
	}
	m := &l.m.Resources[b.index]
	if l.resources[b.index] {
		return fmt.Errorf("the resource %s is in the file twice", m.Name)
	}
	if l.resources == nil {
		l.resources = make(map[uint32]bool)
	}
	l.resources[b.index] = true
	name := m.Name
	if now, ok := l.renamed[name]; ok {
		name = now
	}
	i := slices.IndexFunc(l.options.Resources, func(t reflect.Type) bool { return nameOf(t) == name })
	if i < 0 {
		l.report.Dropped = append(l.report.Dropped, m.Name)
		return l.r().skip(b)
	}
	typ := l.options.Resources[i]
	if l.filled[typ] {
		return fmt.Errorf("two resources of the file get the name %q: correct Options.Renamed", name)
	}
	if l.filled == nil {
		l.filled = make(map[reflect.Type]bool)
	}
	l.filled[typ] = true
	to, err := l.codecs.schemaOf(typ, nameOf(typ))
	if err != nil {
		return err
	}
	if err := l.check(m.Type, to, nameOf(typ)); err != nil {
		return err
	}
	bytes, err := l.r().bytes(b)
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

// finish checks that no values or resources are missing, and makes the world usable.
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
		if !l.filled[t] {
			l.report.Added = append(l.report.Added, nameOf(t))
		}
	}
	return engine.Finish(l.restored)
}
