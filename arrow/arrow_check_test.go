package vastarrow

import (
	"bytes"
	"encoding/binary"
	"runtime"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	flatbuffers "github.com/google/flatbuffers/go"
)

// TestSharedTexts reads a schema whose metadata refers 4,096 times to one text. Read must refuse the schema
// before it copies the text for each reference.
func TestSharedTexts(t *testing.T) {
	const times = 4096
	b := flatbuffers.NewBuilder(0)
	text := b.CreateString(strings.Repeat("x", 64<<10))
	b.StartObject(2)
	b.PrependUOffsetTSlot(0, text, 0)
	b.PrependUOffsetTSlot(1, text, 0)
	pair := b.EndObject()
	b.StartVector(4, times, 4)
	for range times {
		b.PrependUOffsetT(pair)
	}
	metadata := b.EndVector(times)
	b.StartVector(4, 0, 4)
	fields := b.EndVector(0)
	b.StartObject(4)
	b.PrependUOffsetTSlot(1, fields, 0)
	b.PrependUOffsetTSlot(2, metadata, 0)
	schema := b.EndObject()
	const versionFive, schemaType = 4, 1
	b.StartObject(5)
	b.PrependInt16Slot(0, versionFive, 0)
	b.PrependByteSlot(1, schemaType, 0)
	b.PrependUOffsetTSlot(2, schema, 0)
	b.Finish(b.EndObject())
	file := binary.LittleEndian.AppendUint32(nil, 1<<32-1)
	file = binary.LittleEndian.AppendUint32(file, uint32(len(b.FinishedBytes())))
	file = append(file, b.FinishedBytes()...)

	f := newFixture(t)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := Read(t.Context(), f.World, bytes.NewReader(file), ArrowStream, ReadOptions{})
	runtime.ReadMemStats(&after)
	if err == nil || !strings.Contains(err.Error(), "the texts of the headers are longer than the file") {
		t.Error(err)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 64<<20 {
		t.Errorf("Read allocates %d bytes, want at most 64 MiB", n)
	}
}

// TestLongMetadata reads a file whose metadata is longer than its values.
func TestLongMetadata(t *testing.T) {
	long := arrow.NewMetadata([]string{"note"}, []string{strings.Repeat("x", 4<<20)})
	field := arrow.Field{Name: "health", Type: arrow.PrimitiveTypes.Int32, Metadata: long}
	schema := arrow.NewSchema([]arrow.Field{field}, &long)
	builder := array.NewInt32Builder(memory.DefaultAllocator)
	defer builder.Release()
	builder.Append(7)
	r := newRecord(schema, []arrow.Array{builder.NewArray()}, 1)
	defer r.Release()
	var file bytes.Buffer
	w, err := ipc.NewFileWriter(&file, ipc.WithSchema(schema))
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(r); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f := newFixture(t)
	if report, err := Read(t.Context(), f.World, &file, ArrowFile, ReadOptions{}); err != nil ||
		report.Entities != 1 || f.health.Len() != 1 {
		t.Errorf("%+v, %v", report, err)
	}
}
