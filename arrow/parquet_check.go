package vastarrow

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"sync"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// The Parquet library trusts the numbers in a file: a few bytes can make it allocate any amount of memory.
// The functions below check the numbers before the library reads the same bytes.

const (
	// A page of n compressed bytes may have at most pageBytes + n*pageFactor bytes when it is decompressed.
	pageBytes  = 16 << 20
	pageFactor = 1024
	// A page may have pageValues values, or more if ReadOptions.MaxRows allows it. This limit does not check
	// the length of each list: readList refuses a list that does not fit into its field.
	pageValues = 1 << 20
	// schemaDepth is the largest depth of nested groups in a schema.
	schemaDepth = 64
)

// checkParquet checks the footer of a file.
func checkParquet(data []byte) error {
	const end = 8 // number of bytes after the footer: its length, and PAR1
	if len(data) < 4+end {
		return errors.New("it is too short")
	}
	n := int64(binary.LittleEndian.Uint32(data[len(data)-end:]))
	if n > int64(len(data)-4-end) {
		return errThrift
	}
	footer := data[int64(len(data)-end)-n : len(data)-end]
	if _, err := thriftSize(footer); err != nil {
		return err
	}
	var meta format.FileMetaData
	if err := thrift.Unmarshal(&thrift.CompactProtocol{}, footer, &meta); err != nil {
		return err
	}
	var open []int32 // for each group around an element, the number of children that follow
	for _, e := range meta.Schema {
		if len(open) > schemaDepth {
			return errors.New("its schema has too many nested groups")
		}
		if n := e.NumChildren.V; n > 0 {
			open = append(open, n)
			continue
		}
		for len(open) > 0 {
			if open[len(open)-1]--; open[len(open)-1] > 0 {
				break
			}
			open = open[:len(open)-1]
		}
	}
	return nil
}

// checkChunk checks the pages of a column in a row group.
func (p *parquetColumn) checkChunk(data []byte, c *format.ColumnChunk, mostRows int) error {
	m := &c.MetaData
	start := m.DataPageOffset
	if d := m.DictionaryPageOffset; d > 0 && d < start {
		start = d
	}
	end := start + m.TotalCompressedSize
	if start < 0 || m.TotalCompressedSize < 0 || end < start || end > int64(len(data)) {
		return errors.New("its pages lie outside of the file")
	}
	for b := data[start:end]; len(b) > 0; {
		n, err := thriftSize(b)
		if err != nil {
			return err
		}
		var h format.PageHeader
		if err := thrift.Unmarshal(&thrift.CompactProtocol{}, b[:n], &h); err != nil {
			return err
		}
		b = b[n:]
		if h.CompressedPageSize < 0 || int(h.CompressedPageSize) > len(b) {
			return errThrift
		}
		most := max(pageValues, mostRows*p.cells.values())
		if err := p.checkPage(&h, b[:h.CompressedPageSize], m.Codec, most); err != nil {
			return err
		}
		b = b[h.CompressedPageSize:]
	}
	return nil
}

// checkPage checks the page with the header h and the compressed bytes b. The page may have at most the given
// number of values.
func (p *parquetColumn) checkPage(h *format.PageHeader, b []byte, codec format.CompressionCodec,
	most int) error {
	size := int(h.UncompressedPageSize)
	if size < 0 || size > pageBytes+pageFactor*len(b) {
		return fmt.Errorf("a page of %d bytes expands to %d bytes", len(b), size)
	}
	count := func(n int32) (int, error) {
		if n < 0 || int(n) > most {
			return 0, fmt.Errorf("a page has %d values", n)
		}
		return int(n), nil
	}
	switch h.Type {
	case format.DictionaryPage:
		_, err := count(h.DictionaryPageHeader.V.NumValues)
		if err == nil {
			_, err = decompress(codec, b, size)
		}
		return err
	case format.DataPage:
		v := &h.DataPageHeader.V
		n, err := count(v.NumValues)
		if err != nil {
			return err
		}
		if b, err = decompress(codec, b, size); err != nil {
			return err
		}
		for _, level := range []int{p.leaf.MaxRepetitionLevel(), p.leaf.MaxDefinitionLevel()} {
			if level == 0 {
				continue
			}
			if len(b) < 4 || int64(binary.LittleEndian.Uint32(b)) > int64(len(b)-4) {
				return errThrift
			}
			end := 4 + binary.LittleEndian.Uint32(b)
			if err := checkRuns(b[4:end], bits.Len(uint(level)), n); err != nil {
				return err
			}
			b = b[end:]
		}
		return checkValues(b, v.Encoding, n)
	case format.DataPageV2:
		v := &h.DataPageHeaderV2.V
		n, err := count(v.NumValues)
		if err != nil {
			return err
		}
		for _, level := range []struct {
			bytes int32
			most  int
		}{{v.RepetitionLevelsByteLength, p.leaf.MaxRepetitionLevel()},
			{v.DefinitionLevelsByteLength, p.leaf.MaxDefinitionLevel()}} {
			if level.bytes < 0 || int(level.bytes) > len(b) {
				return errThrift
			}
			if err := checkRuns(b[:level.bytes], bits.Len(uint(level.most)), n); err != nil {
				return err
			}
			b = b[level.bytes:]
		}
		if !v.IsCompressed.Valid || v.IsCompressed.V {
			if b, err = decompress(codec, b, size); err != nil {
				return err
			}
		}
		return checkValues(b, v.Encoding, n)
	}
	return nil // an index, which the library skips
}

