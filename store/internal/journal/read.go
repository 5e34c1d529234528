package journal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"math"
	"slices"

	"github.com/vastgo/vast/internal/disk"
)

// Tail is the end of a journal: the records from a position on.
type Tail struct {
	// Segment is the number of the last segment.
	Segment uint32
	// Sectors is the number of sectors in whole batches of the last segment. Only these sectors count.
	Sectors uint32
	// End is the position after the last record.
	End uint64
	// Cuts are the bytes that a crash left after the last whole batch, and the segments that a crash left
	// without a whole first batch. Read does not change the files. No record in a cut was acknowledged. Free
	// space is not a cut.
	Cuts []Cut

	folder  disk.Folder
	store   [16]byte
	from    uint64
	parts   []part // in the order of positions; the last one is the last segment
	proven  uint32 // number of proven sectors of the last segment: see the package's comment
	resumed bool
}

// Cut is a range of bytes in a file. Read leaves these bytes out.
type Cut struct {
	File   string
	Offset int64
	Bytes  int64
}

// Record is a record that was read.
type Record struct {
	Position uint64
	Kind     byte
	Data     []byte // valid until the next record
	Build    string // the program that appended the record
	Segment  uint32 // the segment that holds the record
}

// part is a segment, and the number of its sectors that count.
type part struct {
	segment uint32
	sectors uint32
	header
}

// Read finds the end of a journal. It checks all records from position `from` to the end, and changes
// nothing. segment and `from` are the values in the store's last checkpoint: results of [Journal.Rotate], or
// of [Journal.Segment] after Create or Resume.
//
// Read returns a *Damage if a sector or a segment that counts is damaged or missing, if the journal belongs
// to another store, or if the journal ends before this segment or before position `from`. Read leaves out a
// torn last batch: see the package's comment. The files may hold any bytes. Read needs 64 KiB of memory, and
// memory for the longest record.
//
// Complexity: reads each segment twice, from the segment with position `from` on.
func Read(f disk.Folder, store [16]byte, segment uint32, from uint64) (*Tail, error) {
	numbers, err := segments(f)
	if err != nil {
		return nil, err
	}
	t := &Tail{folder: f, store: store, from: from}
	for t.parts == nil {
		if len(numbers) == 0 || numbers[len(numbers)-1] < segment {
			return nil, &Damage{File: fileName(segment), Why: "the segment is missing or has no whole header"}
		}
		last := numbers[len(numbers)-1]
		numbers = numbers[:len(numbers)-1]
		if err := t.readLast(last); err != nil {
			return nil, err
		}
	}
	for t.parts[0].first > from {
		p, err := t.readPrevious(t.parts[0])
		if err != nil {
			return nil, err
		}
		t.parts = slices.Insert(t.parts, 0, p)
	}
	if t.End < from {
		return nil, &Damage{File: fileName(t.Segment), Offset: int64(t.Sectors) * sectorSize,
			Why: fmt.Sprintf("the journal ends before record %d, but all records before record %d were "+
				"durable", t.End, from)}
	}
	return t, nil
}

// readLast reads a segment that may be the last one. It leaves t.parts empty if the segment has no whole
// batch.
func (t *Tail) readLast(segment uint32) error {
	in, err := open(t.folder, segment)
	if err != nil {
		return err
	}
	defer in.close()
	found, err := in.scanLast()
	if err != nil {
		return err
	}
	if found.sectors == 0 || found.torn > 0 {
		t.Cuts = append(t.Cuts, Cut{in.name, int64(found.sectors) * sectorSize, found.torn})
	}
	if found.sectors == 0 {
		return nil
	}
	if found.ended {
		return in.damage(found.sectors-1, "the segment has an end mark, and the segment that follows it is "+
			"missing or has no whole header")
	}
	p := part{segment: segment, sectors: found.sectors}
	end, err := t.check(in, &p)
	if err != nil {
		return err
	}
	t.Segment, t.Sectors, t.End, t.proven = segment, found.sectors, end, found.proven
	t.parts = []part{p}
	return nil
}

