package vastarrow

import (
	"bytes"
	"context"
	"runtime"
	"testing"
)

// Reading a file allocates at most bytesPerByte for each byte of the file, and bytesPerFile for the cells,
// the buffers and the decoders. bytesPerByte is large because a compressed page may hold repeated values.
const (
	bytesPerByte  = 2048
	bytesPerFile  = 192 << 20
	fuzzRows      = 4096    // the ReadOptions.MaxRows of FuzzRead
	fuzzFileBytes = 1 << 20 // FuzzRead skips larger files
)

// FuzzRead reads damaged files. Errors are fine. Panics, huge allocations and reports that do not fit the
// world are not.
func FuzzRead(f *testing.F) {
	w := newFixture(f)
	w.fill(f, 70)
	for _, format := range allFormats {
		f.Add(uint8(format), mustWrite(f, format, mustEntities(f, w.Query(), w.columns()...)))
		f.Add(uint8(format), mustWrite(f, format, mustEntities(f, w.Query(), w.position, w.health)))
	}
	f.Add(uint8(ArrowStream), []byte("0000")) // the length of a message that does not follow
	f.Add(uint8(CSV), []byte("entity,position.x,Name,Name,parent\n1,2,a,b,1\n1,,a,,18446744073709551615\n"))
	f.Add(uint8(JSONLines), []byte(`{"entity":1e3,"body.color":[1,[2],"x"],"note.tags":{},"sick":1}`))
	f.Fuzz(func(t *testing.T, n uint8, data []byte) {
		if len(data) > fuzzFileBytes {
			return
		}
		w := newFixture(t)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		report, err := Read(context.Background(), w.World, bytes.NewReader(data), Format(n)%formats,
			ReadOptions{MaxRows: fuzzRows})
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > uint64(bytesPerFile+bytesPerByte*len(data)) {
			t.Errorf("%d bytes for a file of %d", n, len(data))
		}
		if w.Len() != report.Entities {
			t.Errorf("%d entities, and the report says %d, %v", w.Len(), report.Entities, err)
		}
	})
}
