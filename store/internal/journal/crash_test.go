package journal

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"

	"github.com/vastgo/vast/internal/disk"
	"github.com/vastgo/vast/internal/disk/sim"
	"github.com/vastgo/vast/internal/longtest"
)

var storeID = [16]byte{1, 2, 3, 15: 16}

type entry struct {
	kind  byte
	data  string
	build string
}

func entries(tail *Tail) ([]entry, error) {
	var all []entry
	for r, err := range tail.Records() {
		if err != nil {
			return nil, err
		}
		if want := tail.from + uint64(len(all)); r.Position != want {
			return nil, fmt.Errorf("record %d has position %d", want, r.Position)
		}
		all = append(all, entry{r.Kind, string(r.Data), r.Build})
	}
	return all, nil
}

// randomEntry returns a record that differs from all others.
func randomEntry(rng *rand.Rand, position int, build string) entry {
	size := rng.IntN(40)
	if rng.IntN(4) == 0 {
		size = rng.IntN(1600)
	}
	data := fmt.Appendf(nil, "%d of %s ", position, build)
	for range size {
		data = append(data, byte(rng.IntN(3)))
	}
	return entry{byte(rng.IntN(256)), string(data), build}
}

// life is the journal of a store. The programs that use the journal die one after the other.
type life struct {
	f       disk.Folder
	rng     *rand.Rand
	entries []entry // all records that were appended and not lost
	acked   uint64  // number of records that were ever acknowledged
	segment uint32  // segment that the checkpoint names; 0 before Create
	from    uint64  // position that the checkpoint names
}

func TestCrashes(t *testing.T) {
	tornBatches, tornCreations, unproven := 0, 0, 0
	seeds := longtest.Pick(800, 100_000)
	for seed := range uint64(seeds) {
		m := newMemory(seed)
		l := &life{rng: rand.New(rand.NewPCG(seed, 2))}
		for round := range 6 {
			switch l.rng.IntN(5) {
			case 0, 1, 2:
				m.offAt = 1 + l.rng.IntN(60)
			case 3:
				prefix := []string{"sync", "sync ", "write", "create"}[l.rng.IntN(4)]
				m.fail = failing(prefix, 1+l.rng.IntN(12), errBroken)
			}
			l.f = m
			tail, err := l.round(round, m.stop)
			if err != nil {
				t.Fatalf("seed %d, round %d: %v\ncalls: %q", seed, round, err, m.calls)
			}
			if l.rng.IntN(2) == 0 {
				m = m.killed()
			} else {
				m = m.crashed()
			}
			if tail == nil {
				continue
			}
			for _, c := range tail.Cuts {
				if c.Offset == 0 {
					tornCreations++
				} else {
					tornBatches++
				}
			}
			if last := tail.parts[len(tail.parts)-1]; tail.proven < last.sectors && last.previous != 0 {
				unproven++
			}
		}
	}
	t.Logf("%d torn batches, %d torn creations, %d unproven batches", tornBatches, tornCreations, unproven)
	if tornBatches < 100 || tornCreations < 100 || unproven < 100 {
		t.Error("torn batches, torn creations or unproven batches are too few, want 100 of each kind")
	}
}

// errBroken is the error of a call that a test makes fail.
var errBroken = errors.New("input/output error")

// expected reports whether err is an error that the test injects.
func expected(err error) bool {
	return errors.Is(err, errBroken) || errors.Is(err, errOff) || errors.Is(err, sim.ErrStopped) ||
		errors.Is(err, syscall.EIO) || errors.Is(err, syscall.ENOSPC)
}

// round is the life of one program. The program opens the journal. If the journal opens, the program uses the
// journal, the disk stops, and the program closes the journal. round returns the tail that was read, and an
// error unless the test has injected the error.
func (l *life) round(round int, stop func()) (*Tail, error) {
	build := fmt.Sprint("build ", round)
	o := Options{Hold: l.rng.IntN(2) == 0, Delay: 1 << 40}
	tail, err := l.read()
	var j *Journal
	switch {
	case err != nil:
	case tail != nil:
		j, err = tail.Resume(build, o)
	default:
		if j, err = Create(l.f, storeID, build, o); err == nil {
			l.segment, _ = j.Segment()
		}
	}
	if err == nil {
		err = l.use(j, build)
		stop()
		if e := j.Close(); err == nil {
			err = e
		}
		l.acked = max(l.acked, j.Durable())
	}
	if expected(err) {
		err = nil
	}
	return tail, err
}