func checkValues(b []byte, e format.Encoding, n int) error {
	switch e {
	case format.Plain, format.ByteStreamSplit:
		return nil
	//lint:ignore SA1019 old files have this encoding
	case format.PlainDictionary, format.RLEDictionary:
		if len(b) == 0 {
			return nil
		}
		return checkRuns(b[1:], int(b[0]), n)
	case format.RLE: // bools
		if len(b) < 4 {
			return errThrift
		}
		return checkRuns(b[4:], 1, n)
	case format.DeltaBinaryPacked, format.DeltaLengthByteArray:
		return checkDelta(b, n)
	case format.DeltaByteArray:
		if err := checkDelta(b, n); err != nil {
			return err
		}
		prefixes, err := new(delta.BinaryPackedEncoding).DecodeInt32(nil, b)
		if err != nil {
			return err
		}
		sum := 0
		for _, n := range prefixes {
			if sum += int(n); n < 0 || sum > pageBytes+pageFactor*len(b) {
				return errors.New("the texts of a page are too long")
			}
		}
		return checkDelta(afterDelta(b), n) // the lengths of the suffixes
	}
	return fmt.Errorf("the encoding %s is not supported: write the column with another encoding", e)
}

// checkRuns checks n values in Parquet's run-length encoding: runs of one repeated value, and packed values
// of width bits each. A few bytes can describe a long run, so the runs together must not have more than n
// values, plus 7 because packed values come in eights. Packed values need this limit only if width is 0.
func checkRuns(b []byte, width, n int) error {
	for len(b) > 0 {
		head, size := binary.Uvarint(b)
		if size <= 0 {
			return errThrift
		}
		b = b[size:]
		count, bytes := head>>1, uint64(width+7)/8
		if head&1 == 1 {
			bytes = count * uint64(width) // 8 values take width bytes
			count *= 8
		}
		if head&1 == 0 || width == 0 {
			if count > uint64(n)+7 {
				return errors.New("a page has more values than its header says")
			}
			n -= int(count)
		}
		if count > 1<<32 {
			return errThrift
		}
		b = b[min(bytes, uint64(len(b))):]
	}
	return nil
}

// checkDelta checks the header of values that are encoded as differences.
func checkDelta(b []byte, n int) error {
	if len(b) == 0 {
		return nil
	}
	var head [3]uint64 // values in a block, parts of a block, number of values
	for i := range head {
		v, size := binary.Uvarint(b)
		if size <= 0 {
			return errThrift
		}
		head[i], b = v, b[size:]
	}
	if head[0] > 1<<16 || head[1] == 0 || head[1] > head[0] || head[2] > uint64(n) {
		return errors.New("a page has more values than its header says")
	}
	return nil
}

// afterDelta returns the bytes that follow values encoded as differences. The library must have decoded the
// values without an error.
func afterDelta(b []byte) []byte {
	number := func() int {
		v, size := binary.Uvarint(b)
		b = b[max(size, 0):]
		return int(v)
	}
	block, parts, left := number(), number(), number()
	number() // first value
	left--
	for left > 0 && len(b) > 0 {
		number() // smallest difference in the block
		widths := b[:min(parts, len(b))]
		b = b[len(widths):]
		for _, width := range widths {
			b = b[min(block/parts*int(width)/8, len(b)):]
			if left -= block / parts; left <= 0 {
				break
			}
		}
	}
	return b
}

// decompress returns the decompressed bytes of a page. The header of the page says that these are size bytes.
func decompress(codec format.CompressionCodec, b []byte, size int) ([]byte, error) {
	switch codec {
	case format.Uncompressed:
		return b, nil
	case format.Zstd:
		if len(b) == 0 {
			return nil, nil
		}
		d, err := zstdDecoder()
		if err != nil {
			return nil, err
		}
		return d.DecodeAll(b, make([]byte, 0, size))
	case format.Snappy:
		if n, _ := binary.Uvarint(b); n > uint64(size) {
			return nil, errThrift
		}
	case format.Gzip, format.Lz4Raw: // a compressed byte cannot become more than about 1,000 bytes
	default:
		return nil, fmt.Errorf("the compression %s is not supported: write the file with zstd or snappy",
			codec)
	}
	if len(b) == 0 {
		return nil, nil
	}
	return parquet.LookupCompressionCodec(codec).Decode(make([]byte, 0, size), b)
}

// zstdDecoder returns a decoder that decodes no more bytes than fit into the slice that DecodeAll gets.
var zstdDecoder = sync.OnceValues(func() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecodeAllCapLimit(true))
})