// readPrevious reads the segment before the segment next.
func (t *Tail) readPrevious(next part) (part, error) {
	name := fileName(next.segment)
	if next.previous == 0 {
		return part{}, &Damage{File: name, Why: fmt.Sprintf("the journal begins at record %d, and the "+
			"earlier records from record %d on are missing", next.first, t.from)}
	}
	in, err := open(t.folder, next.previous)
	if errors.Is(err, fs.ErrNotExist) {
		return part{}, &Damage{File: fileName(next.previous), Why: "the segment is missing, and " + name +
			" continues it"}
	}
	if err != nil {
		return part{}, err
	}
	defer in.close()
	p := part{segment: next.previous, sectors: next.previousSectors}
	if err := in.scanCounted(p.sectors, name); err != nil {
		return part{}, err
	}
	end, err := t.check(in, &p)
	if err != nil {
		return part{}, err
	}
	if end != next.first {
		return part{}, &Damage{File: name, Why: fmt.Sprintf("the segment begins at record %d, but continues "+
			"%s, which ends before record %d", next.first, in.name, end)}
	}
	return p, nil
}

// check reads the header of a scanned segment into p, and checks the records. It returns the position after
// the last record.
func (t *Tail) check(in *input, p *part) (end uint64, err error) {
	w := &walker{in: in, limit: p.sectors}
	if p.header, err = w.header(); err != nil {
		return 0, err
	}
	if p.store != t.store {
		return 0, in.damage(0, "the segment belongs to store %x, and not to %x", p.store, t.store)
	}
	end = p.first
	var room []byte
	for {
		_, record, ok, err := w.record(room)
		if err != nil || !ok {
			return end, err
		}
		if end == math.MaxUint64 {
			return 0, in.damage(0, "the positions of the records are too high")
		}
		end++
		room = record[:cap(record)]
	}
}

// Records yields the records in the order of their positions. The first one has the position `from` that was
// passed to [Read]. Records reads the files again. If reading fails, the last pair holds the error and no
// record.
func (t *Tail) Records() iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		for _, p := range t.parts {
			goOn, err := t.each(p, func(r Record, _ uint32) bool {
				return r.Position < t.from || yield(r, nil)
			})
			if err != nil {
				yield(Record{}, err)
				return
			}
			if !goOn {
				return
			}
		}
	}
}

// each calls yield with the records of a segment until yield returns false. sector is the index of the first
// sector of the record's batch.
func (t *Tail) each(p part, yield func(r Record, sector uint32) bool) (goOn bool, err error) {
	in, err := open(t.folder, p.segment)
	if err != nil {
		return false, err
	}
	defer in.close()
	w := &walker{in: in, limit: p.sectors}
	if _, err := w.header(); err != nil {
		return false, err
	}
	r := Record{Position: p.first, Segment: p.segment}
	var room []byte
	for ; ; r.Position++ {
		var ok bool
		if r.Kind, r.Data, ok, err = w.record(room); err != nil || !ok {
			return true, err
		}
		room = r.Data[:cap(r.Data)]
		r.Build = p.build
		if w.current.synced == 0 {
			r.Build = p.carriedBuild
		}
		if !yield(r, w.current.synced) {
			return false, nil
		}
	}
}

// Resume creates a new segment that continues the journal, and returns the journal. The first new record has
// the position End. Resume writes the records of the last batch again if it is not certain that they are
// durable. When Resume returns no error, all records of the tail are durable. build names the program, as in
// [Create].
//
// Resume needs memory for the last batch. The Options.Room of the program that wrote the batch bounds the
// size of the batch. If Resume fails, it may be called again.
//
// The store must set Options.Hold, and must not call [Journal.Release] before a checkpoint that names the new
// segment is durable.
func (t *Tail) Resume(build string, o Options) (*Journal, error) {
	if t.resumed {
		return nil, errors.New("journal: the tail was resumed before: call Read again")
	}
	segment, err := nextSegment(t.folder)
	if err != nil {
		return nil, err
	}
	last := t.parts[len(t.parts)-1]
	h := last.header // if nothing in last is proven, the new segment replaces last
	h.build = build
	if t.proven > 0 {
		h.first, h.previous, h.previousSectors = t.End, last.segment, t.proven
		h.carriedBuild = last.build
	}
	var carried []byte
	_, err = t.each(last, func(r Record, sector uint32) bool {
		if sector >= t.proven {
			h.first = min(h.first, r.Position)
			carried = binary.AppendUvarint(carried, uint64(len(r.Data)))
			carried = append(append(carried, r.Kind), r.Data...)
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	j, err := start(t.folder, segment, h, appendPayload(appendHeader(nil, h), carried), t.End, o)
	t.resumed = err == nil
	return j, err
}