// read reads the journal. The records must be a prefix of the appended records, and must include all
// acknowledged ones.
func (l *life) read() (*Tail, error) {
	if l.segment == 0 {
		return nil, nil
	}
	tail, err := Read(l.f, storeID, l.segment, l.from)
	if err != nil {
		return nil, err
	}
	got, err := entries(tail)
	if err != nil {
		return nil, err
	}
	if tail.End < l.acked || tail.End > uint64(len(l.entries)) || tail.End != l.from+uint64(len(got)) {
		return nil, fmt.Errorf("%d records were read, from %d up to %d; %d were appended, %d acknowledged",
			len(got), l.from, tail.End, len(l.entries), l.acked)
	}
	l.entries = l.entries[:tail.End]
	if !slices.Equal(got, l.entries[l.from:]) {
		return nil, fmt.Errorf("records from %d are %q, want %q", l.from, got, l.entries[l.from:])
	}
	return tail, nil
}

// use appends records and makes checkpoints. It ends early if the disk fails.
func (l *life) use(j *Journal, build string) error {
	first := j.Durable()
	if first != uint64(len(l.entries)) {
		return fmt.Errorf("the next position in a journal of %d records is %d", len(l.entries), first)
	}
	held := j.hold
	for range l.rng.IntN(80) {
		switch l.rng.IntN(12) {
		case 0:
			if j.Flush() != nil {
				return nil
			}
			if held && j.Durable() != first {
				return errors.New("a record is acknowledged before Release")
			}
		case 1:
			segment, from, err := j.Rotate()
			if err != nil {
				return nil
			}
			if from != uint64(len(l.entries)) {
				return fmt.Errorf("Rotate before record %d returns position %d", len(l.entries), from)
			}
			if l.rng.IntN(3) == 0 {
				continue // there is no checkpoint, or it fails
			}
			if j.Flush() != nil {
				return nil
			}
			l.segment, l.from = segment, from
			held = false
			j.Release()
			if l.rng.IntN(2) == 0 && j.Remove(segment) != nil {
				return nil
			}
		case 2:
			if n := uint64(len(l.entries)); n > 0 && !held && j.Flush() == nil {
				if err := j.Wait(context.Background(), n-1); err != nil && j.Err() == nil {
					return err
				}
			}
		default:
			e := randomEntry(l.rng, len(l.entries), build)
			position, err := j.Append(e.kind, []byte(e.data), l.rng.IntN(2) == 0)
			if err != nil {
				return nil
			}
			if position != uint64(len(l.entries)) {
				return fmt.Errorf("Append of record %d returns position %d", len(l.entries), position)
			}
			l.entries = append(l.entries, e)
		}
	}
	if l.rng.IntN(4) == 0 {
		_ = j.Close()
	}
	return nil
}

func TestEachCall(t *testing.T) {
	for seed := range uint64(longtest.Pick(20, 1000)) {
		for call, past := int64(1), false; !past; call++ {
			d := sim.New(seed<<32 + uint64(call))
			var err error
			if past, err = fourRounds(d, seed, call, 0); err != nil {
				t.Fatalf("seed %d, call %d: %v\ncalls: %v", seed, call, err, d.Log())
			}
		}
	}
}

// TestMistakes checks that the function fourRounds finds a folder that loses acknowledged records.
func TestMistakes(t *testing.T) {
	for _, mistake := range []sim.Mistake{sim.FolderSyncDoesNothing, sim.FileSyncEarly} {
		found := 0
		for seed := range uint64(100) {
			if _, err := fourRounds(sim.New(seed), seed, 30, mistake); err != nil {
				found++
			}
		}
		if found == 0 {
			t.Errorf("no seed finds mistake %d", mistake)
		}
	}
}

// fourRounds lets four programs use the journal of a store on a disk, one after the other. In the first
// round, the given call of the disk fails or ends the program. In each later round, a random call fails or
// ends the program. past is true if the first round ends before the given call.
func fourRounds(d *sim.Disk, seed uint64, call int64, mistake sim.Mistake) (past bool, err error) {
	l := &life{rng: rand.New(rand.NewPCG(seed, 3))}
	f := d.Folder()
	for round := range 4 {
		at := call
		if round > 0 {
			at = d.Calls() + 1 + l.rng.Int64N(60)
		}
		[]func(int64){d.KillAt, d.PowerCutAt, d.FailAt}[l.rng.IntN(3)](at)
		stop := []func(){d.Kill, d.PowerCut}[l.rng.IntN(2)]
		if l.f = f; mistake != 0 {
			l.f = sim.Break(f, mistake)
		}
		if _, err := l.round(round, stop); err != nil {
			return false, fmt.Errorf("round %d: %w", round, err)
		}
		past = past || round == 0 && d.Calls() < call
		if !d.Stopped() {
			stop()
		}
		f = d.Restart()
	}
	return past, nil
}
