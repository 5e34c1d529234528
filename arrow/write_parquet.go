package vastarrow

import (
	"fmt"
	"io"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"
	"github.com/parquet-go/parquet-go/encoding"
)

const (
	// rowGroupRows is the largest number of rows in a row group. Many readers hold a row group in memory.
	rowGroupRows = 1 << 20
	// parquetChunk is the approximate number of values that are passed to a column at once.
	parquetChunk = 4 << 10
)

type parquetWriter struct {
	out    io.Writer
	w      *parquet.GenericWriter[any] // nil before the first record
	schema *arrow.Schema
	values []parquet.Value
	rows   int // rows in the present row group
}

func newParquetWriter(w io.Writer, schema *arrow.Schema) (*parquetWriter, error) {
	for _, f := range schema.Fields() {
		if err := writable(f); err != nil {
			return nil, err
		}
	}
	return &parquetWriter{out: w, schema: schema, values: make([]parquet.Value, 0, parquetChunk)}, nil
}

// open begins the file. The first record decides how columns are encoded.
func (p *parquetWriter) open(first arrow.RecordBatch) {
	group := parquet.Group{}
	for i, f := range p.schema.Fields() {
		group[f.Name] = parquetNode(f, encodingFor(first.Column(i)))
	}
	ordered := orderedGroup{Group: group}
	byName := map[string]parquet.Field{}
	for _, f := range group.Fields() {
		byName[f.Name()] = f
	}
	for _, f := range p.schema.Fields() {
		ordered.fields = append(ordered.fields, byName[f.Name])
	}
	p.w = parquet.NewGenericWriter[any](p.out, parquet.NewSchema("vast", ordered),
		parquet.Compression(&zstd.Codec{Level: zstd.SpeedFastest}),
		parquet.PageBufferSize(1<<20), parquet.DictionaryMaxBytes(4<<20))
}

// orderedGroup is a parquet.Group that keeps the order of its fields.
type orderedGroup struct {
	parquet.Group
	fields []parquet.Field
}

func (g orderedGroup) Fields() []parquet.Field { return g.fields }

// parquetNode returns the type of a column.
func parquetNode(f arrow.Field, e encoding.Encoding) parquet.Node {
	t := f.Type
	list, isList := t.(*arrow.FixedSizeListType)
	if isList {
		t = list.Elem()
	}
	n := parquet.String()
	switch t.ID() {
	case arrow.BOOL:
		n = parquet.Leaf(parquet.BooleanType)
	case arrow.INT8, arrow.INT16, arrow.INT32, arrow.INT64:
		n = parquet.Int(t.(arrow.FixedWidthDataType).BitWidth())
	case arrow.UINT8, arrow.UINT16, arrow.UINT32, arrow.UINT64:
		n = parquet.Uint(t.(arrow.FixedWidthDataType).BitWidth())
	case arrow.FLOAT32:
		n = parquet.Leaf(parquet.FloatType)
	case arrow.FLOAT64:
		n = parquet.Leaf(parquet.DoubleType)
	case arrow.TIMESTAMP:
		unit := parquet.Nanosecond
		switch t.(*arrow.TimestampType).Unit {
		case arrow.Microsecond:
			unit = parquet.Microsecond
		case arrow.Millisecond, arrow.Second: // Parquet has no seconds
			unit = parquet.Millisecond
		}
		n = parquet.Timestamp(unit)
	case arrow.BINARY:
		n = parquet.Leaf(parquet.ByteArrayType)
	}
	n = parquet.Encoded(n, e)
	if isList {
		n = parquet.List(parquet.Required(n))
	}
	if f.Nullable {
		return parquet.Optional(n)
	}
	return parquet.Required(n)
}

func (p *parquetWriter) Write(r arrow.RecordBatch) error {
	if p.w == nil {
		p.open(r)
	}
	for lo := int64(0); lo < r.NumRows(); {
		n := min(r.NumRows()-lo, int64(rowGroupRows-p.rows))
		if err := p.writeRows(r, int(lo), int(lo+n)); err != nil {
			return fmt.Errorf("vastarrow: writing Parquet: %w", err)
		}
		lo += n
		if p.rows += int(n); p.rows == rowGroupRows {
			if err := p.w.Flush(); err != nil {
				return fmt.Errorf("vastarrow: writing Parquet: %w", err)
			}
			p.rows = 0
		}
	}
	return nil
}

func (p *parquetWriter) Close() error {
	if p.w == nil { // no rows
		b := array.NewRecordBuilder(memory.DefaultAllocator, p.schema)
		defer b.Release()
		p.open(b.NewRecordBatch())
	}
	if err := p.w.Close(); err != nil {
		return fmt.Errorf("vastarrow: writing Parquet: %w", err)
	}
	return nil
}

