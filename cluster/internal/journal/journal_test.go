package journal

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/vastgo/vast/internal/disk"
	"github.com/vastgo/vast/internal/disk/sim"
)

// kept is the expected content of a journal.
type kept struct {
	first    uint64
	messages [][]byte
}

func (k *kept) next() uint64 { return k.first + uint64(len(k.messages)) }

// with returns the content that is expected after m was written as the message of a tick.
func (k kept) with(tick uint64, m []byte) kept {
	if tick < k.first || tick > k.next() {
		return kept{tick, [][]byte{m}}
	}
	return kept{k.first, append(k.messages[:tick-k.first:tick-k.first], m)}
}

// compare returns an error if the content of a journal is not k.
func (k *kept) compare(j *Journal) error {
	for i, want := range k.messages {
		got, ok, err := j.Read(k.first + uint64(i))
		if err != nil || !ok || !bytes.Equal(got, want) {
			return fmt.Errorf("Read of tick %d returned %d bytes, %v, %v, want the %d written bytes",
				k.first+uint64(i), len(got), ok, err, len(want))
		}
	}
	if _, ok, err := j.Read(k.next()); ok || err != nil {
		return fmt.Errorf("Read of tick %d, which was not written, returned %v, %v", k.next(), ok, err)
	}
	return nil
}

