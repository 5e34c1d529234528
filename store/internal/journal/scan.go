package journal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/vastgo/vast/internal/disk"
)

// chunkSize is the number of bytes that one call of ReadAt reads.
const chunkSize = 128 * sectorSize

// input is a segment that is being read.
type input struct {
	file    disk.File
	name    string
	segment uint32
	chunk   []byte // bytes that were read
	offset  int64  // offset of chunk in the file
	size    int64  // offset after the last byte that was read so far
}

// open opens a segment, and checks that this program knows the segment's version.
func open(f disk.Folder, segment uint32) (*input, error) {
	in := &input{name: fileName(segment), segment: segment}
	var err error
	if in.file, err = f.Open(in.name); err != nil {
		return nil, fmt.Errorf("journal: opening %s: %w", in.name, err)
	}
	s, st, err := in.sector(0)
	if err == nil && st == good && len(s.payload) >= len(magic)+2 && string(s.payload[:len(magic)]) == magic {
		if v := binary.LittleEndian.Uint16(s.payload[len(magic):]); v > version {
			err = fmt.Errorf("journal: %s has format version %d, and this program reads version %d: use a "+
				"newer program", in.name, v, version)
		}
	}
	if err != nil {
		in.close()
		return nil, err
	}
	return in, nil
}

// close closes the file. An error does not matter, because the file was only read.
func (in *input) close() { _ = in.file.Close() }

func (in *input) damage(index uint32, format string, args ...any) error {
	return &Damage{File: in.name, Offset: int64(index) * sectorSize, Why: fmt.Sprintf(format, args...)}
}

// sector reads the sector with the given index. Its payload is valid until the next call.
func (in *input) sector(index uint32) (sector, state, error) {
	at := int64(index) * sectorSize
	if at < in.offset || at+sectorSize > in.offset+int64(len(in.chunk)) {
		if in.chunk == nil {
			in.chunk = make([]byte, chunkSize)
		}
		n, err := in.file.ReadAt(in.chunk[:chunkSize], at)
		if err != nil && !errors.Is(err, io.EOF) {
			return sector{}, absent, fmt.Errorf("journal: reading %s at byte %d: %w", in.name, at, err)
		}
		in.chunk, in.offset = in.chunk[:n], at
		in.size = max(in.size, at+int64(n))
		if n < sectorSize {
			return sector{}, absent, nil
		}
	}
	at -= in.offset
	s, st := decode(in.chunk[at:at+sectorSize], in.segment, index)
	return s, st, nil
}

// batches is a check that consecutive good sectors form batches.
type batches struct {
	start uint32 // the first sector of the batch that the next sector belongs to
	last  uint32 // the first sector of the last whole batch
	ended bool   // whether the end mark was seen
}

func (b *batches) add(in *input, index uint32, s sector) error {
	end := s.flags&endOfBatch != 0
	switch {
	case s.flags&^(endOfBatch|endOfSegment) != 0, s.flags == endOfSegment:
		return in.damage(index, "the flags %#x are not known", s.flags)
	case b.ended:
		return in.damage(index, "the segment goes on after its end mark")
	case s.synced != b.start:
		return in.damage(index, "the sector says that %d sectors are synced, and its batch begins at sector "+
			"%d", s.synced, b.start)
	case !end && len(s.payload) < payloadSize:
		return in.damage(index, "the sector is not full, but is not the last of its batch")
	}
	if end {
		b.last, b.start = b.start, index+1
		b.ended = s.flags&endOfSegment != 0
	}
	return nil
}

// scanned is what the last segment holds.
type scanned struct {
	sectors uint32 // number of sectors in whole batches at the beginning of the segment
	proven  uint32 // number of these sectors that were certainly synced
	ended   bool   // whether there is an end mark
	torn    int64  // bytes after these sectors, without the free space at the end
}

// scanLast finds the whole batches of a segment that may be the last segment.
func (in *input) scanLast() (scanned, error) {
	var b batches
	var i uint32 // the first sector that is not good
	for ; ; i++ {
		s, st, err := in.sector(i)
		if err != nil {
			return scanned{}, err
		}
		if st != good {
			break
		}
		if i == math.MaxUint32 {
			return scanned{}, in.damage(i, "the segment is longer than a segment can be")
		}
		if err := b.add(in, i, s); err != nil {
			return scanned{}, err
		}
	}
	begun := i > b.start // whether a sector of the torn batch is good
	end := i             // index after the last sector that is not blank
	for k := i; k < math.MaxUint32; k++ {
		s, st, err := in.sector(k)
		switch {
		case err != nil:
			return scanned{}, err
		case st == bad, st == cut && !begins(s.payload, in.segment, k, b.start):
			return scanned{}, in.damage(k, "the sector's checksum or place is wrong")
		case st == good && s.synced > i:
			return scanned{}, in.damage(i, "the sector is blank or cut short, and sector %d says that it "+
				"was synced", k)
		case st == good && (s.synced != b.start || b.ended):
			return scanned{}, in.damage(k, "the sector belongs to no batch that can follow here")
		}
		if st == absent {
			break
		}
		begun = begun || st == good
		if st != blank {
			end = k + 1
		}
	}
	// A batch is written only after all batches before it were synced.
	found := scanned{sectors: b.start, proven: b.last, ended: b.ended}
	found.torn = int64(end-b.start) * sectorSize
	if in.size%sectorSize != 0 {
		found.torn = in.size - int64(b.start)*sectorSize
	}
	if begun {
		found.proven = b.start
	}
	return found, nil
}

