package store

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/disk"
	"github.com/vastgo/vast/internal/state"
	"github.com/vastgo/vast/store/internal/journal"
)

// Store keeps a world in a folder. Make one with [Open].
//
// Only the goroutine that owns the world may call Attach, Recover, Tick, Changed, Checkpoint, LastTick and
// Close. Any goroutine may call the other methods. Record, Submit and Wait return an error before Recover.
type Store struct {
	w       *vast.World
	o       Options
	folder  disk.Folder
	unlock  io.Closer
	id      [16]byte
	isNew   bool
	report  *Report
	phase   phase
	failure error // the error that stopped the store

	at       *lookBack       // nil unless OpenAt opened the store
	tail     *journal.Tail   // the part of the journal that Recover replays, or nil
	base     uint64          // the tick of the checkpoint that Open read
	segment  uint32          // the segment of the journal that the checkpoint began
	position uint64          // of the first record that follows the checkpoint
	known    *state.Schedule // the schedule in the checkpoint that Open read, or nil
	schedule any             // a *sched.Schedule, or nil

	tick    uint64 // the number of the last tick that is over
	inside  bool   // whether a tick is under way
	changes uint64 // the value of World.Changes with which noteChanges compares the present value
	edited  bool   // whether another change outside of ticks was reported: see Changed
	direct  int    // number of further checkpoints without a late copy, after a change outside of ticks
	apply   func(input []byte)
	replay  *replayed // the tick that Recover replays, until this tick begins; otherwise nil
	checkpoints
	check   checks
	replica *replica // not nil if this is the store of a second world: see Check

	mu      sync.Mutex       // guards the fields below, and keeps the order of inputs and ticks
	journal *journal.Journal // nil if the program does not replay ticks, or before Recover
	waiting []input          // recorded inputs that the next tick applies
	taken   uint64           // the tick under way has applied the inputs before this position
	ticks   []tickRecord     // the ticks that are over and not known to be durable, oldest first
	durable uint64           // the last tick that is known to be durable
	needed  uint64           // the journal acknowledges nothing until this checkpoint is durable
	broken  bool             // whether this checkpoint must hold a change outside of ticks
}

// phase is a part of a store's life.
type phase int

const (
	opened phase = iota
	recovering
	running
	past // after Recover of a store that OpenAt opened
	closed
)

// Open opens a folder, or makes it, and reads the world in the folder into w, as [Load] does. Before Open,
// the program registers its columns, and makes no entities. If the folder is new, w stays empty: see
// [Store.New]. After Open, the program fills a new world, attaches its schedule, and calls [Store.Recover].
//
//	st, err := store.Open("data", w, store.Options{})
//	…
//	defer st.Close()
//	if st.New() {
//		fill(w)
//	}
//	s := sched.New(w, sched.Options{})
//	…
//	st.Attach(s)
//	err = st.Recover(apply, s.Tick)
//
// Only one process at a time can open a folder. If another process has opened the folder, the error names
// that process. If a file is damaged or missing, belongs to another store, or has a newer format, the error
// names the file and the damaged place. Open also returns an error if a column or resource cannot be saved.
// If Load would return an error, Open returns this error, and w is closed. An error leaves the world in the
// folder unchanged.
//
// Complexity: reads the files of the last checkpoint and the journal that follows it. The files have at most
// about 1.5 times the world's bytes, and all processors read them.
func Open(dir string, w *vast.World, o Options) (*Store, error) {
	fail := func(err error) (*Store, error) {
		return nil, fmt.Errorf("store: opening %q for world %q: %w", dir, w.Options().Name, err)
	}
	if err := disk.MakeFolder(dir); err != nil {
		return fail(err)
	}
	lock, err := disk.LockFolder(dir)
	if err != nil {
		return fail(err)
	}
	folder, err := disk.OpenFolder(dir)
	if err == nil {
		var s *Store
		if s, err = open(folder, w, o); err == nil {
			s.unlock = lock
			return s, nil
		}
	}
	return fail(errors.Join(err, lock.Close()))
}

// open opens a folder that is locked.
func open(folder disk.Folder, w *vast.World, o Options) (*Store, error) {
	if o.Every < 0 || o.Keep < 0 || o.KeepFor < 0 || o.KeepBytes < 0 {
		return nil, fmt.Errorf("Options.Every is %v, Keep is %d, KeepFor is %v and KeepBytes is %d: they "+
			"cannot be negative", o.Every, o.Keep, o.KeepFor, o.KeepBytes)
	}
	s := &Store{w: w, o: o, folder: folder}
	s.checkpoints.prepare()
	if _, err := pictureOf(w, o, nil); err != nil {
		return nil, err
	}
	files, err := folder.Files()
	if err != nil {
		return nil, err
	}
	numbers, leftovers, err := checkpointFiles(files)
	if err != nil {
		return nil, err
	}
	if err := s.checkNewest(files, numbers); err != nil {
		return nil, err
	}
	if len(numbers) == 0 {
		if w.Len() > 0 {
			return nil, errors.New("the folder is new, and the world has entities: open the store before " +
				"the first entity, and fill the world if New returns true")
		}
		s.isNew = true
		s.begun = slices.ContainsFunc(files, func(f disk.Info) bool { return f.Name == begunName })
		_, _ = rand.Read(s.id[:])
	} else {
		sizes := make(map[string]int64, len(files))
		for _, f := range files {
			sizes[f.Name] = f.Size
		}
		useless, err := s.load(numbers, sizes)
		if err != nil {
			return nil, err
		}
		leftovers = append(leftovers, useless...)
	}
	for _, name := range leftovers {
		if err := folder.Remove(name); err != nil {
			return nil, err
		}
	}
	s.unchanged()
	// A killed process may have left a checkpoint whose name is not durable. The name must be durable before
	// DurableTick counts the checkpoint as durable.
	if err := folder.Sync(); err != nil || len(s.kept) == 0 {
		return s, err
	}
	last := len(s.kept) - 1
	return s, s.noteNewest(s.kept[last], s.kept[:last])
}

