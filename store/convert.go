package store

import (
	"encoding/binary"
	"fmt"
	"math"
)

// conversion turns the bytes of elements in a file into the bytes of elements in memory.
type conversion struct {
	from, to int // size of an element in the file and in memory, in bytes
	steps    []step
	refs     []ref // entity references; only the conversions of parcels have any
}

// ref is a vast.Entity in an element.
type ref struct {
	from, to int // offset in the file's element and in the program's element, in bytes
	path     string
}

// step converts a part of an element.
type step struct {
	from, to int // offset in the file's element and in the program's element, in bytes
	bytes    int // number of bytes to copy, or 0 if the part changes its type
	// The following fields are set only if the part changes its type.
	source *schema
	target *schema
	path   string
}

// conversionOf returns the conversion of elements from one type to another, or nil if the types are the same.
// path names the elements in errors.
func (c *changes) conversionOf(from, to *schema, path string) (*conversion, error) {
	if from.same(to) {
		return nil, nil
	}
	k := &conversion{from: from.Size, to: to.Size}
	return k, c.convert(k, from, to, 0, 0, path)
}

// conversionOfPool is conversionOf for the elements of a pool. The field "value" of an element holds the
// component. The other fields belong to package vast.
func (c *changes) conversionOfPool(from, to *schema, path string) (*conversion, error) {
	if from.same(to) {
		return nil, nil
	}
	k := &conversion{from: from.Size, to: to.Size}
	if len(from.Fields) != len(to.Fields) {
		return nil, fmt.Errorf("%s: the elements of the pool have %d fields in the file, and %d in the "+
			"program", path, len(from.Fields), len(to.Fields))
	}
	for i, f := range from.Fields {
		t := to.Fields[i]
		if f.Name != t.Name {
			return nil, fmt.Errorf("%s: the pool has the field %s in the file, and %s in the program", path,
				f.Name, t.Name)
		}
		part := path
		if f.Name != "value" {
			part += "." + f.Name
		}
		if err := c.convert(k, f.Type, t.Type, f.Offset, t.Offset, part); err != nil {
			return nil, err
		}
	}
	return k, nil
}

// convert appends to k the steps for a part of an element. at is the offset of the part in the file's
// element, and into is its offset in the program's element.
func (c *changes) convert(k *conversion, from, to *schema, at, into int, path string) error {
	switch {
	case from.same(to):
		k.copy(at, into, from.Size)
		return nil
	case from.Kind == kindEntity && to.Kind == kindEntity:
		k.refs = append(k.refs, ref{at, into, path})
		return nil
	case from.Kind == "struct" && to.Kind == "struct":
		return c.match(from, to, path, func(f, t member) error {
			return c.convert(k, f.Type, t.Type, at+f.Offset, into+t.Offset, path+"."+t.Name)
		})
	case from.Kind == "array" && to.Kind == "array":
		if from.Len > to.Len {
			return fmt.Errorf(tooShort, path, from.Len, to.Len)
		}
		part := c
		for i := range from.Len {
			err := part.convert(k, from.Elem, to.Elem, at+i*from.Elem.Size, into+i*to.Elem.Size, path+"[]")
			if err != nil {
				return err
			}
			part = &changes{renamed: c.renamed, report: new(Report)} // only the first element fills c.report
		}
		return nil
	}
	if err := c.fit(from, to, path); err != nil {
		return err
	}
	k.steps = append(k.steps, step{from: at, to: into, source: from, target: to, path: path})
	return nil
}

const tooShort = "%s has %d elements in the saved data and %d in the program: keep at least %[2]d"

// copy appends a step that copies n bytes. If the last step copies the bytes just before them, copy extends
// the last step instead.
func (k *conversion) copy(from, to, n int) {
	if last := len(k.steps) - 1; last >= 0 {
		if s := &k.steps[last]; s.bytes > 0 && s.from+s.bytes == from && s.to+s.bytes == to {
			s.bytes += n
			return
		}
	}
	if n > 0 {
		k.steps = append(k.steps, step{from: from, to: to, bytes: n})
	}
}

// run converts n elements. Bytes of dst that no step writes become zero. first is the slot of the first
// element; errors name the slot.
func (k *conversion) run(dst, src []byte, first, n int) error {
	clear(dst)
	for i := range n {
		if err := k.element(dst[i*k.to:(i+1)*k.to], src[i*k.from:(i+1)*k.from]); err != nil {
			return fmt.Errorf("slot %d: %w", first+i, err)
		}
	}
	return nil
}

// element converts an element. dst must hold zeros.
func (k *conversion) element(dst, src []byte) error {
	for i := range k.steps {
		step := &k.steps[i]
		if step.bytes > 0 {
			copy(dst[step.to:step.to+step.bytes], src[step.from:])
		} else if err := step.convert(dst[step.to:], src[step.from:]); err != nil {
			return err
		}
	}
	return nil
}

func (s *step) convert(dst, src []byte) error {
	switch s.source.Kind {
	case "float32":
		putFloat(dst, src)
		return nil
	case "complex64":
		putFloat(dst, src)
		putFloat(dst[8:], src[4:])
		return nil
	}
	signedSource, _ := s.source.integer()
	signedTarget, _ := s.target.integer()
	v := load(src, s.source.Size, signedSource)
	bits := uint(s.target.Size * 8)
	shift := 64 - bits
	fits := v<<shift>>shift == v
	if signedTarget {
		fits = uint64(int64(v<<shift)>>shift) == v
	}
	if topBit := int64(v) < 0; signedSource != signedTarget && topBit {
		fits = false // v is negative, or above the largest int64
	}
	if !fits {
		if signedSource {
			return fmt.Errorf("%s is %d in the saved data, which a %v cannot hold", s.path, int64(v),
				s.target)
		}
		return fmt.Errorf("%s is %d in the saved data, which a %v cannot hold", s.path, v, s.target)
	}
	store(dst, s.target.Size, v)
	return nil
}

func putFloat(dst, src []byte) {
	f := math.Float32frombits(binary.LittleEndian.Uint32(src))
	binary.LittleEndian.PutUint64(dst, math.Float64bits(float64(f)))
}

// load reads a little-endian integer and extends it to 64 bits.
func load(b []byte, bytes int, signed bool) uint64 {
	var v uint64
	for i := range bytes {
		v |= uint64(b[i]) << (8 * i)
	}
	if shift := 64 - 8*bytes; signed {
		v = uint64(int64(v<<shift) >> shift)
	}
	return v
}

// store writes the low bytes of v as a little-endian integer.
func store(b []byte, bytes int, v uint64) {
	for i := range bytes {
		b[i] = byte(v >> (8 * i))
	}
}