// scanCounted checks a segment that has a successor. sectors is the number of valid sectors, from the header
// of the successor. scanCounted ignores the sectors after the valid ones.
func (in *input) scanCounted(sectors uint32, successor string) error {
	var b batches
	for i := range sectors {
		s, st, err := in.sector(i)
		if err != nil {
			return err
		}
		if st != good {
			return in.damage(i, "the sector's checksum or place is wrong, and %s says that %d sectors count",
				successor, sectors)
		}
		if err := b.add(in, i, s); err != nil {
			return err
		}
	}
	if b.start != sectors || b.ended {
		return in.damage(b.start, "%s says that %d sectors count, and no batch of records ends there",
			successor, sectors)
	}
	return nil
}

// walker reads the payload of whole batches that were scanned before.
type walker struct {
	in      *input
	next    uint32 // index of the next sector
	limit   uint32 // index after the last sector
	current sector
	payload []byte // the unread payload of current
}

func (w *walker) load() error {
	s, st, err := w.in.sector(w.next)
	if err != nil {
		return err
	}
	if st != good {
		return w.in.damage(w.next, "the sector has changed since the segment was scanned")
	}
	w.current, w.payload = s, s.payload
	w.next++
	return nil
}

// more loads sectors until there is unread payload. It returns false at the end of the last sector.
func (w *walker) more() (bool, error) {
	for len(w.payload) == 0 {
		if w.next >= w.limit {
			return false, nil
		}
		if err := w.load(); err != nil {
			return false, err
		}
	}
	return true, nil
}

func (w *walker) fill(b []byte) error {
	for len(b) > 0 {
		if len(w.payload) == 0 {
			if w.next >= w.limit || w.current.flags&endOfBatch != 0 {
				return w.in.damage(max(w.next, 1)-1, "a record goes on after the end of its batch")
			}
			if err := w.load(); err != nil {
				return err
			}
			continue
		}
		n := copy(b, w.payload)
		b, w.payload = b[n:], w.payload[n:]
	}
	return nil
}

func (w *walker) readByte() (byte, error) {
	var b [1]byte
	err := w.fill(b[:])
	return b[0], err
}

// length reads the length of a string or a record. It returns an error if the remaining payload is shorter.
func (w *walker) length() (int, error) {
	var n uint64
	for shift := 0; ; shift += 7 {
		b, err := w.readByte()
		if err != nil {
			return 0, err
		}
		if shift == 63 && b > 1 {
			return 0, w.in.damage(w.next-1, "the length of a record has more than 64 bits")
		}
		n |= uint64(b&0x7f) << shift
		if b < 0x80 {
			break
		}
	}
	left := uint64(len(w.payload)) + uint64(w.limit-w.next)*payloadSize
	if n > left || n > math.MaxInt {
		return 0, w.in.damage(w.next-1, "a record has %d bytes, and the segment has at most %d more", n, left)
	}
	return int(n), nil
}

func (w *walker) header() (header, error) {
	var h header
	var fixed [len(magic) + 2 + 16 + 8 + 4 + 4]byte
	if _, err := w.more(); err != nil {
		return h, err
	}
	if err := w.fill(fixed[:]); err != nil {
		return h, err
	}
	le := binary.LittleEndian
	b := fixed[len(magic):]
	if string(fixed[:len(magic)]) != magic || le.Uint16(b) != version {
		return h, w.in.damage(0, "the file does not begin like a journal of version %d", version)
	}
	copy(h.store[:], b[2:])
	h.first, h.previous, h.previousSectors = le.Uint64(b[18:]), le.Uint32(b[26:]), le.Uint32(b[30:])
	for _, s := range []*string{&h.build, &h.carriedBuild} {
		n, err := w.length()
		if err != nil {
			return h, err
		}
		if n > buildMax {
			return h, w.in.damage(0, "the name of a build has %d bytes, but may have at most %d", n, buildMax)
		}
		build := make([]byte, n)
		if err := w.fill(build); err != nil {
			return h, err
		}
		*s = string(build)
	}
	if h.previous >= w.in.segment || (h.previous == 0) != (h.previousSectors == 0) {
		return h, w.in.damage(0, "the header says that the segment continues %d sectors of segment %d, "+
			"which is impossible", h.previousSectors, h.previous)
	}
	return h, nil
}

// record reads a record into the slice room, or into new memory if the slice is too small. ok is false at the
// end of the segment.
func (w *walker) record(room []byte) (kind byte, record []byte, ok bool, err error) {
	if ok, err = w.more(); err != nil || !ok {
		return 0, room, false, err
	}
	n, err := w.length()
	if err != nil {
		return 0, room, false, err
	}
	if kind, err = w.readByte(); err != nil {
		return 0, room, false, err
	}
	if cap(room) < n {
		room = make([]byte, n)
	}
	record = room[:n]
	return kind, record, true, w.fill(record)
}
