package vastarrow

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// TestParquetOfOthers reads files in the encodings and compressions that other programs choose.
func TestParquetOfOthers(t *testing.T) {
	type row struct {
		I int64   `parquet:"position.x"`
		H int32   `parquet:"health,optional"`
		N string  `parquet:"Name"`
		C []int32 `parquet:"body.color,list"`
		B bool    `parquet:"sick"`
	}
	rows := make([]row, 3000)
	for i := range rows {
		rows[i] = row{int64(i), int32(i % 7), "name " + strings.Repeat("x", i%50) + string(rune('a'+i%26)) +
			strings.Repeat("y", i), []int32{1, 2, int32(i % 256)}, i%2 == 0}
	}
	for _, codec := range []compress.Codec{&parquet.Uncompressed, &parquet.Snappy, &parquet.Gzip,
		&parquet.Zstd,
		&parquet.Lz4Raw} {
		for _, version := range []int{1, 2} {
			for _, text := range []encoding.Encoding{&parquet.Plain, &parquet.RLEDictionary,
				&parquet.DeltaLengthByteArray, &parquet.DeltaByteArray} {
				var file bytes.Buffer
				w := parquet.NewGenericWriter[row](&file, parquet.Compression(codec),
					parquet.DataPageVersion(version),
					parquet.DefaultEncodingFor(parquet.ByteArray, text),
					parquet.DefaultEncodingFor(parquet.Int32, &parquet.DeltaBinaryPacked))
				if _, err := w.Write(rows[:100]); err != nil {
					t.Fatal(err)
				}
				if err := w.Close(); err != nil {
					t.Fatal(err)
				}
				f := newFixture(t)
				report, err := Read(t.Context(), f.World, &file, Parquet, ReadOptions{})
				if err != nil || report.Entities != 100 || report.Refused > 0 || f.tag.Len() != 50 {
					t.Errorf("%s, version %d, %s: %+v, %v", codec, version, text, report, err)
				}
				for i, r := range rows[:100] {
					e, _ := f.names.Find(r.N)
					if p := f.position.Get(e); p == nil || p.X != float64(i) ||
						f.body.Get(e).Color[2] != uint8(i) {
						t.Fatalf("%s, version %d, %s: row %d", codec, version, text, i)
					}
				}
			}
		}
	}
}

// TestLongLists reads lists, some of them longer than the array in the component. MaxRows is the number of
// rows in the file, and less than the number of values in all lists: MaxRows does not limit these values.
func TestLongLists(t *testing.T) {
	type row struct {
		N string  `parquet:"name"`
		C []int32 `parquet:"body.color,list"`
	}
	rows := make([]row, 100)
	for i := range rows {
		rows[i] = row{"name " + strconv.Itoa(i), make([]int32, 3+10*(i%2))}
	}
	var file bytes.Buffer
	if err := parquet.Write(&file, rows); err != nil {
		t.Fatal(err)
	}
	f := newFixture(t)
	report, err := Read(t.Context(), f.World, &file, Parquet, ReadOptions{MaxRows: len(rows)})
	if err != nil || report.Entities != 100 || report.Refused != 50 {
		t.Errorf("%+v, %v", report, err)
	}
}

