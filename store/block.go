package store

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/vastgo/vast/internal/mapped"
	"github.com/vastgo/vast/internal/state"
)

// A file consists of a magic number and blocks. A block consists of a header and its bytes. The header and
// the bytes each have a checksum.

// magic is the beginning of a file. The last two bytes are the version of the format.
var magic = [16]byte{'v', 'a', 's', 't', ' ', 'w', 'o', 'r', 'l', 'd', '\r', '\n', 0x1a, 0, versionWhole, 0}

// blockKind says what a block holds.
type blockKind uint32

const (
	blockManifest blockKind = 1 + iota
	blockExtents
	blockArray
	blockValues
	blockResource
	blockEnd
	// blockZero says that elements of an array are zero. It has no bytes, and occurs in deltas only.
	blockZero
	// blockHeaders holds the headers of blocks of elements. The bytes of these blocks follow side by side, so
	// that they can be mapped: see mapped.go.
	blockHeaders
)

// block is the header of a block. Its integers lie in the file in this order, little-endian, followed by the
// checksum of the bytes and the checksum of the header.
type block struct {
	kind  blockKind
	index uint32 // index of the array, the column or the resource in the manifest
	first uint64 // index of the first element or value
	count uint64 // number of elements, values or headers; in a blockEnd, number of blocks before it
	size  uint64 // number of bytes
}

const bytesHeader = 40

// maxBlock is the usual limit for the bytes of a block of elements or values. A block is larger only if it
// holds a long value, or at most 64 long elements.
const maxBlock = 1 << 20

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

type blockWriter struct {
	dst    *bufio.Writer
	offset int64 // offset of the next block in the file
	blocks uint64
	header [bytesHeader]byte
	buffer []byte
}

func newBlockWriter(dst io.Writer, version uint16) (*blockWriter, error) {
	w := &blockWriter{dst: bufio.NewWriterSize(dst, 64<<10), offset: int64(len(magic))}
	begin := magic
	binary.LittleEndian.PutUint16(begin[14:], version)
	_, err := w.dst.Write(begin[:])
	return w, err
}

// describe writes the first block of a file, which holds the manifest.
func (w *blockWriter) describe(m *manifest) error {
	text, err := appendManifest(m)
	if err != nil {
		return err
	}
	return w.write(block{kind: blockManifest}, text)
}

func (w *blockWriter) write(b block, bytes []byte) error {
	if _, err := w.dst.Write(appendHeader(w.header[:0], b, bytes)); err != nil {
		return err
	}
	w.blocks++
	w.offset += bytesHeader + int64(len(bytes))
	_, err := w.dst.Write(bytes)
	return err
}

func appendHeader(h []byte, b block, bytes []byte) []byte {
	le, begin := binary.LittleEndian, len(h)
	h = le.AppendUint32(h, uint32(b.kind))
	h = le.AppendUint32(h, b.index)
	h = le.AppendUint64(h, b.first)
	h = le.AppendUint64(h, b.count)
	h = le.AppendUint64(h, uint64(len(bytes)))
	h = le.AppendUint32(h, crc32.Checksum(bytes, castagnoli))
	return le.AppendUint32(h, crc32.Checksum(h[begin:], castagnoli))
}

// elements writes elements of an array. Elements that do not belong to the state are zero in the file. whole
// means that all elements belong to the state.
func (w *blockWriter) elements(b block, a *state.Array, whole bool) error {
	bytes := a.Bytes(int(b.first), int(b.first+b.count))
	if !whole {
		w.buffer = append(w.buffer[:0], bytes...)
		bytes = w.buffer
		clearOthers(bytes, a, int(b.first))
	}
	return w.write(b, bytes)
}

func (w *blockWriter) close() error {
	if err := w.write(block{kind: blockEnd, count: w.blocks}, nil); err != nil {
		return err
	}
	return w.dst.Flush()
}

type blockReader struct {
	src     source
	version uint16
	blocks  uint64
	header  [bytesHeader]byte
	headers []byte // headers of the next blocks, if a blockHeaders listed them
	sum     uint32 // checksum of the bytes of the current block
	buffer  []byte
}

// source is what a blockReader reads from.
type source interface {
	// read fills dst with the next bytes.
	read(dst []byte) error
	// elements fills dst with the bytes of the block with the given number, and returns an error if their
	// checksum is not sum. A source may also fill dst on another goroutine: then dst is complete when wait
	// has returned, and wait returns the error.
	elements(dst []byte, number uint64, sum uint32) error
	// wait waits for the reads that elements has begun, and returns their error.
	wait() error
}

