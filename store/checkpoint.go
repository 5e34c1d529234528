package store

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/vastgo/vast/internal/clock"
	"github.com/vastgo/vast/store/internal/journal"
)

// Checkpoint describes a checkpoint, for Options.Notify.
type Checkpoint struct {
	Tick    uint64        // the last tick that the checkpoint holds
	Bytes   int64         // size of its file, which may hold only the changes since an earlier checkpoint
	Pause   time.Duration // how long the world stood still for the copy, plus all later waits for the copy
	Took    time.Duration // time for the copy, the writing of the file, and the removal of replaced files
	Skipped int           // how many checkpoints were skipped while the previous one was being written
	Err     error         // why the checkpoint failed, or nil; the store tries again after a second
	// PruneErr says why files that this checkpoint replaces could not be removed, or is nil. A checkpoint
	// with a PruneErr is durable. The next checkpoint tries again to remove the files.
	PruneErr error
}

// checkpoints are the checkpoints of a store: those in the folder, and the one that is being written.
type checkpoints struct {
	stage stage
	// kept are the checkpoints in the folder, oldest first. While a checkpoint is being written, only the
	// goroutine that writes it uses kept.
	kept []keptFile
	// lost is true if the changes since the last checkpoint in the folder are unknown. The next checkpoint
	// then holds the whole world.
	lost bool
	// share and maxDeltas bound a chain: a file that holds a whole world, and the deltas that continue it.
	// The chain may have up to 1+share times the bytes of a file that holds the present world. If a new delta
	// would exceed one of the bounds, files of the chain are merged.
	share     float64
	maxDeltas int
	now       func() time.Time
	next      uint64        // number of the next checkpoint
	last      time.Duration // time of package clock when the last checkpoint was begun or skipped
	skipped   int
	due       bool          // a checkpoint must be taken as soon as possible
	failed    time.Duration // time of package clock when the last attempt failed, or 0
	// retry is the least time between a failed attempt and the next attempt.
	retry time.Duration
	begun bool // the folder has the file begunName
	// newestFile is the name of a file that names a checkpoint, or empty: see newestPrefix.
	newestFile string
	removed    bool                 // files were removed since the folder was synced
	late       atomic.Pointer[late] // the part of the copy that is made after the pause, or nil
	written    chan error           // gets the error of each checkpoint, or nil, when its writing ends
	writing    *writing             // the checkpoint that is being written, or nil
}

// keptFile is a checkpoint in the folder.
type keptFile struct {
	number uint64
	since  uint32 // the first segment of the journal that recovery from this checkpoint reads
	base   uint64 // the checkpoint that a delta continues, or 0
	moment string // see keptManifest
	taken  int64  // see keptManifest
	bytes  int64
}

// writing is a checkpoint that is being written.
type writing struct {
	keptFile
	everything bool          // the copy holds the whole world
	broken     bool          // the checkpoint holds a change outside of ticks
	steps      []repeat      // from the previous checkpoint to this one
	began      time.Duration // time of package clock when the copy began
	info       Checkpoint
}

func (c *checkpoints) prepare() {
	c.next, c.last, c.written = 1, clock.Now(), make(chan error, 1)
	c.lost, c.share, c.maxDeltas, c.retry, c.now = true, 0.5, 64, time.Second, time.Now
}

const (
	checkpointPrefix = "checkpoint-"
	unfinished       = ".new"
	// begunName names an empty file that a new store with a journal has until its first checkpoint is
	// durable. If a folder has a journal and no checkpoint, this file shows that no checkpoint was lost. No
	// checkpoint uses the name, because no checkpoint has the number 0.
	begunName = checkpointPrefix + "00000000" + unfinished
)

func checkpointName(number uint64) string { return fmt.Sprintf("%s%08d", checkpointPrefix, number) }

// checkpointNumber returns the number in the name of a checkpoint's file, and whether the file is finished.
// ok reports whether the name is that of a checkpoint's file.
func checkpointNumber(name string) (number uint64, finished, ok bool) {
	text, unfinishedOne := strings.CutSuffix(name, unfinished)
	number, err := strconv.ParseUint(strings.TrimPrefix(text, checkpointPrefix), 10, 64)
	return number, !unfinishedOne, err == nil && number > 0 && text == checkpointName(number)
}

// load reads the newest of the checkpoints into the world, and finds the end of the journal that follows this
// checkpoint. useless are the names of deltas whose base is gone, because a program died after it had removed
// the base.
func (s *Store) load(numbers []uint64, sizes map[string]int64) (useless []string, err error) {
	if err = s.readMoment(numbers[len(numbers)-1]); err != nil {
		return nil, err
	}
	for _, n := range numbers {
		one, err := s.describeFile(n)
		if err != nil {
			return nil, err
		}
		one.bytes = sizes[checkpointName(n)]
		isBase := func(k keptFile) bool { return k.number == one.base }
		if one.base != 0 && !slices.ContainsFunc(s.kept, isBase) {
			useless = append(useless, checkpointName(n))
			continue
		}
		s.kept = append(s.kept, one)
	}
	if s.segment > 0 {
		s.tail, err = journal.Read(s.folder, s.id, s.segment, s.position)
	}
	return useless, err
}

