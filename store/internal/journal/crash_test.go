package journal

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/vastgo/vast/internal/longtest"
)

var storeID = [16]byte{1, 2, 3, 15: 16}

// entry is a record that a test has appended.
type entry struct {
	kind  byte
	data  string
	build string
}

// entries returns the records of a tail.
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

// life is a store that dies again and again.
type life struct {
	m       *memory
	rng     *rand.Rand
	entries []entry
	acked   uint64 // records that were acknowledged at any time
	segment uint32 // of the checkpoint; 0 before the store exists
	from    uint64 // position of the checkpoint
}

// TestCrashes lets a store die by power cuts, kills, failed syncs and failed writes, many times one after the
// other. What Read returns begins with what was acknowledged, and is a beginning of what was appended.
func TestCrashes(t *testing.T) {
	torn, carried, skipped := 0, 0, 0
	for seed := range uint64(longtest.Pick(3000, 100_000)) {
		l := &life{m: newMemory(seed), rng: rand.New(rand.NewPCG(seed, 2))}
		for round := range 6 {
			tail, err := l.round(round)
			if err != nil {
				t.Fatalf("seed %d, round %d: %v\ncalls: %q", seed, round, err, l.m.calls)
			}
			if tail == nil {
				continue
			}
			for _, c := range tail.Cuts {
				if c.Offset == 0 {
					skipped++
				} else {
					torn++
				}
			}
			if last := tail.parts[len(tail.parts)-1]; tail.proven < last.sectors && last.previous != 0 {
				carried++
			}
		}
	}
	t.Logf("%d torn batches, %d torn creations, %d unproven batches", torn, skipped, carried)
	if torn < 100 || skipped < 100 || carried < 100 {
		t.Error("the crashes are too tame")
	}
}

// round opens the store, uses it, and lets it die. It returns what was read.
func (l *life) round(round int) (*Tail, error) {
	build := fmt.Sprint("build ", round)
	o := Options{Hold: l.rng.IntN(2) == 0, Delay: 1 << 40}
	tail, err := l.read()
	if err != nil {
		return nil, err
	}
	switch l.rng.IntN(5) {
	case 0, 1, 2:
		l.m.offAt = len(l.m.calls) + 1 + l.rng.IntN(50)
	case 3:
		prefix := []string{"sync", "sync ", "write", "create"}[l.rng.IntN(4)]
		l.m.fail = failing(prefix, 1+l.rng.IntN(12), errors.New("input/output error"))
	}
	var j *Journal
	if tail == nil {
		if j, err = Create(l.m, storeID, build, o); err == nil {
			l.segment, _ = j.Segment()
		}
	} else {
		j, err = tail.Resume(build, o)
	}
	if err == nil {
		err = l.use(j, build)
		l.m.stop()
		if e := j.Close(); err == nil && e != nil && !errors.Is(e, errOff) && l.m.fail == nil {
			err = e
		}
		l.acked = max(l.acked, j.Durable())
	} else if l.m.fail == nil && !errors.Is(err, errOff) {
		return nil, err
	} else {
		err = nil
	}
	if l.rng.IntN(2) == 0 {
		l.m = l.m.killed()
	} else {
		l.m = l.m.crashed()
	}
	return tail, err
}

// read reads the journal and compares it with what was appended.
func (l *life) read() (*Tail, error) {
	if l.segment == 0 {
		return nil, nil
	}
	tail, err := Read(l.m, storeID, l.segment, l.from)
	if err != nil {
		return nil, err
	}
	got, err := entries(tail)
	if err != nil {
		return nil, err
	}
	if tail.End < l.acked || tail.End > uint64(len(l.entries)) || tail.End != l.from+uint64(len(got)) {
		return nil, fmt.Errorf("the journal ends at %d with %d records from %d; %d were appended, %d acknowledged",
			tail.End, len(got), l.from, len(l.entries), l.acked)
	}
	l.entries = l.entries[:tail.End]
	if !slices.Equal(got, l.entries[l.from:]) {
		return nil, fmt.Errorf("records from %d are %q, want %q", l.from, got, l.entries[l.from:])
	}
	return tail, nil
}

// use appends records and makes checkpoints until the disk fails.
func (l *life) use(j *Journal, build string) error {
	first := j.Durable()
	if first != uint64(len(l.entries)) {
		return fmt.Errorf("a journal of %d records begins with %d", len(l.entries), first)
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
				return fmt.Errorf("Rotate at record %d returns %d", len(l.entries), from)
			}
			if l.rng.IntN(3) == 0 {
				continue // no checkpoint, or one that fails
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
				return fmt.Errorf("Append of record %d returns %d", len(l.entries), position)
			}
			l.entries = append(l.entries, e)
		}
	}
	if l.rng.IntN(4) == 0 {
		_ = j.Close() // an orderly end
	}
	return nil
}
