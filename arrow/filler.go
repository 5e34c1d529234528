package vastarrow

import (
	"encoding/json"
	"fmt"
	"reflect"
	"time"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/vastgo/vast"
)

// filler collects the rows of one leaf and makes an Arrow array of them.
type filler struct {
	leaf  *leaf
	most  int    // largest number of rows
	rows  int    // rows so far
	data  []byte // values, with room for the largest number of rows; a bool takes a byte; nil for texts
	valid []byte // for each row, a bit that is set unless the row is null; nil until a row is null
	nulls int
	texts *array.StringBuilder // texts and JSON; nil for other leaves
}

func newFiller(l *leaf, most int) filler {
	f := filler{leaf: l, most: most}
	if l.size() == 0 {
		f.texts = array.NewStringBuilder(memory.DefaultAllocator)
	} else {
		f.data = memory.DefaultAllocator.Allocate(most * l.size())
	}
	return f
}

// skip appends n rows and returns their bytes in data. The caller writes the values into these bytes.
func (f *filler) skip(n int) []byte {
	size := f.leaf.size()
	b := f.data[f.rows*size : (f.rows+n)*size]
	if f.valid != nil {
		bitutil.SetBitsTo(f.valid, int64(f.rows), int64(n), true)
	}
	f.rows += n
	return b
}

func (f *filler) addNulls(n int) {
	if f.texts != nil {
		f.texts.AppendNulls(n)
		f.rows += n
		return
	}
	if f.valid == nil {
		f.valid = memory.DefaultAllocator.Allocate(int(bitutil.BytesForBits(int64(f.most))))
		bitutil.SetBitsTo(f.valid, 0, int64(f.rows), true)
	}
	size := f.leaf.size()
	clear(f.data[f.rows*size : (f.rows+n)*size])
	f.nulls += n
	bitutil.SetBitsTo(f.valid, int64(f.rows), int64(n), false)
	f.rows += n
}

// addRows appends the leaf of n components. The components lie side by side in b, stride bytes each.
func (f *filler) addRows(b []byte, stride, n int) {
	l := f.leaf
	if size := l.size(); l.kind != kindEntity { // dense columns hold no pointers: no times, no texts
		gather(f.skip(n), b[l.offset:], stride, size, l.typ.Align(), n)
		return
	}
	out := f.skip(n)
	for i := range n {
		e := *(*vast.Entity)(unsafe.Pointer(&b[i*stride+int(l.offset)]))
		*(*uint64)(unsafe.Pointer(&out[i*8])) = e.ID()
	}
}

// addNumber appends a number of 8 bytes.
func (f *filler) addNumber(v uint64) { *(*uint64)(unsafe.Pointer(unsafe.SliceData(f.skip(1)))) = v }

// addBool appends n rows with the value v.
func (f *filler) addBool(v bool, n int) {
	for i, b := 0, f.skip(n); i < n; i++ {
		b[i] = 0
		if v {
			b[i] = 1
		}
	}
}

func (f *filler) addText(s string) {
	f.texts.Append(s)
	f.rows++
}

// addValue appends the leaf of an addressable component.
func (f *filler) addValue(v reflect.Value) error {
	l := f.leaf
	// The address is that of a part of v, because appendLeaves takes offsets from the type of v.
	p := unsafe.Add(v.Addr().UnsafePointer(), l.offset)
	switch l.kind {
	case kindText:
		f.addText(*(*string)(p))
	case kindJSON:
		text, err := json.Marshal(reflect.NewAt(l.typ, p).Interface())
		if err != nil {
			return fmt.Errorf("vastarrow: column %q: a value cannot be JSON text: %w: leave the component "+
				"out", l.name,
				err)
		}
		f.addText(string(text))
	case kindTime:
		t := *(*time.Time)(p)
		if t.Before(firstTime) || t.After(lastTime) {
			f.addNulls(1)
			return nil
		}
		f.addNumber(uint64(t.UnixNano()))
	case kindEntity:
		f.addNumber((*(*vast.Entity)(p)).ID())
	default:
		copy(f.skip(1), unsafe.Slice((*byte)(p), l.size()))
	}
	return nil
}

// firstTime, in the year 1677, and lastTime, in 2262, are the bounds of the times that an int64 of
// nanoseconds since 1970 can hold.
var firstTime, lastTime = time.Unix(0, -1<<63), time.Unix(0, 1<<63-1)

func (f *filler) textBytes() int {
	if f.texts == nil {
		return 0
	}
	return f.texts.DataLen()
}

// finish returns the array of all rows. The filler must not be used afterwards.
func (f *filler) finish() arrow.Array {
	if f.texts != nil {
		defer f.texts.Release()
		return f.texts.NewArray()
	}
	if f.leaf.kind == kindBool {
		bits := memory.DefaultAllocator.Allocate(int(bitutil.BytesForBits(int64(f.rows))))
		for i, v := range f.data[:f.rows] {
			bits[i/8] |= v << (i % 8)
		}
		f.data = bits
	} else {
		f.data = f.data[:f.rows*f.leaf.size()]
	}
	var valid *memory.Buffer
	if f.valid != nil {
		valid = memory.NewBufferBytes(f.valid)
	}
	return newArray(f.leaf, f.rows, memory.NewBufferBytes(f.data), valid, f.nulls)
}

// newArray returns the array of a leaf without texts. It releases the caller's reference to data.
func newArray(l *leaf, rows int, data, valid *memory.Buffer, nulls int) arrow.Array {
	defer data.Release()
	if l.count == 0 {
		d := array.NewData(kindTypes[l.kind], rows, []*memory.Buffer{valid, data}, nil, nulls, 0)
		defer d.Release()
		return array.MakeFromData(d)
	}
	values := array.NewData(kindTypes[l.kind], rows*l.count, []*memory.Buffer{nil, data}, nil, 0, 0)
	defer values.Release()
	d := array.NewData(l.arrowType(), rows, []*memory.Buffer{valid}, []arrow.ArrayData{values}, nulls, 0)
	defer d.Release()
	return array.MakeFromData(d)
}