func (s *Store) readMoment(number uint64) error {
	c, err := openChain(s.folder, number)
	if err != nil {
		return err
	}
	m := c.manifest().Kept
	if s.id, err = storeOf(m); err != nil {
		return errors.Join(fmt.Errorf("%s: %w", checkpointName(number), err), c.close())
	}
	s.report, err = c.read(s.w, s.o, false)
	if err = errors.Join(err, c.close()); err != nil {
		return err
	}
	s.next = number + 1
	s.tick, s.base, s.durable = m.Tick, m.Tick, m.Tick
	s.segment, s.position = m.Segment, m.Position
	s.known = m.Schedule
	return nil
}

func (s *Store) describeFile(number uint64) (keptFile, error) {
	y, f, err := openCheckpoint(s.folder, number)
	if err != nil {
		return keptFile{}, err
	}
	if err := f.Close(); err != nil {
		return keptFile{}, err
	}
	m := y.m.Kept
	if id, err := storeOf(m); err != nil || id != s.id {
		return keptFile{}, errors.Join(err, fmt.Errorf("%s: the checkpoint belongs to store %s, and the "+
			"newest checkpoint to store %s", y.name, m.Store, identity(s.id)))
	}
	return keptFile{number: number, since: m.Since, base: m.Base, moment: m.Moment, taken: m.Taken}, nil
}

// Checkpoint takes a checkpoint and waits until it is durable. Take one before an upgrade of the program, and
// after changes that ticks and inputs do not make and that must not be lost: see [Store.Changed]. Checkpoint
// returns an error if Commands wait to be applied, or if the file or the journal cannot be written. After an
// error, the earlier checkpoints stay.
func (s *Store) Checkpoint() error {
	s.must("Checkpoint", running)
	if s.inside {
		panic("store: Store.Checkpoint inside of a tick: call it between ticks")
	}
	if err := s.checkpoint(); err != nil {
		return fmt.Errorf("store: checkpoint of world %q: %w", s.w.Options().Name, err)
	}
	s.unchanged()
	return nil
}

func (s *Store) checkpoint() error {
	_ = s.finish(true) // Options.Notify gets the error of the previous checkpoint
	if err := s.begin(); err != nil {
		return err
	}
	return s.finish(true)
}

// mayCheckpoint begins a checkpoint if one is due, and does not wait for the disk.
func (s *Store) mayCheckpoint() error {
	_ = s.finish(false) // Options.Notify gets the error
	now := clock.Now()
	every := s.o.Every
	if every == 0 {
		every = time.Second
	}
	if !s.due && now-s.last < every || s.failed != 0 && now-s.failed < s.retry {
		return nil
	}
	if s.writing != nil {
		if now-s.last >= every {
			s.skipped++
			s.last = now
		}
		return nil
	}
	err := s.begin()
	if err != nil {
		s.failed = clock.Now() // delays the next attempt, because each attempt costs a segment of the journal
	}
	return err
}

// begin copies the world, and starts the goroutine that writes the copy. This goroutine also makes the part
// of the copy that begin leaves to the field late. The caller must have finished the previous checkpoint.
func (s *Store) begin() error {
	began := clock.Now()
	if err := s.noteChanges(); err != nil {
		return err
	}
	var moment [8]byte
	_, _ = rand.Read(moment[:])
	m := &keptManifest{Store: identity(s.id), Number: s.next, Tick: s.tick,
		Moment: hex.EncodeToString(moment[:]), Taken: s.now().UnixMilli()}
	if s.schedule != nil {
		known := schedules().State(s.schedule)
		m.Schedule = &known
	}
	if err := s.rotate(m); err != nil {
		return err
	}
	if s.stage.known == nil {
		s.stage.pages = newPages()
	}
	everything := s.lost
	if n := len(s.kept); n == 0 {
		everything = true
	} else if !everything {
		m.Base, m.BaseMoment = s.kept[n-1].number, s.kept[n-1].moment
	}
	s.lost = true // in case the copy fails
	p, err := pictureOf(s.w, s.o, m)
	if err == nil {
		err = s.stage.take(p, everything, s.direct == 0)
		s.direct = max(s.direct-1, 0)
	}
	if err != nil {
		return err
	}
	w := &writing{keptFile: keptFile{number: s.next, since: m.Since, base: m.Base, moment: m.Moment,
		taken: m.Taken}, everything: everything, broken: s.broken, steps: s.check.since, began: began}
	w.info = Checkpoint{Tick: s.tick, Pause: clock.Now() - began, Skipped: s.skipped}
	s.next++
	s.check.since = nil
	s.last, s.skipped, s.due, s.lost = began, 0, false, false
	s.writing = w
	s.late.Store(s.stage.late)
	go s.write(w)
	return nil
}

