package store

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"
	"unsafe"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/probing"
	"github.com/vastgo/vast/internal/state"
	"github.com/vastgo/vast/probe"
)

// Save writes a world to dst: its entities, the components of all columns, relations, edges, names, the notes
// of trackers, and the resources and containers that the options name. Save does not change the world. While
// Save runs, nothing may change the world, its components or the containers. Two worlds in the same state
// give the same bytes, except for padding between the fields of components.
//
// Save encodes the components of HeapColumns and the resources. It encodes bools, numbers and strings, and
// slices, maps, arrays and structs of encodable values, including unexported fields. If a type has
// UnmarshalBinary, and AppendBinary or MarshalBinary, Save encodes with the type's method, and Load decodes
// with UnmarshalBinary. Every other type needs a codec in the options.
//
// Save returns an error if recorded Commands have not been applied, if two columns have the same name, if a
// component or a resource cannot be encoded, or if dst returns an error. After an error dst may hold an
// incomplete world: keep the last good file until Save has returned nil.
//
// Complexity: one pass over the memory that holds components.
func Save(w *vast.World, dst io.Writer, o Options) error {
	if err := save(w, dst, o); err != nil {
		return fmt.Errorf("store: saving world %q: %w", w.Options().Name, err)
	}
	return nil
}

func save(w *vast.World, dst io.Writer, o Options) error {
	p, err := pictureOf(w, o, nil)
	if err != nil {
		return err
	}
	out, err := newBlockWriter(dst, versionWhole)
	if err != nil {
		return err
	}
	if err := p.write(out); err != nil {
		return err
	}
	return out.close()
}

// picture describes a world that is to be saved. The arrays lie in the memory of the world and of the
// containers that the options name.
type picture struct {
	codecs
	m         *manifest
	state     *state.World
	resources [][]byte
}

// pictureOf describes a world. kept is what a Store adds to the manifest; it is nil for Save.
func pictureOf(w *vast.World, o Options, kept *keptManifest) (*picture, error) {
	p := &picture{codecs: codecsOf(o)}
	var err error
	if p.state, err = engine.Describe(w); err != nil {
		return nil, err
	}
	containers, err := containersOf(o, p.state)
	if err != nil {
		return nil, err
	}
	for i := range containers {
		p.state.Arrays = append(p.state.Arrays, containers[i].describe(i+1)...)
	}
	m, err := describe(p.state, p.codecs)
	if err != nil {
		return nil, err
	}
	for i := range containers {
		m.Containers = append(m.Containers, manifestOf(containers[i].name, containers[i].contents))
	}
	m.Kept, p.m = kept, m
	if kept != nil {
		p.noteSkews()
	}
	p.resources, err = p.codecs.resources(w, m, o)
	return p, err
}

// write writes all blocks except the last one.
func (p *picture) write(out *blockWriter) error {
	if err := out.describe(p.m); err != nil {
		return err
	}
	if err := out.write(p.extents()); err != nil {
		return err
	}
	for i := range p.state.Arrays {
		if err := writeArray(out, uint32(i), &p.state.Arrays[i]); err != nil {
			return err
		}
	}
	for i := range p.state.Columns {
		if p.state.Columns[i].Storage == probing.StorageHeap {
			if err := p.writeValues(out, uint32(i), &p.state.Columns[i]); err != nil {
				return err
			}
		}
	}
	for i, b := range p.resources {
		if err := out.write(block{kind: blockResource, index: uint32(i), count: 1}, b); err != nil {
			return err
		}
	}
	return nil
}

// resources encodes the resources that the options name, and enters them into the manifest. A resource that
// the world lacks is left out.
func (c codecs) resources(w *vast.World, m *manifest, o Options) (encoded [][]byte, err error) {
	for _, t := range o.Resources {
		v, ok := probe.Resource(w, t)
		if !ok {
			continue
		}
		one := resourceManifest{Name: nameOf(t)}
		if one.Type, err = c.schemaOf(t, nameOf(t)); err != nil {
			return nil, err
		}
		b, err := c.encode(nil, v)
		if err != nil {
			return nil, fmt.Errorf("resource %s: %w", nameOf(t), err)
		}
		m.Resources = append(m.Resources, one)
		encoded = append(encoded, b)
	}
	return encoded, nil
}

func (p *picture) extents() (block, []byte) {
	n := len(p.state.Extents)
	return block{kind: blockExtents, count: uint64(n)},
		unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(p.state.Extents))), n*bytesExtent)
}

const bytesExtent = int(unsafe.Sizeof(state.Extent{}))

// writeArray writes an array in blocks of elements that lie side by side.
func writeArray(out *blockWriter, index uint32, a *state.Array) error {
	size := int(a.Type.Size())
	maxCount := max(maxBlock/size/64, 1) * 64 // elements in a block
	for lo := 0; lo < a.Len; {
		if keptOf(a, lo/64) == 0 {
			lo += 64
			continue
		}
		// The block must end with an element that belongs to the state, because the memory behind the last
		// such element may not be usable.
		end, hi, whole := lo, lo, true
		for end < a.Len && end-lo < maxCount {
			mask := keptOf(a, end/64)
			if mask == 0 {
				break
			}
			whole = whole && hi == end && mask&(mask+1) == 0
			hi = min(end+64-bits.LeadingZeros64(mask), a.Len)
			end += 64
		}
		b := block{kind: blockArray, index: index, first: uint64(lo), count: uint64(hi - lo)}
		if err := out.elements(b, a, whole || a.Kept == nil); err != nil {
			return err
		}
		lo = end
	}
	return nil
}

// keptOf returns a mask of the elements that belong to the state, for a group of 64 elements.
func keptOf(a *state.Array, group int) uint64 {
	if a.Kept == nil {
		return ^uint64(0)
	}
	return a.Kept(group)
}

// clearOthers clears the elements of a copy that do not belong to the state. The first element of the copy is
// element lo of the array.
func clearOthers(copied []byte, a *state.Array, lo int) {
	size := int(a.Type.Size())
	for len(copied) > 0 {
		n := min(64-lo%64, len(copied)/size)
		gone := ^keptOf(a, lo/64) >> (lo % 64) & (^uint64(0) >> (64 - n))
		for gone != 0 {
			first := bits.TrailingZeros64(gone)
			end := first + bits.TrailingZeros64(^(gone >> first))
			clear(copied[first*size : end*size])
			gone &^= 1<<end - 1
		}
		copied, lo = copied[n*size:], lo+n
	}
}

// sink is a destination for blocks. The bytes are valid only during the call.
type sink interface {
	write(b block, bytes []byte) error
}

// writeValues writes the components of a HeapColumn in the order of slots. The length of each component
// precedes it.
func (c codecs) writeValues(out sink, index uint32, col *state.Column) (err error) {
	var b, one []byte
	first, n := 0, 0
	flush := func() error {
		defer func() { b, first, n = b[:0], first+n, 0 }()
		return out.write(block{kind: blockValues, index: index, first: uint64(first), count: uint64(n)}, b)
	}
	engine.Slots(col.Of, func(slot int) bool {
		if one, err = c.encode(one[:0], engine.Value(col.Of, slot)); err != nil {
			err = fmt.Errorf("column %s, slot %d: %w", col.Name, slot, err)
			return false
		}
		b = append(binary.AppendUvarint(b, uint64(len(one))), one...)
		if n++; len(b) >= maxBlock/2 {
			err = flush()
		}
		return err == nil
	})
	if err == nil && n > 0 {
		err = flush()
	}
	return err
}
