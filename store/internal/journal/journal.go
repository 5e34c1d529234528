package journal

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vastgo/vast/internal/disk"
)

// Options configure how a journal is written. The zero value works.
type Options struct {
	// Room bounds the bytes of the records that are not on the disk yet. Default: 64 MiB.
	Room int
	// Delay is the longest time that a record waits for other records, if Append was called with soon false.
	// Default: 10 ms.
	Delay time.Duration
	// Hold makes the new journal hold acknowledgements back until Release.
	Hold bool
}

// Journal is a journal that is being written. Its methods may be called from any goroutine. Close ends the
// journal.
type Journal struct {
	folder disk.Folder
	store  [16]byte
	build  string
	room   int
	delay  time.Duration

	durable atomic.Uint64 // records below this position are acknowledged
	done    chan struct{} // closed when the writer has ended
	names   sync.Mutex    // held from a file's creation or removal to the Sync of the folder

	mu        sync.Mutex
	work      sync.Cond     // the writer waits here
	progress  chan struct{} // closed at the next progress, to wake waiting calls; nil until a call waits
	queue     []batch       // batches that Rotate has ended
	open      []byte        // payload of the open batch, which collects records
	collected int           // bytes of the records in the open batch
	next      uint64        // position of the next record
	segment   uint32        // segment of the next record
	unsynced  int           // bytes of records that are not on the disk
	urgent    bool          // the writer must take all pending records
	timer     *time.Timer   // sets urgent; nil if no timer runs
	hold      bool
	synced    uint64 // records below this position are on the disk
	created   uint32 // the last durable segment; the end mark of the segment before it is durable, too
	spare     []byte // the buffer of a written batch, for the next batch
	closing   bool
	end       error // set when the writer ends: ErrClosed, or the error of a failed call
}

// batch is pending work of the writer: records, and whether a segment ends after them.
type batch struct {
	payload []byte
	end     uint64 // position after the last record
	bytes   int    // bytes of the records
	rotate  bool
}

// Create begins the journal of a new store, at position 0. build names the program; Read returns this name
// with each record. When Create returns, the first segment is durable. Its number, which Segment returns, is
// above the numbers of all segments in the folder.
func Create(f disk.Folder, store [16]byte, build string, o Options) (*Journal, error) {
	segment, err := nextSegment(f)
	if err != nil {
		return nil, err
	}
	h := header{store: store, build: build}
	return start(f, segment, h, appendHeader(nil, h), 0, o)
}

// start creates a segment with its first batch. It returns a journal whose next record has the position next
// and goes to this segment.
func start(f disk.Folder, segment uint32, h header, batch []byte, next uint64, o Options) (*Journal, error) {
	if len(h.build) > buildMax {
		return nil, fmt.Errorf("journal: the name of the build has %d bytes; at most %d are possible",
			len(h.build), buildMax)
	}
	if o.Room < 0 || o.Delay < 0 {
		return nil, errors.New("journal: Options.Room and Options.Delay cannot be negative")
	}
	out, err := create(f, segment, batch)
	if err != nil {
		return nil, err
	}
	j := &Journal{folder: f, store: h.store, build: h.build, room: o.Room, delay: o.Delay,
		done: make(chan struct{}), next: next, segment: segment, hold: o.Hold, synced: next, created: segment}
	if j.room == 0 {
		j.room = 64 << 20
	}
	if j.delay == 0 {
		j.delay = 10 * time.Millisecond
	}
	j.work.L = &j.mu
	j.durable.Store(next)
	go j.write(out)
	return j, nil
}

// Segment returns the number of the segment to which the next record goes, and the record's position.
func (j *Journal) Segment() (segment uint32, next uint64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.segment, j.next
}

// Append adds a record, and returns its position. Append copies the record, and does not wait for the disk:
// see [Journal.Wait]. If soon is true, the record is written as soon as the previous batch is durable.
// Otherwise it may first wait up to Options.Delay for other records.
//
// If Append returns an error, it has added no part of the record. The error is ErrFull if the disk is too
// slow, ErrClosed after Close, or the error of the disk. Append also returns an error if the record is larger
// than Options.Room.
func (j *Journal) Append(kind byte, record []byte, soon bool) (position uint64, err error) {
	size := recordSize(record)
	if size > j.room {
		return 0, fmt.Errorf("journal: a record of %d bytes never fits into Options.Room, which is %d bytes",
			len(record), j.room)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case j.end != nil:
		return 0, j.end
	case j.closing:
		return 0, ErrClosed
	case size > j.room-j.unsynced:
		return 0, fmt.Errorf("%w: %d bytes wait for the disk, and Options.Room is %d bytes", ErrFull,
			j.unsynced, j.room)
	}
	j.open = appendRecord(j.open, kind, record)
	j.collected += size
	j.unsynced += size
	position = j.next
	j.next++
	switch {
	case soon || j.unsynced > j.room/2:
		j.hurry()
	case j.timer == nil && !j.urgent:
		j.timer = time.AfterFunc(j.delay, func() {
			j.mu.Lock()
			defer j.mu.Unlock()
			j.hurry()
		})
	}
	return position, nil
}