func TestJournalSurvives(t *testing.T) {
	for seed := range uint64(150) {
		if err := live(t, seed); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

// live writes a journal. Again and again, the power is cut or the process is killed.
func live(t *testing.T, seed uint64) error {
	rng := rand.New(rand.NewPCG(seed, 1))
	d := sim.New(seed)
	folder := d.Folder()
	var now kept
	for range 12 {
		d.PowerCutAt(d.Calls() + 1 + rng.Int64N(60))
		if rng.IntN(3) == 0 {
			d.PowerCutAt(0)
			d.KillAt(d.Calls() + 1 + rng.Int64N(60))
		}
		maybe := now // the expected content if the interrupted call was successful
		var j *Journal
		var err error
		for !d.Stopped() {
			if j == nil {
				if j, err = Open(folder, true); err != nil {
					break
				}
				if err = now.compare(j); err != nil {
					break
				}
			}
			switch rng.IntN(12) {
			case 0:
				err = j.Close()
				j = nil
			case 1:
				below := now.first + uint64(rng.IntN(len(now.messages)+1))
				maybe = kept{below, now.messages[below-now.first:]}
				if err = j.Purge(below); err == nil {
					now = maybe
				}
			default:
				tick := now.next()
				if rng.IntN(8) == 0 && len(now.messages) > 0 {
					tick = now.first + rng.Uint64N(uint64(len(now.messages))) // a new owner replaces ticks
				}
				m := make([]byte, rng.IntN(3000))
				if rng.IntN(60) == 0 {
					m = make([]byte, bytesSegment/2)
				}
				for i := range m {
					m[i] = byte(rng.Uint32())
				}
				maybe = now.with(tick, m)
				if err = j.Write(tick, m); err == nil {
					now = maybe
				}
			}
			if err != nil {
				break
			}
		}
		if !d.Stopped() {
			return err
		}
		folder = d.Restart()
		d.PowerCutAt(0)
		d.KillAt(0)
		if j, err = Open(folder, true); err != nil {
			return err
		}
		if err := now.compare(j); err != nil {
			if errMaybe := maybe.compare(j); errMaybe != nil {
				return fmt.Errorf("the journal has neither the content before the interrupted call: %w, nor "+
					"the content after it: %w", err, errMaybe)
			}
			now = maybe
		}
		if err := j.Close(); err != nil {
			return err
		}
	}
	return nil
}

// TestEarlySyncIsFound: on a disk whose Sync returns too early, a journal loses messages, and kept.compare
// finds the loss.
func TestEarlySyncIsFound(t *testing.T) {
	for seed := range uint64(50) {
		d := sim.New(seed)
		j, err := Open(sim.Break(d.Folder(), sim.FileSyncEarly), true)
		if err != nil {
			t.Fatal(err)
		}
		var now kept
		for tick := range uint64(3) {
			m := bytes.Repeat([]byte{byte(tick + 1)}, 2000)
			if err := j.Write(tick, m); err != nil {
				t.Fatal(err)
			}
			now = now.with(tick, m)
		}
		d.PowerCut()
		if j, err = Open(d.Restart(), true); err != nil {
			t.Fatal(err)
		}
		if now.compare(j) != nil {
			return
		}
	}
	t.Error("50 journals on disks whose Sync returns too early have lost nothing")
}

func TestOldSegmentsAreRemoved(t *testing.T) {
	dir := t.TempDir()
	folder, err := disk.OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	j, err := Open(folder, true)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	for tick := range uint64(20) {
		if err := j.Write(tick, make([]byte, bytesSegment/2)); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Purge(15); err != nil {
		t.Fatal(err)
	}
	files, err := folder.Files()
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 3 { // each segment has two ticks
		t.Errorf("after Purge of 15 of 20 ticks, there are %d segments, want 3", len(files))
	}
	for tick := range uint64(20) {
		if _, ok, err := j.Read(tick); ok != (tick >= 15) || err != nil {
			t.Errorf("Read of tick %d returned %v, %v", tick, ok, err)
		}
	}
}

// failing is a folder whose next calls of Sync fail, and one later call of Remove.
type failing struct {
	disk.Folder
	syncs   int // number of calls of Sync that fail
	removes int // number of the call of Remove that fails, from 1
}

func (f *failing) Sync() error {
	if f.syncs > 0 {
		f.syncs--
		return errors.New("the folder cannot be synced")
	}
	return f.Folder.Sync()
}

func (f *failing) Remove(name string) error {
	if f.removes--; f.removes == 0 {
		return errors.New("the file cannot be removed")
	}
	return f.Folder.Remove(name)
}

// TestWriteAfterFailedSegment: after the folder could not be synced, the next Write begins another segment.
func TestWriteAfterFailedSegment(t *testing.T) {
	d := sim.New(1)
	j, err := Open(&failing{d.Folder(), 2, 0}, true)
	if err != nil {
		t.Fatal(err)
	}
	var now kept
	for range 2 {
		if err := j.Write(1, []byte("one")); err == nil {
			t.Fatal("Write succeeds although the folder cannot be synced")
		}
	}
	for tick := range uint64(3) {
		m := []byte{byte(tick), 1, 2}
		if err := j.Write(tick+1, m); err != nil {
			t.Fatal(err)
		}
		now = now.with(tick+1, m)
	}
	if err := now.compare(j); err != nil {
		t.Error(err)
	}
	d.PowerCut()
	again, err := Open(d.Restart(), true)
	if err != nil {
		t.Fatal(err)
	}
	if err := now.compare(again); err != nil {
		t.Errorf("after a restart: %v", err)
	}
}

// TestPurgeAfterFailedRemove: after a file could not be removed, the next Purge removes it.
func TestPurgeAfterFailedRemove(t *testing.T) {
	folder := &failing{Folder: sim.New(1).Folder()}
	j, err := Open(folder, false)
	if err != nil {
		t.Fatal(err)
	}
	m := make([]byte, 1<<20)
	for tick := range uint64(200) {
		if err := j.Write(tick, m); err != nil {
			t.Fatal(err)
		}
	}
	segments := len(j.segments)
	if segments < 3 {
		t.Fatalf("%d segments, want at least 3", segments)
	}
	folder.removes = 2
	if err := j.Purge(200); err == nil {
		t.Fatal("Purge succeeds although a file cannot be removed")
	}
	if err := j.Purge(200); err != nil || len(j.segments) != 1 {
		t.Errorf("%d segments remain, want 1; error %v", len(j.segments), err)
	}
}
