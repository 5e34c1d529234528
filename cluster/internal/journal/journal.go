// Package journal keeps the messages of a region's outbox on the disk of the process that sends them. If a
// power failure takes messages from the end of the outbox, they are restored from the journal.
//
// A journal is a folder of segments: the files outbox-00000001, outbox-00000002 and so on. A segment
// consists of records. A record consists of the tick in 8 bytes, the length of the message in 4 bytes, the
// message, and the CRC-32C of these three parts in 4 bytes. The numbers are little-endian.
//
// A record replaces earlier records of the same tick and of later ticks. If ticks are missing between a
// record and the records before it, the record replaces all earlier records.
//
// A truncated or damaged record ends its segment. Such a record is left over from a crash or from a failed
// write. If the journal syncs (see [Open]), the message of such a record was not sent. A record after a
// damaged record would not be found. Therefore a journal begins a new segment after a failed write, and when
// the journal is opened again.
package journal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/vastgo/vast/cluster/internal/protocol"
	"github.com/vastgo/vast/internal/disk"
)

const (
	bytesSegment = 4 << 20 // a segment of this size or more gets no more records
	bytesBefore  = 12      // the bytes of a record before its message
	bytesAfter   = 4       // the bytes of a record after its message
	prefix       = "outbox-"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Journal is an open journal. It is not safe for concurrent use.
type Journal struct {
	folder   disk.Folder
	sync     bool
	segments []*segment // oldest first
	file     disk.File  // the last segment, or nil if it is not open for writing
	number   uint64     // the number of the last segment
	buffer   []byte
	// records[i] is the record of the tick firstTick+i.
	firstTick uint64
	records   []record
}

var _ protocol.Journal = (*Journal)(nil)

// segment is a file of records.
type segment struct {
	name  string
	bytes int64
	last  uint64 // the largest tick in the segment
}

// record is the place of a record in its segment.
type record struct {
	segment       *segment
	offset, bytes int64
}

// Open opens the journal in a folder. The caller ensures that no other process has the journal open. If sync
// is false, Write does not wait for the disk: records survive the death of the process, but not a power
// failure. That is enough if the server of the outbox uses the same disk and syncs each message before it
// acknowledges the message.
func Open(folder disk.Folder, sync bool) (*Journal, error) {
	files, err := folder.Files()
	if err != nil {
		return nil, err
	}
	j := &Journal{folder: folder, sync: sync}
	segments := make(map[uint64]disk.Info)
	for _, f := range files {
		digits, ok := strings.CutPrefix(f.Name, prefix)
		if number, err := strconv.ParseUint(digits, 10, 64); ok && err == nil {
			segments[number] = f
		}
	}
	for _, j.number = range slices.Sorted(maps.Keys(segments)) {
		if err := j.scan(segments[j.number]); err != nil {
			return nil, fmt.Errorf("reading the journal: %w", err)
		}
	}
	return j, nil
}

func (j *Journal) scan(info disk.Info) error {
	file, err := j.folder.Open(info.Name)
	if err != nil {
		return err
	}
	b, err := io.ReadAll(io.NewSectionReader(file, 0, info.Size))
	// An earlier process may have died before it synced its last record. The record must be durable before
	// the journal returns it.
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	s := &segment{name: info.Name}
	j.segments = append(j.segments, s)
	for {
		tick, n, ok := parse(b[s.bytes:])
		if !ok {
			return nil
		}
		j.put(tick, record{s, s.bytes, n})
	}
}

// parse returns the tick and the size of the record at the beginning of b.
func parse(b []byte) (tick uint64, n int64, ok bool) {
	if len(b) < bytesBefore {
		return 0, 0, false
	}
	le := binary.LittleEndian
	end := bytesBefore + uint64(le.Uint32(b[8:]))
	if uint64(len(b)) < end+bytesAfter {
		return 0, 0, false
	}
	return le.Uint64(b), int64(end + bytesAfter), crc32.Checksum(b[:end], castagnoli) == le.Uint32(b[end:])
}

// put adds r, the next record of its segment, to the index.
func (j *Journal) put(tick uint64, r record) {
	r.segment.bytes += r.bytes
	r.segment.last = max(r.segment.last, tick)
	switch {
	case tick < j.firstTick || tick > j.firstTick+uint64(len(j.records)):
		j.firstTick, j.records = tick, nil // tick does not follow the earlier ticks
	default:
		j.records = j.records[:tick-j.firstTick]
	}
	j.records = append(j.records, r)
}

// Write implements [protocol.Journal].
func (j *Journal) Write(tick uint64, m []byte) error {
	if err := j.write(tick, m); err != nil {
		return fmt.Errorf("writing the journal: %w", err)
	}
	return nil
}

func (j *Journal) write(tick uint64, m []byte) error {
	if j.file == nil || j.segments[len(j.segments)-1].bytes >= bytesSegment {
		if err := j.beginSegment(); err != nil {
			return err
		}
	}
	le := binary.LittleEndian
	b := le.AppendUint64(j.buffer[:0], tick)
	b = le.AppendUint32(b, uint32(len(m)))
	b = append(b, m...)
	b = le.AppendUint32(b, crc32.Checksum(b, castagnoli))
	j.buffer = b
	_, err := j.file.Write(b)
	if err == nil && j.sync {
		err = j.file.Sync()
	}
	if err != nil {
		// The end of the segment may be damaged, so the next record goes into another segment.
		return errors.Join(err, j.endSegment())
	}
	s := j.segments[len(j.segments)-1]
	j.put(tick, record{s, s.bytes, int64(len(b))})
	return nil
}

func (j *Journal) beginSegment() error {
	if err := j.endSegment(); err != nil {
		return err
	}
	name := fmt.Sprintf("%s%08d", prefix, j.number+1)
	file, err := j.folder.Create(name)
	if err != nil {
		return err
	}
	j.number++ // also if Sync fails: then the next segment needs another name
	if err := j.folder.Sync(); err != nil {
		return errors.Join(err, file.Close())
	}
	j.file = file
	j.segments = append(j.segments, &segment{name: name})
	return nil
}

func (j *Journal) endSegment() error {
	if j.file == nil {
		return nil
	}
	err := j.file.Close()
	j.file = nil
	return err
}

// Read implements [protocol.Journal].
func (j *Journal) Read(tick uint64) (m []byte, ok bool, err error) {
	if tick < j.firstTick || tick-j.firstTick >= uint64(len(j.records)) {
		return nil, false, nil
	}
	r := j.records[tick-j.firstTick]
	file, err := j.folder.Open(r.segment.name)
	if err != nil {
		return nil, false, fmt.Errorf("reading the journal: %w", err)
	}
	b := make([]byte, r.bytes)
	_, err = file.ReadAt(b, r.offset)
	if err := errors.Join(err, file.Close()); err != nil {
		return nil, false, fmt.Errorf("reading the journal: %w", err)
	}
	if got, _, ok := parse(b); !ok || got != tick {
		return nil, false, fmt.Errorf("reading the journal: the record of tick %d in %s is damaged", tick,
			r.segment.name)
	}
	return b[bytesBefore : len(b)-bytesAfter], true, nil
}

// Purge implements [protocol.Journal]. It removes whole segments, oldest first.
func (j *Journal) Purge(below uint64) error {
	if below > j.firstTick {
		drop := min(below-j.firstTick, uint64(len(j.records)))
		j.firstTick, j.records = j.firstTick+drop, j.records[drop:]
	}
	for len(j.segments) > 1 && j.segments[0].last < below {
		if err := j.folder.Remove(j.segments[0].name); err != nil {
			return fmt.Errorf("purging the journal: %w", err)
		}
		j.segments = j.segments[1:]
	}
	return nil
}

// Close closes the journal.
func (j *Journal) Close() error { return j.endSegment() }