// checkpointFiles returns the numbers of the checkpoints in a folder, in order, and the names of files that a
// crash has left. If there is no checkpoint, other files than those of a new store are an error.
func checkpointFiles(files []disk.Info) (numbers []uint64, leftovers []string, err error) {
	var others, segments []string
	begun := false
	for _, f := range files {
		number, finished, ok := checkpointNumber(f.Name)
		switch {
		case f.Name == begunName:
			begun = true
		case ok && finished:
			numbers = append(numbers, number)
		case ok:
			leftovers = append(leftovers, f.Name)
		case strings.HasPrefix(f.Name, journalPrefix):
			segments = append(segments, f.Name)
		case strings.HasPrefix(f.Name, newestPrefix): // see Store.checkNewest
		default:
			others = append(others, f.Name)
		}
	}
	if len(numbers) == 0 && len(others) > 0 {
		return nil, nil, fmt.Errorf("the folder holds %q and no checkpoint, so it is not a store: give an "+
			"empty or a new folder", others[0])
	}
	if len(numbers) == 0 && len(segments) > 0 && !begun {
		return nil, nil, fmt.Errorf("the folder holds a journal and no checkpoint: the checkpoint that %s "+
			"follows is missing: restore the folder from a copy", segments[0])
	}
	if len(numbers) > 0 && begun {
		leftovers = append(leftovers, begunName)
	}
	slices.Sort(numbers)
	return numbers, leftovers, nil
}

const journalPrefix = "journal-"

// New reports whether Open found no world. If New returns true, the program fills the world.
func (s *Store) New() bool { return s.isNew }

// Report returns the changes that Open made because the program's components differ from those in the folder:
// see [Load]. It is nil for a new store.
func (s *Store) Report() *Report { return s.report }

// LastTick returns the number of the world's last tick. After Open this is the tick of the checkpoint. After
// Recover this is the last tick that was replayed or made.
func (s *Store) LastTick() uint64 { return s.tick }

// must panics unless the store is in one of the phases.
func (s *Store) must(what string, phases ...phase) {
	if slices.Contains(phases, s.phase) {
		return
	}
	remedy := map[phase]string{
		opened:     "call Recover first, with the program's tick function",
		recovering: "Recover is at work; inputs come from the journal",
		running:    "call it before Recover",
		past:       "the store was opened with OpenAt, and keeps nothing",
		closed:     "the store is closed",
	}[s.phase]
	panic(fmt.Sprintf("store: Store.%s: %s", what, remedy))
}

// Close waits for the checkpoint that is being written, takes a last checkpoint, waits for the check that is
// under way, ends the journal, and unlocks the folder for other processes. Close the store before the world.
// A second Close does nothing. If Close returns an error, the last durable checkpoint and the journal stay in
// the folder.
func (s *Store) Close() error {
	if s.phase == closed {
		return nil
	}
	var errs []error
	if s.inside { // the goroutine of the last tick ended inside of the tick
		s.inside = false
		s.tick++
		s.edited = true
	}
	if s.phase == running && s.failure == nil {
		errs = append(errs, s.checkpoint())
	}
	s.phase = closed
	errs = append(errs, s.checkpoints.close())
	engine.OnSettle(s.w, nil)
	s.check.running.Wait()
	errs = append(errs, s.check.err)
	if s.o.Check.Again != nil && len(s.kept) > 0 {
		_ = s.prune() // a check may have delayed prune; after an error the next process removes the files
	}
	if s.schedule != nil {
		schedules().Leave(s.schedule)
	}
	if j := s.journalNow(); j != nil {
		errs = append(errs, j.Close())
	}
	if s.unlock != nil {
		errs = append(errs, s.unlock.Close())
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("store: closing the store of world %q: %w", s.w.Options().Name, err)
	}
	return nil
}

func (s *Store) journalNow() *journal.Journal {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.journal
}

// schedules returns the methods of package sched that this package calls, or nil if the program does not
// import package sched. The argument schedule of these methods is a *sched.Schedule.
func schedules() scheduler {
	s, _ := state.Schedules.(scheduler)
	return s
}

type scheduler interface {
	Keep(schedule any, k state.Keeper, known *state.Schedule) bool
	State(schedule any) state.Schedule
	Leave(schedule any)
}

// identity returns a store's identity as text.
func identity(id [16]byte) string { return hex.EncodeToString(id[:]) }
