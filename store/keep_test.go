package store

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vastgo/vast/internal/disk/sim"
	"github.com/vastgo/vast/internal/longtest"
)

// TestKeepForSpacing simulates a checkpoint each second, in chains of 40 files. The time between two
// neighbouring checkpoints that stay is at most a quarter of the older one's age, or two seconds if that is
// more.
func TestKeepForSpacing(t *testing.T) {
	const second = int64(1000)
	seconds := longtest.Pick(30*60, 3*60*60)
	o := Options{Keep: 5, KeepFor: time.Duration(seconds) * time.Second / 2}
	r := rand.New(rand.NewPCG(1, 1))
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).UnixMilli()
	var kept []keptFile
	most, onlyNeeded := 0, 0
	for n := range seconds {
		now := start + int64(n)*second + r.Int64N(100)
		one := keptFile{number: uint64(n + 1), base: uint64(n), taken: now}
		if n%40 == 0 {
			one.base = 0
		}
		kept = append(kept, one)
		stays := wanted(kept, o, now)
		if n%7 == 0 { // sometimes no checkpoint is removed
			continue
		}
		var moments []keptFile
		files := needed(kept, stays)
		for i, yes := range stays {
			if yes {
				moments = append(moments, kept[i])
			} else if files[i] {
				onlyNeeded++
			}
		}
		most = max(most, len(moments))
		for i, m := range moments {
			age := now - m.taken
			if age > o.KeepFor.Milliseconds() {
				t.Fatalf("after %d s, a checkpoint of an age of %d ms stays", n, age)
			}
			if i+1 < len(moments) && moments[i+1].taken-m.taken > max(age/4, 2*second) {
				t.Fatalf("after %d s, no checkpoint stays between those of %d and %d ms ago", n, age,
					now-moments[i+1].taken)
			}
		}
		if n > 5 && slices.Contains(stays[len(stays)-5:], false) {
			t.Fatalf("after %d s, the newest checkpoints do not stay", n)
		}
		if age := now - moments[0].taken; age < min(int64(n)*second, o.KeepFor.Milliseconds())*3/4 {
			t.Fatalf("after %d s, the oldest checkpoint that stays is only %d ms old", n, age)
		}
		kept = remaining(kept, files)
	}
	t.Logf("at most %d checkpoints stay; %d times a file stays only because a delta needs it", most,
		onlyNeeded)
	if most > 150 || most < 40 {
		t.Errorf("at most %d checkpoints stay, want 40 to 150", most)
	}
}

func remaining(kept []keptFile, stays []bool) (rest []keptFile) {
	for i, yes := range stays {
		if yes {
			rest = append(rest, kept[i])
		}
	}
	return rest
}

func TestWanted(t *testing.T) {
	const now = 1_800_000_000_000
	// Checkpoint 4 continues checkpoint 3, which continues checkpoint 2. The age of checkpoint 1 is unknown.
	kept := []keptFile{
		{number: 1},
		{number: 2, taken: now - 90_000},
		{number: 3, base: 2, taken: now - 89_999},
		{number: 4, base: 3, taken: now - 1000},
		{number: 5, taken: now - 2},
		{number: 6, taken: now},
		{number: 7, taken: now + 5000},
	}
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{}, "......7"},
		{Options{Keep: 3}, "....567"},
		{Options{Keep: 100}, "1234567"},
		{Options{KeepFor: time.Second}, "...4567"},
		{Options{KeepFor: time.Second, Keep: 6}, ".234567"},
		{Options{KeepFor: 89_999 * time.Millisecond}, "..34567"},
		{Options{KeepFor: time.Hour}, ".2.4567"}, // checkpoint 2 needs fewer files than 3
		{Options{KeepFor: time.Nanosecond}, "......7"},
		{Options{KeepBytes: 1}, ".2.4567"}, // wanted does not limit the bytes
		{Options{KeepBytes: 1, Keep: 2}, ".....67"},
		{Options{KeepBytes: 1, KeepFor: time.Second}, "...4567"},
	} {
		got := ""
		for i, yes := range wanted(kept, c.o, now) {
			if yes {
				got += string('1' + rune(i))
			} else {
				got += "."
			}
		}
		if got != c.want {
			t.Errorf("Keep %d, KeepFor %v, KeepBytes %d: checkpoints %s stay, want %s", c.o.Keep, c.o.KeepFor,
				c.o.KeepBytes, got, c.want)
		}
	}
}

// hourly is an island whose store takes a checkpoint each hour of a clock that the test sets.
type hourly struct {
	*life
	d      *sim.Disk
	hour   int
	hashes map[uint64]uint64 // hash of the island at each checkpoint, by the checkpoint's number
}