// hurry makes the writer take all pending records. The caller holds mu.
func (j *Journal) hurry() {
	j.urgent = true
	j.work.Signal()
}

// Durable returns the position below which all records are acknowledged. Acknowledged records are durable.
func (j *Journal) Durable() uint64 { return j.durable.Load() }

// Wait waits until the record at position is durable and acknowledged. Wait returns the error of ctx if ctx
// ends first, and the error of the journal if the record will not be acknowledged.
func (j *Journal) Wait(ctx context.Context, position uint64) error {
	if position < j.durable.Load() {
		return nil
	}
	return j.await(ctx, func() bool { return position < j.durable.Load() })
}

// Flush writes all records that were appended before the call, and completes earlier calls of Rotate. When
// Flush returns nil, these records and the new segments are on the disk. Flush does not wait for
// [Journal.Release].
func (j *Journal) Flush() error {
	j.mu.Lock()
	next, segment := j.next, j.segment
	j.hurry()
	j.mu.Unlock()
	return j.await(context.Background(), func() bool { return j.synced >= next && j.created >= segment })
}

// await waits until reached returns true. It returns an error if ctx or the journal ends earlier. await calls
// reached with mu held.
func (j *Journal) await(ctx context.Context, reached func() bool) error {
	for {
		j.mu.Lock()
		if reached() {
			j.mu.Unlock()
			return nil
		}
		if j.end != nil {
			j.mu.Unlock()
			return j.end
		}
		if j.progress == nil {
			j.progress = make(chan struct{})
		}
		progress := j.progress
		j.mu.Unlock()
		select {
		case <-progress:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// advanced wakes the waiting calls. The caller holds mu.
func (j *Journal) advanced() {
	if j.progress != nil {
		close(j.progress)
		j.progress = nil
	}
}

// Rotate ends the segment: records that are appended from now on go to the next segment. Rotate returns the
// number of the next segment and the position of its first record. Rotate does not wait for the disk. A
// checkpoint must not name the next segment before a later call of Flush has returned nil.
func (j *Journal) Rotate() (segment uint32, first uint64, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case j.end != nil:
		return 0, 0, j.end
	case j.closing:
		return 0, 0, ErrClosed
	case j.segment == math.MaxUint32:
		return 0, 0, fmt.Errorf("journal: %s has the highest number that a segment can have",
			fileName(j.segment))
	}
	j.enqueue(true)
	j.segment++
	j.hurry()
	return j.segment, j.next, nil
}

// enqueue ends the open batch. The caller holds mu.
func (j *Journal) enqueue(rotate bool) {
	j.queue = append(j.queue, batch{payload: j.open, end: j.next, bytes: j.collected, rotate: rotate})
	j.open, j.collected, j.spare = j.spare[:0], 0, nil
}

// Hold holds acknowledgements back until Release, as Options.Hold does: no record that is appended after Hold
// is acknowledged before Release.
func (j *Journal) Hold() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.hold = true
}

// Release acknowledges the records on the disk, and ends the effect of Hold.
func (j *Journal) Release() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.hold = false
	j.acknowledge()
}

// acknowledge acknowledges the records on the disk, if the journal has not failed and does not hold
// acknowledgements back. The caller holds mu.
func (j *Journal) acknowledge() {
	if !j.hold && j.end == nil {
		j.durable.Store(j.synced)
	}
	j.advanced()
}

// Remove removes the segments with numbers below limit, the oldest first. The removals are durable when
// Remove returns nil. Call Remove only if a durable checkpoint names the segment with number limit or a later
// segment, so that recovery does not need the removed records.
func (j *Journal) Remove(limit uint32) error {
	j.mu.Lock()
	created := j.created
	j.mu.Unlock()
	if limit > created {
		return fmt.Errorf("journal: %s is the last segment on the disk; it and later ones cannot be removed",
			fileName(created))
	}
	// The lock keeps the writer from creating a file now. The system may report a failure to one Sync only.
	// Without the lock, this Sync could get a failure that concerns the name of the writer's new file, and
	// the writer's own Sync would succeed.
	j.names.Lock()
	defer j.names.Unlock()
	numbers, err := segments(j.folder)
	if err != nil {
		return err
	}
	for _, n := range numbers {
		if n >= limit {
			break
		}
		if err := j.folder.Remove(fileName(n)); err != nil {
			return fmt.Errorf("journal: removing %s: %w", fileName(n), err)
		}
	}
	if err := j.folder.Sync(); err != nil {
		return fmt.Errorf("journal: syncing the folder after the removal of segments: %w", err)
	}
	return nil
}

// Err returns the error that has made the journal fail, or nil.
func (j *Journal) Err() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if errors.Is(j.end, ErrClosed) {
		return nil
	}
	return j.end
}

// Close writes all pending records, and ends the journal. It returns the error that has made the journal
// fail, or nil. A second call only returns this error again. Close does not acknowledge records while
// acknowledgements are held back.
func (j *Journal) Close() error {
	j.mu.Lock()
	j.closing = true
	j.hurry()
	j.mu.Unlock()
	<-j.done
	return j.Err()
}
