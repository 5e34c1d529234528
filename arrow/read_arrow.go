package vastarrow

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

func (m *importer) readArrow(data []byte, f Format) error {
	var schema *arrow.Schema
	var next func() (arrow.RecordBatch, error)
	err := decode(f, func() (err error) {
		schema, next, err = openArrow(data, f)
		return err
	})
	if err != nil {
		return err
	}
	columns := make([]*cells, schema.NumFields())
	for i, field := range schema.Fields() {
		columns[i] = m.column(field.Name)
	}
	for {
		var record arrow.RecordBatch
		err := decode(f, func() (err error) {
			if record, err = next(); err == nil {
				err = array.ValidateRecordFull(record)
			}
			return err
		})
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := m.readRecord(record, columns, f); err != nil {
			return err
		}
	}
}

// openArrow returns the schema of a file, and a function that returns the next record or io.EOF. A record is
// valid until the next call of the function.
func openArrow(data []byte, f Format) (*arrow.Schema, func() (arrow.RecordBatch, error), error) {
	if err := checkHeaders(data, f); err != nil {
		return nil, nil, err
	}
	size := int64(len(data))
	options := []ipc.Option{
		// A damaged file can ask for any amount of memory for a compressed buffer. Real data rarely shrinks
		// to less than a hundredth, so 256 times the size is enough.
		ipc.WithAllocator(newBounded(64<<20 + 256*len(data))),
		ipc.WithMetadataSizeLimit(size), ipc.WithBodySizeLimit(size),
		ipc.WithEnsureNativeEndian(true),
	}
	if f == ArrowFile {
		in, err := ipc.NewFileReader(bytes.NewReader(data), options...)
		if err != nil {
			return nil, nil, err
		}
		at := 0
		return in.Schema(), func() (arrow.RecordBatch, error) {
			if at == in.NumRecords() {
				return nil, io.EOF
			}
			at++
			return in.RecordBatch(at - 1)
		}, nil
	}
	// ipc.NewReader ignores the options that limit sizes. ipc.NewMessageReader obeys them.
	in, err := ipc.NewReaderFromMessageReader(ipc.NewMessageReader(bytes.NewReader(data), options...),
		options...)
	if err != nil {
		return nil, nil, err
	}
	return in.Schema(), func() (arrow.RecordBatch, error) {
		if in.Next() {
			return in.RecordBatch(), nil
		}
		if err := in.Err(); err != nil {
			return nil, err
		}
		return nil, io.EOF
	}, nil
}

