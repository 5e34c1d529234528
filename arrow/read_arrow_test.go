package vastarrow

import (
	"bytes"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// TestNullInDictionary reads indices that are not null and refer to a null.
func TestNullInDictionary(t *testing.T) {
	indices, values := array.NewInt8Builder(memory.DefaultAllocator), array.NewInt32Builder(
		memory.DefaultAllocator)
	defer indices.Release()
	defer values.Release()
	indices.AppendValues([]int8{0, 1, 0, 1}, nil)
	values.Append(7)
	values.AppendNull()
	typ := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.PrimitiveTypes.Int32}
	index, value := indices.NewArray(), values.NewArray()
	defer index.Release()
	defer value.Release()
	schema := arrow.NewSchema([]arrow.Field{{Name: "health", Type: typ, Nullable: true}}, nil)
	r := newRecord(schema, []arrow.Array{array.NewDictionaryArray(typ, index, value)}, 4)
	defer r.Release()
	var file bytes.Buffer
	w := ipc.NewWriter(&file, ipc.WithSchema(schema))
	if err := w.Write(r); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f := newFixture(t)
	report, err := Read(t.Context(), f.World, &file, ArrowStream, ReadOptions{})
	if err != nil || report.Entities != 4 || report.Refused > 0 || f.health.Len() != 2 {
		t.Errorf("%+v, %v, %d components", report, err, f.health.Len())
	}
}