func (h *hourly) open(t *testing.T, o Options, journal bool) {
	t.Helper()
	var err error
	if h.life, err = openedIsland(t, h.d.Restart(), o); err != nil {
		t.Fatal(err)
	}
	h.st.LongChains(3)
	h.st.now = func() time.Time {
		return time.UnixMilli(1_800_000_000_000).Add(time.Duration(h.hour) * time.Hour)
	}
	if h.st.New() {
		h.fill()
	}
	if journal {
		err = h.st.Recover(h.apply, h.tick)
	} else {
		err = h.st.Recover(nil, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := h.st.finish(true); err != nil {
		t.Fatal(err)
	}
	h.note()
}

func (h *hourly) note() { h.hashes[h.st.kept[len(h.st.kept)-1].number] = h.hash() }

func (h *hourly) pass(t *testing.T, hours int) {
	t.Helper()
	for range hours {
		h.hour++
		h.deltas(t, 1)
		h.note()
	}
}

// mustKeep checks that each of the given checkpoints holds its island, and that the folder has only
// checkpoint files that these checkpoints need.
func (h *hourly) mustKeep(t *testing.T, numbers ...uint64) {
	t.Helper()
	files := make(map[string]bool)
	for _, number := range numbers {
		c, err := openChain(h.d.Folder(), number)
		if err != nil {
			t.Fatal(err)
		}
		for _, y := range c.layers {
			files[y.name] = true
		}
		n := newIsland()
		_, err = c.read(n.w, islandOptions(), false)
		if err := errors.Join(err, c.close()); err != nil {
			t.Fatal(err)
		}
		if n.hash() != h.hashes[number] {
			t.Errorf("checkpoint %d holds another island", number)
		}
		if err := n.w.Close(); err != nil {
			t.Error(err)
		}
	}
	for _, name := range h.d.Names() {
		if strings.HasPrefix(name, checkpointPrefix) && !files[name] {
			t.Errorf("%s is in the folder, but none of the checkpoints %d needs it", name, numbers)
		}
	}
}

// TestKeepFor: a store keeps checkpoints by their age, also if another program opens a copy of the folder.
func TestKeepFor(t *testing.T) {
	for _, journal := range []bool{false, true} {
		o := islandOptions()
		o.Every, o.KeepFor = time.Hour, 5*time.Hour
		d := sim.New(1)
		d.Kill()
		h := &hourly{d: d, hashes: make(map[uint64]uint64)}
		h.open(t, o, journal)
		h.pass(t, 3)
		h.mustKeep(t, 1, 2, 3, 4) // taken at 0, 1, 2 and 3 h
		h.pass(t, 4)
		h.mustKeep(t, 3, 4, 5, 6, 7, 8)
		d.Kill()
		h.d = d.Copy(2)
		h.hour = 11
		h.open(t, o, journal) // takes a checkpoint at 11 h
		h.mustKeep(t, 7, 8, 9)
		if journal {
			past := &life{island: newIsland()}
			var err error
			folder := h.d.Folder()
			c, err := openChain(folder, 7)
			if err != nil {
				t.Fatal(err)
			}
			past.st = &Store{w: past.w, o: o, folder: folder, at: &lookBack{tick: 7}}
			past.st.checkpoints.prepare()
			if err = past.st.lookAhead(c.manifest().Kept); err == nil {
				past.st.report, err = c.read(past.w, o, false)
			}
			err = errors.Join(err, c.close())
			if err == nil {
				err = past.st.Recover(past.apply, past.tick)
			}
			if err != nil || past.st.LastTick() != 7 || past.hash() != h.hashes[8] {
				t.Errorf("a replay from tick 6 leads to tick %d with hash %x, want tick 7 with hash %x; the "+
					"error is %v", past.st.LastTick(), past.hash(), h.hashes[8], err)
			}
			if err := errors.Join(past.st.Close(), past.w.Close()); err != nil {
				t.Error(err)
			}
		}
		d.Kill()
	}
}

// TestKeepBytes: the store removes the oldest checkpoints when the files have too many bytes.
func TestKeepBytes(t *testing.T) {
	for _, journal := range []bool{false, true} {
		o := islandOptions()
		o.Every, o.Keep, o.KeepBytes = time.Hour, 100, 100_000
		d := sim.New(1)
		d.Kill()
		h := &hourly{d: d, hashes: make(map[uint64]uint64)}
		h.open(t, o, journal)
		longest := 0
		for range 60 {
			h.pass(t, 1)
			bytes, first := int64(0), uint64(0)
			for _, name := range d.Names() {
				bytes += int64(len(d.Bytes(name)))
				if n, _, ok := checkpointNumber(name); ok && first == 0 {
					first = n
				}
			}
			if bytes > o.KeepBytes {
				t.Fatalf("the files have %d bytes", bytes)
			}
			longest = max(longest, len(h.st.kept))
		}
		if longest < 5 {
			t.Errorf("at most %d checkpoints stay, want 5 or more", longest)
		}
		h.st.o.KeepBytes = 1
		h.pass(t, 1)
		last := h.st.kept[len(h.st.kept)-1].number
		h.mustKeep(t, last)
		d.Kill()
		if _, err := openedIsland(t, d.Restart(), Options{KeepBytes: -1}); err == nil ||
			!strings.Contains(err.Error(), "cannot be negative") {
			t.Errorf("the error is %v", err)
		}
	}
}