func (m *importer) readRecord(r arrow.RecordBatch, columns []*cells, f Format) error {
	for at := 0; at < int(r.NumRows()); {
		n, err := m.room()
		if err != nil {
			return err
		}
		n = min(n, int(r.NumRows())-at)
		err = decode(f, func() error {
			for i, c := range columns {
				if c != nil {
					m.readArray(c, r.Column(i), at, n)
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		m.rows += n
		at += n
	}
	return nil
}

// readArray reads the rows [at, at+n) of an array into the next rows of the cells.
func (m *importer) readArray(c *cells, a arrow.Array, at, n int) {
	if c.copyArray(a, at, n, m.rows) {
		return
	}
	for i := range n {
		if !isNull(a, at+i) {
			m.put(c, m.rows+i, c.setArrow(m.rows+i, a, at+i))
		}
	}
}

// copyArray copies the values of an array of numbers that has the same type as the cells and no nulls. For
// other arrays, it does nothing and returns false.
func (c *cells) copyArray(a arrow.Array, at, n, row int) bool {
	values := a
	if list, ok := a.(*array.FixedSizeList); ok {
		values = list.ListValues()
	}
	if a.NullN() > 0 || values.NullN() > 0 || !c.kind.sameInMemory() && c.kind != kindEntity ||
		!arrow.TypeEqual(a.DataType(), c.arrowType()) && !(c.count > 0 && isList(a.DataType(), c)) {
		return false
	}
	data := values.Data()
	size := c.size()
	first := (data.Offset() + at*c.values()) * c.kind.size()
	if c.count > 0 {
		start, _ := a.(*array.FixedSizeList).ValueOffsets(at)
		first = (data.Offset() + int(start)) * c.kind.size()
	}
	copy(c.data[row*size:(row+n)*size], data.Buffers()[1].Bytes()[first:first+n*size])
	for i := range n {
		c.set[row+i] = true
	}
	return true
}

// isList reports whether t is a list of as many values as a cell has, of the same type. It does not matter
// whether t declares these values nullable, as some programs do.
func isList(t arrow.DataType, c *cells) bool {
	list, ok := t.(*arrow.FixedSizeListType)
	return ok && int(list.Len()) == c.count && arrow.TypeEqual(list.Elem(), kindTypes[c.kind])
}

// isNull reports whether element pos of an array is null. Arrays that refer to the values of another array
// may refer to a null.
func isNull(a arrow.Array, pos int) bool {
	if a.IsNull(pos) {
		return true
	}
	switch a := a.(type) {
	case *array.Dictionary:
		return isNull(a.Dictionary(), a.GetValueIndex(pos))
	case *array.RunEndEncoded:
		return isNull(a.Values(), a.GetPhysicalIndex(pos))
	case array.ExtensionArray:
		return isNull(a.Storage(), pos)
	}
	return false
}

// setArrow stores element pos of an array as the value of a row.
func (c *cells) setArrow(row int, a arrow.Array, pos int) error {
	switch a := a.(type) {
	case array.ListLike:
		first, end := a.ValueOffsets(pos)
		if err := c.length(int(end - first)); err != nil {
			return err
		}
		for i := range int(end - first) {
			if isNull(a.ListValues(), int(first)+i) {
				return errors.New("a value of the list is null")
			}
			if err := c.setSingle(row, i, a.ListValues(), int(first)+i); err != nil {
				return err
			}
		}
		return nil
	case *array.Dictionary:
		return c.setArrow(row, a.Dictionary(), a.GetValueIndex(pos))
	case array.ExtensionArray:
		return c.setArrow(row, a.Storage(), pos)
	}
	if c.count > 0 && !isText(a) {
		return fmt.Errorf("one value does not fit into a list of %d values", c.count)
	}
	return c.setSingle(row, 0, a, pos)
}

func isText(a arrow.Array) bool {
	id := a.DataType().ID()
	return id == arrow.STRING || id == arrow.LARGE_STRING || id == arrow.STRING_VIEW
}

// setSingle stores element pos of an array as value i of a row.
func (c *cells) setSingle(row, i int, a arrow.Array, pos int) error {
	switch a := a.(type) {
	case *array.Boolean:
		return c.setBool(row, i, a.Value(pos))
	case *array.Int8:
		return c.setInt(row, i, int64(a.Value(pos)))
	case *array.Int16:
		return c.setInt(row, i, int64(a.Value(pos)))
	case *array.Int32:
		return c.setInt(row, i, int64(a.Value(pos)))
	case *array.Int64:
		return c.setInt(row, i, a.Value(pos))
	case *array.Uint8:
		return c.setUint(row, i, uint64(a.Value(pos)))
	case *array.Uint16:
		return c.setUint(row, i, uint64(a.Value(pos)))
	case *array.Uint32:
		return c.setUint(row, i, uint64(a.Value(pos)))
	case *array.Uint64:
		return c.setUint(row, i, a.Value(pos))
	case *array.Float32:
		return c.setFloat(row, i, float64(a.Value(pos)))
	case *array.Float64:
		return c.setFloat(row, i, a.Value(pos))
	case *array.Timestamp:
		return c.setTime(row, a.Value(pos).ToTime(a.DataType().(*arrow.TimestampType).Unit))
	case *array.String:
		return c.setText(row, a.Value(pos))
	case *array.Binary:
		return c.setText(row, string(a.Value(pos)))
	}
	return c.setText(row, a.ValueStr(pos))
}

// bounded is an allocator that panics if its buffers would take more memory than a limit. left is the limit
// minus the bytes in use. The Arrow library or decode returns the panic as an error.
type bounded struct{ left, limit int }

func newBounded(limit int) *bounded { return &bounded{limit, limit} }

func (b *bounded) Allocate(n int) []byte {
	if n > b.left {
		panic(fmt.Sprintf("its values take more than %d bytes", b.limit))
	}
	b.left -= n
	return memory.DefaultAllocator.Allocate(n)
}

func (b *bounded) Reallocate(n int, p []byte) []byte {
	if n <= cap(p) {
		return p[:n]
	}
	to := b.Allocate(n)
	copy(to, p)
	b.Free(p)
	return to
}

// Free counts the capacity, because Reallocate shortens a slice without giving its end back.
func (b *bounded) Free(p []byte) { b.left += cap(p) }
