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

	at       *lookBack       // set by OpenAt, nil after Open
	tail     *journal.Tail   // the part of the journal that Recover replays, or nil
	base     uint64          // the tick of the checkpoint that Open read
	segment  uint32          // the journal's segment that the checkpoint began
	position uint64          // the position of the first journal record that Recover reads
	known    *state.Schedule // the schedule in the checkpoint that Open read, or nil
	schedule any             // a *sched.Schedule, or nil

	tick    uint64 // the number of the last finished tick
	inside  bool   // a tick is running
	changes uint64 // World.Changes after the last tick, input or noted change
	edited  bool   // Changed, the schedule or a failed tick has reported a change outside of ticks
	inInput bool   // an input is being applied
	direct  int    // how many more checkpoints make no late copy: see noteChanges
	apply   func(input []byte)
	replay  *replayed // the next tick that Recover replays, or nil
	checkpoints
	check   checks
	replica *replica // set if this is the store of a check's second world, else nil: see Check

	mu      sync.Mutex       // guards the fields below, and keeps the order of inputs and ticks
	journal *journal.Journal // nil if the program does not replay ticks, or before Recover
	waiting []input          // recorded inputs that the next tick applies
	taken   uint64           // the ticks have applied all inputs before this position in the journal
	ticks   []tickRecord     // the finished ticks that are not known to be durable, oldest first
	durable uint64           // the last tick that is known to be durable
	needed  uint64           // until this checkpoint is durable, the journal acknowledges no record
	broken  bool             // the world has changed outside of ticks since the last durable checkpoint
}

type phase int

const (
	opened phase = iota
	recovering
	running
	past // after Recover of a store that OpenAt opened
	closed
)

// Open opens a folder, or makes it, and reads the world in the folder into w, as [Load] does. Before Open,
// register the columns of w, and make no entities. After Open, fill w if [Store.New] returns true, attach the
// schedule, and call [Store.Recover]:
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
// An error leaves the folder's world unchanged. After an error, close w, and make a new world for the next
// Open.
//
// Complexity: reads the files of the last checkpoint and the journal that follows the checkpoint. The files
// of the checkpoint have at most about 1.5 times the world's bytes, and all processors read them.
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

// open requires a locked folder.
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
	// A killed process may have left a checkpoint whose name is not durable yet.
	if err := folder.Sync(); err != nil || len(s.kept) == 0 {
		return s, err
	}
	last := len(s.kept) - 1
	return s, s.noteNewest(s.kept[last], s.kept[:last])
}

// checkpointFiles returns the numbers of the checkpoints in a folder, in order, and the names of files that a
// crash has left. A folder without a checkpoint may hold only files of a new store: otherwise checkpointFiles
// returns an error.
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
// see [Load]. The report of a new store is nil.
func (s *Store) Report() *Report { return s.report }

// LastTick returns the number of the world's last tick. Between Open and Recover, this is the tick of the
// checkpoint that Open read.
func (s *Store) LastTick() uint64 { return s.tick }

// must panics if the store is in none of the phases. what names the method that was called.
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

// Close takes a last checkpoint, ends the journal, and unlocks the folder for other processes. Close takes no
// checkpoint before Recover, after the store has failed, and in a store that OpenAt opened. Close also waits
// for the end of a checkpoint or check that is running. Close the store before the world. A second Close does
// nothing. If Close returns an error, the last durable checkpoint and the journal stay in the folder.
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
		_ = s.prune() // a check may have delayed it; after an error, the next process removes the files
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

// schedules returns nil if the program does not import package sched.
func schedules() scheduler {
	s, _ := state.Schedules.(scheduler)
	return s
}

// scheduler has functions of package sched. Their argument schedule is a *sched.Schedule.
type scheduler interface {
	Keep(schedule any, k state.Keeper, known *state.Schedule) bool
	State(schedule any) state.Schedule
	Leave(schedule any)
	Parts(schedule any) []state.Part
	Container(container any) state.Container
}

func identity(id [16]byte) string { return hex.EncodeToString(id[:]) }