// newBlockReader reads the beginning of a file.
func newBlockReader(src source) (*blockReader, error) {
	r := &blockReader{src: src}
	var begin [len(magic)]byte
	if err := src.read(begin[:]); err != nil {
		return nil, fmt.Errorf("the file is too short to hold a world: %w", err)
	}
	if [14]byte(begin[:14]) != [14]byte(magic[:14]) {
		return nil, errors.New("the file does not hold a world: give a file that Save or a Store has written")
	}
	r.version = binary.LittleEndian.Uint16(begin[14:])
	if r.version < versionWhole || r.version > versionPlaced {
		return nil, fmt.Errorf("the file has version %d of the format, and this program reads versions %d "+
			"to %d: use a program whose package store reads version %[1]d", r.version,
			versionWhole, versionPlaced)
	}
	return r, nil
}

// next returns the header of the next block. The caller reads the bytes of the block.
func (r *blockReader) next() (block, error) {
	if len(r.headers) > 0 {
		b, err := r.parse(r.headers[:bytesHeader])
		r.headers = r.headers[bytesHeader:]
		if err == nil && b.kind != blockArray {
			err = fmt.Errorf("block %d has the kind %d, in a list of blocks of elements", r.blocks-1, b.kind)
		}
		return b, err
	}
	if err := r.src.read(r.header[:]); err != nil {
		return block{}, fmt.Errorf("block %d: %w", r.blocks, err)
	}
	b, err := r.parse(r.header[:])
	if err != nil || b.kind != blockHeaders || r.version != versionPlaced {
		return b, err
	}
	if b.count == 0 || b.count > maxListed || b.size < b.count*bytesHeader ||
		b.size > b.count*bytesHeader+mapped.PageSize {
		return b, fmt.Errorf("block %d lists %d blocks in %d bytes", r.blocks-1, b.count, b.size)
	}
	bytes, err := r.bytes(b)
	if err != nil {
		return b, err
	}
	r.headers = append(r.headers[:0], bytes[:b.count*bytesHeader]...)
	return r.next()
}

// parse checks a header and returns the block that the header describes.
func (r *blockReader) parse(h []byte) (block, error) {
	le := binary.LittleEndian
	if crc32.Checksum(h[:36], castagnoli) != le.Uint32(h[36:]) {
		return block{}, fmt.Errorf("block %d: the header is damaged: its checksum is wrong: restore the "+
			"file from a copy", r.blocks)
	}
	r.blocks++
	r.sum = le.Uint32(h[32:])
	return block{blockKind(le.Uint32(h)), le.Uint32(h[4:]), le.Uint64(h[8:]), le.Uint64(h[16:]),
		le.Uint64(h[24:])}, nil
}

// into reads the bytes of a block into dst. dst is complete when the source's method wait has returned.
func (r *blockReader) into(dst []byte) error { return r.src.elements(dst, r.blocks-1, r.sum) }

// bytes reads the bytes of a block into a buffer, which the next call overwrites. The buffer grows as bytes
// arrive: a wrong size in a header must not allocate much more memory than the file has bytes.
func (r *blockReader) bytes(b block) ([]byte, error) {
	r.buffer = r.buffer[:0]
	for left := b.size; left > 0; {
		n := int(min(left, maxBlock))
		at := len(r.buffer)
		r.buffer = append(r.buffer, make([]byte, n)...)
		if err := r.src.read(r.buffer[at:]); err != nil {
			return nil, fmt.Errorf("block %d: %w", r.blocks-1, err)
		}
		left -= uint64(n)
	}
	return r.buffer, checked(r.buffer, r.blocks-1, r.sum)
}

func (r *blockReader) skip(b block) error {
	_, err := r.bytes(b)
	return err
}

// checked returns an error if the checksum of a block's bytes differs from sum, the checksum in its header.
func checked(bytes []byte, number uint64, sum uint32) error {
	return matching(crc32.Checksum(bytes, castagnoli), number, sum)
}

// matching returns an error if got, the checksum of a block's bytes, differs from want, the checksum in its
// header.
func matching(got uint32, number uint64, want uint32) error {
	if got != want {
		return fmt.Errorf("block %d is damaged: its checksum is wrong: restore the file from a copy", number)
	}
	return nil
}