// settle waits until the copy of the last checkpoint is complete. After settle, all memory of the world may
// be written.
func (s *Store) settle() {
	if l := s.late.Load(); l != nil {
		l.all()
	}
}

// rotate begins a new segment of the journal for the records after a checkpoint, and enters the segment into
// the checkpoint's description.
func (s *Store) rotate(m *keptManifest) (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.journal == nil {
		return nil
	}
	if m.Segment, m.Position, err = s.journal.Rotate(); err != nil {
		return err
	}
	m.Since = m.Segment
	if len(s.waiting) > 0 { // recovery needs these inputs, because a tick after the checkpoint applies them
		m.Position, m.Since = s.waiting[0].position, s.waiting[0].segment
	}
	return nil
}

// write makes a copied world durable. It then removes the files that the new file replaces, unless a check
// (see Options.Check) is under way, which may still read them. write runs on a goroutine of its own. There is
// at most one such goroutine.
func (s *Store) write(w *writing) {
	err := s.stage.complete()
	if l := s.stage.late; l != nil {
		w.info.Pause += l.waits.sum(clock.Now())
	}
	if err == nil {
		if w.everything {
			w.base = 0
		}
		s.stage.hash()
		err = s.writeFile(w)
	}
	err = errors.Join(err, s.stage.release())
	if err == nil {
		older := s.kept
		s.kept = append(s.kept, w.keptFile)
		if err = s.noteNewest(w.keptFile, older); err == nil {
			err = s.reached(w)
		}
		if err == nil && !s.mayCheck(w) {
			w.info.PruneErr = s.prune()
		}
	}
	w.info.Took, w.info.Err = clock.Now()-w.began, err
	if s.o.Notify != nil {
		s.o.Notify(w.info)
	}
	s.written <- err
}

// writeFile writes a copied world to a file. The file gets its final name when its bytes are durable.
func (s *Store) writeFile(w *writing) (err error) {
	name := checkpointName(w.number)
	f, err := s.folder.Create(name + unfinished)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = s.folder.Remove(name + unfinished)
		}
	}()
	counted := &counter{to: f}
	if from := s.mergeFrom(w); from < 0 {
		err = s.stage.writeTo(counted)
	} else {
		w.base, err = s.merge(counted, from)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	w.info.Bytes, w.bytes = counted.n, counted.n
	if j := s.journalNow(); j != nil {
		if err := j.Flush(); err != nil { // the checkpoint names a segment, which must be durable first
			return err
		}
	}
	if err := s.folder.Rename(name+unfinished, name); err != nil {
		return err
	}
	if err := s.folder.Sync(); err != nil || !s.begun {
		return err
	}
	if err := s.folder.Remove(begunName); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := s.folder.Sync(); err != nil {
		return err
	}
	s.begun = false
	return nil
}

// beginFolder makes the file begunName durable, before a new store has a journal.
func (s *Store) beginFolder() error {
	if !s.begun {
		f, err := s.folder.Create(begunName)
		if err != nil {
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
		s.begun = true
	}
	return s.folder.Sync()
}

type counter struct {
	to io.Writer
	n  int64
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.to.Write(b)
	c.n += int64(n)
	return n, err
}

// reached notes that a checkpoint is durable. If a replay of the journal cannot lead from an older checkpoint
// to this one, reached first appends to the journal a record that names this checkpoint. The record reveals a
// later loss of the checkpoint's file.
func (s *Store) reached(w *writing) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w.broken {
		if _, err := s.journal.Append(recordKept, binary.AppendUvarint(nil, w.number), true); err != nil {
			return err
		}
		s.mu.Unlock()
		err := s.journal.Flush()
		s.mu.Lock()
		if err != nil {
			return err
		}
	}
	s.durable = max(s.durable, w.info.Tick)
	if s.journal != nil && w.number >= s.needed {
		s.broken = false
		s.journal.Release()
	}
	return nil
}

// finish takes the result of the checkpoint that is being written, if there is one and its writing has ended.
// If wait is true, finish waits for the end of the writing.
func (s *Store) finish(wait bool) error {
	if s.writing == nil {
		return nil
	}
	var err error
	if wait {
		err = <-s.written
	} else {
		select {
		case err = <-s.written:
		default:
			return nil
		}
	}
	s.writing = nil
	s.late.Store(nil)
	if err != nil {
		// failed delays the next attempt, because each attempt costs a copy of the world and a segment of the
		// journal.
		s.due, s.lost, s.failed = true, true, clock.Now()
		s.noteRepeat(repeat{broken: true}) // the steps up to this checkpoint are lost
	}
	return err
}

func (c *checkpoints) close() error {
	if c.writing != nil {
		<-c.written
		c.writing = nil
	}
	return c.stage.close()
}