// TestParquetThatLies reads files whose numbers would make the Parquet library allocate gigabytes.
func TestParquetThatLies(t *testing.T) {
	f := newFixture(t)
	f.fill(t, 100)
	whole := mustWrite(t, Parquet, mustEntities(t, f.Query(), f.health, f.names))
	data := []byte("page")
	footerSize := binary.LittleEndian.Uint32(whole[len(whole)-8:])
	var meta format.FileMetaData
	footer := whole[len(whole)-8-int(footerSize) : len(whole)-8]
	if err := thrift.Unmarshal(&thrift.CompactProtocol{}, footer, &meta); err != nil {
		t.Fatal(err)
	}
	protocol := &thrift.CompactProtocol{}
	marshal := func(v any) []byte {
		b, err := thrift.Marshal(protocol, v)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	// page returns the file with one page, which all columns share.
	page := func(h format.PageHeader, data []byte) []byte {
		h.CompressedPageSize = int32(len(data))
		b := append([]byte("PAR1"), append(marshal(&h), data...)...)
		m := meta
		m.RowGroups = slices.Clone(meta.RowGroups)
		m.RowGroups[0].Columns = slices.Clone(meta.RowGroups[0].Columns)
		for i := range m.RowGroups[0].Columns {
			c := &m.RowGroups[0].Columns[i].MetaData
			c.DataPageOffset, c.DictionaryPageOffset, c.TotalCompressedSize = 4, 0, int64(len(b)-4)
		}
		end := marshal(&m)
		b = append(b, end...)
		return append(binary.LittleEndian.AppendUint32(b, uint32(len(end))), "PAR1"...)
	}
	v2 := func(values int32, e format.Encoding) format.PageHeader {
		return format.PageHeader{Type: format.DataPageV2, UncompressedPageSize: 100,
			DataPageHeaderV2: thrift.Null[format.DataPageHeaderV2]{Valid: true, V: format.DataPageHeaderV2{
				NumValues: values, NumRows: values, Encoding: e,
				IsCompressed: thrift.Null[bool]{Valid: true, V: false}}}}
	}
	big := v2(100, format.Plain)
	big.UncompressedPageSize = math.MaxInt32
	runs := binary.AppendUvarint([]byte{0}, math.MaxUint32&^1)
	for name, file := range map[string][]byte{
		"list": append([]byte("PAR1"), 0x59, 0xfc, 0xff, 0xff, 0xff, 0x7f, 6, 0, 0, 0, 'P', 'A', 'R',
			'1'),
		"page":       page(big, data),
		"values":     page(v2(math.MaxInt32, format.Plain), data),
		"runs":       page(v2(100, format.RLEDictionary), bytes.Repeat(runs, 3)),
		"difference": page(v2(100, format.DeltaBinaryPacked), binary.AppendUvarint([]byte{128, 1, 4}, 1<<30)),
		"cut off":    slices.Delete(page(big, nil), 4, 20),
	} {
		g := newFixture(t)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Read(t.Context(), g.World, bytes.NewReader(file), Parquet, ReadOptions{})
		runtime.ReadMemStats(&after)
		if err == nil || !strings.Contains(err.Error(), "no valid parquet") {
			t.Errorf("%s: %v", name, err)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 64<<20 {
			t.Errorf("%s: %d bytes, %v", name, n, err)
		}
	}
}

// TestDeltaByteArrays checks the lengths of prefixes and of suffixes, which lie one after the other. A few
// bytes must not make the library allocate gigabytes.
func TestDeltaByteArrays(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for n := range 600 {
		values := make([]int32, n)
		for i := range values {
			values[i] = int32(rng.IntN(1 << (n % 20)))
		}
		lengths, err := new(delta.BinaryPackedEncoding).EncodeInt32(nil, values)
		if err != nil {
			t.Fatal(err)
		}
		rest := []byte("the rest")
		if got := afterDelta(slices.Concat(lengths, rest)); !bytes.Equal(got, rest) {
			t.Fatalf("%d values: %d bytes follow, want %d", n, len(got), len(rest))
		}
	}
	prefixes, err := new(delta.BinaryPackedEncoding).EncodeInt32(nil, []int32{0, 0, 0})
	if err != nil {
		t.Fatal(err)
	}
	for suffixes, fits := range map[uint64]bool{3: true, 4: false, math.MaxInt32: false} {
		page := binary.AppendUvarint(binary.AppendUvarint(prefixes, 128), 4)
		page = binary.AppendUvarint(binary.AppendUvarint(page, suffixes), 0)
		if err := checkValues(page, format.DeltaByteArray, 3); (err == nil) != fits {
			t.Errorf("%d suffixes in a page of 3 values: the error is %v", suffixes, err)
		}
	}
}