func (p *parquetWriter) writeRows(r arrow.RecordBatch, lo, hi int) error {
	writers := p.w.ColumnWriters()
	for i, w := range writers {
		a := r.Column(i)
		level := 0
		if p.schema.Field(i).Nullable {
			level = 1
		}
		list, _ := a.(*array.FixedSizeList)
		rows := parquetChunk
		if list != nil {
			rows = max(1, parquetChunk/int(list.DataType().(*arrow.FixedSizeListType).Len()))
		}
		for at := lo; at < hi; at += rows {
			end := min(at+rows, hi)
			if list != nil {
				p.values = appendLists(p.values[:0], list, at, end, level, i)
			} else {
				p.values = appendValues(p.values[:0], a, at, end, level, i)
			}
			if _, err := w.WriteRowValues(p.values); err != nil {
				return err
			}
		}
	}
	return nil
}

// appendLists appends the values of the lists in the rows [lo, hi). A list that is null becomes one null with
// definition level 0.
func appendLists(to []parquet.Value, a *array.FixedSizeList, lo, hi, level, column int) []parquet.Value {
	values := a.ListValues()
	for row := lo; row < hi; row++ {
		if a.IsNull(row) {
			to = append(to, parquet.NullValue().Level(0, 0, column))
			continue
		}
		first, end := a.ValueOffsets(row)
		at := len(to)
		to = appendValues(to, values, int(first), int(end), level+1, column)
		for i := at + 1; i < len(to); i++ {
			to[i] = to[i].Level(1, level+1, column)
		}
	}
	return to
}

// appendValues appends the values [lo, hi) of an array. Values that are not null get the given definition
// level.
func appendValues(to []parquet.Value, a arrow.Array, lo, hi, level, column int) []parquet.Value {
	at := len(to)
	switch a := a.(type) {
	case *array.Boolean:
		for i := lo; i < hi; i++ {
			to = append(to, parquet.BooleanValue(a.Value(i)))
		}
	case *array.Int8:
		to = appendInt32s(to, a.Values()[lo:hi])
	case *array.Int16:
		to = appendInt32s(to, a.Values()[lo:hi])
	case *array.Int32:
		to = appendInt32s(to, a.Values()[lo:hi])
	case *array.Uint8:
		to = appendInt32s(to, a.Values()[lo:hi])
	case *array.Uint16:
		to = appendInt32s(to, a.Values()[lo:hi])
	case *array.Uint32:
		to = appendInt32s(to, a.Values()[lo:hi])
	case *array.Int64:
		to = appendInt64s(to, a.Values()[lo:hi], 1)
	case *array.Uint64:
		to = appendInt64s(to, a.Values()[lo:hi], 1)
	case *array.Timestamp:
		scale := int64(1)
		if a.DataType().(*arrow.TimestampType).Unit == arrow.Second { // Parquet has no seconds
			scale = 1000
		}
		to = appendInt64s(to, a.Values()[lo:hi], scale)
	case *array.Float32:
		for _, v := range a.Values()[lo:hi] {
			to = append(to, parquet.FloatValue(v))
		}
	case *array.Float64:
		for _, v := range a.Values()[lo:hi] {
			to = append(to, parquet.DoubleValue(v))
		}
	case *array.String:
		for i := lo; i < hi; i++ {
			text := a.Value(i)
			to = append(to, parquet.ByteArrayValue(unsafe.Slice(unsafe.StringData(text),
				len(text)))) // the column writer copies the bytes
		}
	case *array.Binary:
		for i := lo; i < hi; i++ {
			to = append(to, parquet.ByteArrayValue(a.Value(i)))
		}
	}
	if level == 0 {
		return to // the writer of a column without nulls does not read levels
	}
	if a.NullN() == 0 {
		for i := at; i < len(to); i++ {
			to[i] = to[i].Level(0, level, column)
		}
		return to
	}
	for i := at; i < len(to); i++ {
		if a.IsValid(lo + i - at) {
			to[i] = to[i].Level(0, level, column)
		} else {
			to[i] = parquet.NullValue().Level(0, 0, column)
		}
	}
	return to
}

func appendInt32s[T int8 | int16 | int32 | uint8 | uint16 | uint32](to []parquet.Value,
	v []T) []parquet.Value {

	for _, v := range v {
		to = append(to, parquet.Int32Value(int32(v)))
	}
	return to
}

func appendInt64s[T int64 | uint64 | arrow.Timestamp](to []parquet.Value, v []T,
	scale int64) []parquet.Value {
	for _, v := range v {
		to = append(to, parquet.Int64Value(int64(v)*scale))
	}
	return to
}
