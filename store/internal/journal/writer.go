package journal

import (
	"fmt"
	"io"
	"math"

	"github.com/vastgo/vast/internal/disk"
)

// spareMax is the largest size, in bytes, of a buffer that is kept for the next batch.
const spareMax = 1 << 20

// output is the segment that is being written. Between writes, all bytes of its file are synced.
type output struct {
	file    disk.File
	segment uint32
	sectors uint32 // number of sectors in use
	free    int    // bytes of free space after the sectors in use
}

// A Sync is slow if the file has become longer, because the file system must commit its own log. So a write
// that makes the file longer also adds free space: as many bytes as the file has, at most freeMax, and the
// bytes up to the next multiple of blockSize. A write that ends the segment adds no free space.
const (
	freeMax   = 128 << 10
	blockSize = 4 << 10
)

var zeroBytes [freeMax + blockSize]byte

// create creates a segment. batch is the first batch: the header and carried records. The segment is durable
// when create returns without an error.
func create(f disk.Folder, segment uint32, batch []byte) (*output, error) {
	name := fileName(segment)
	file, err := f.Create(name)
	if err != nil {
		return nil, fmt.Errorf("journal: creating %s: %w", name, err)
	}
	out := &output{file: file, segment: segment}
	if err := out.write(batch, 0); err != nil {
		out.close()
		return nil, err
	}
	if err := f.Sync(); err != nil {
		out.close()
		return nil, fmt.Errorf("journal: syncing the folder after creating %s: %w", name, err)
	}
	return out, nil
}

// write seals a batch, writes it and syncs it.
func (o *output) write(batch []byte, flags byte) error {
	if uint64(o.sectors)+uint64(len(batch)/sectorSize)+1 > math.MaxUint32 {
		return fmt.Errorf("journal: %s is full: rotate the journal earlier", fileName(o.segment))
	}
	sealed := seal(batch, o.segment, o.sectors, flags)
	begin := int64(o.sectors) * sectorSize
	inside := min(len(sealed), o.free)
	free := o.free - inside
	err := put(io.NewOffsetWriter(o.file, begin), sealed[:inside])
	if err == nil && inside < len(sealed) {
		if err = put(o.file, sealed[inside:]); err == nil && flags&endOfSegment == 0 {
			end := begin + int64(len(sealed))
			free = int((end+min(end, freeMax)+blockSize-1)&^(blockSize-1) - end)
			err = put(o.file, zeroBytes[:free])
		}
	}
	if err != nil {
		return fmt.Errorf("journal: writing %s: %w", fileName(o.segment), err)
	}
	if err := o.file.Sync(); err != nil {
		return fmt.Errorf("journal: syncing %s: %w", fileName(o.segment), err)
	}
	o.sectors += uint32(len(sealed) / sectorSize)
	o.free = free
	return nil
}

// put writes b. It does not call w if b is empty.
func put(w io.Writer, b []byte) error {
	if len(b) == 0 {
		return nil
	}
	n, err := w.Write(b)
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	return err
}

// close ignores the error of Close: either the batches are synced, or an earlier call has failed.
func (o *output) close() { _ = o.file.Close() }

// write is the journal's goroutine. It runs until the journal ends.
func (j *Journal) write(out *output) {
	defer close(j.done)
	defer func() { out.close() }()
	for {
		batches, closing := j.take()
		for _, b := range batches {
			if len(b.payload) > 0 {
				if err := out.write(b.payload, 0); err != nil {
					j.stop(err)
					return
				}
			}
			j.wrote(b)
			if !b.rotate {
				continue
			}
			next, err := j.follow(out, b.end)
			if err != nil {
				j.stop(err)
				return
			}
			out.close()
			out = next
			j.noteCreated(out.segment)
		}
		if closing {
			j.stop(ErrClosed)
			return
		}
	}
}

// take waits for work, and returns all pending batches. If closing is true, no batches follow.
func (j *Journal) take() (batches []batch, closing bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for !j.urgent && !j.closing {
		j.work.Wait()
	}
	j.urgent = false
	if j.timer != nil {
		j.timer.Stop()
		j.timer = nil
	}
	if len(j.open) > 0 {
		j.enqueue(false)
	}
	batches, j.queue = j.queue, nil
	return batches, j.closing
}

// wrote notes that a batch is on the disk. It acknowledges the batch, except while Hold is in effect.
func (j *Journal) wrote(b batch) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.synced = b.end
	j.unsynced -= b.bytes
	if j.spare == nil && cap(b.payload) <= spareMax {
		j.spare = b.payload
	}
	j.acknowledge()
}

// follow creates the next segment, and then writes the end mark of out. The package's comment explains this
// order. first is the position of the first record in the new segment.
func (j *Journal) follow(out *output, first uint64) (*output, error) {
	h := header{store: j.store, build: j.build, first: first, previous: out.segment,
		previousSectors: out.sectors}
	j.names.Lock()
	next, err := create(j.folder, out.segment+1, appendHeader(nil, h))
	j.names.Unlock()
	if err != nil {
		return nil, err
	}
	if err := out.write(nil, endOfSegment); err != nil {
		next.close()
		return nil, err
	}
	return next, nil
}

// noteCreated notes that a segment and the end mark of the previous segment are durable.
func (j *Journal) noteCreated(segment uint32) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.created = segment
	j.advanced()
}

// stop ends the journal. Later calls return err, and no more records are acknowledged.
func (j *Journal) stop(err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.end = err
	j.open, j.queue, j.spare = nil, nil, nil
	if j.timer != nil {
		j.timer.Stop()
		j.timer = nil
	}
	j.advanced()
}
