package sim_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/vastgo/vast/internal/disk"
	"github.com/vastgo/vast/internal/disk/sim"
)

// seeds is the number of runs in most tests.
const seeds = 300

func filled(n int, value byte) []byte { return bytes.Repeat([]byte{value}, n) }

func must(t testing.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func create(t testing.TB, f disk.Folder, name string) disk.File {
	t.Helper()
	file, err := f.Create(name)
	must(t, err)
	return file
}

func open(t testing.TB, f disk.Folder, name string) disk.File {
	t.Helper()
	file, err := f.Open(name)
	must(t, err)
	return file
}

func write(t testing.TB, f disk.File, p []byte) {
	t.Helper()
	n, err := f.Write(p)
	must(t, err)
	if n != len(p) {
		t.Fatalf("Write wrote %d of %d bytes", n, len(p))
	}
}

func writeAt(t testing.TB, f disk.File, p []byte, offset int64) {
	t.Helper()
	n, err := f.WriteAt(p, offset)
	must(t, err)
	if n != len(p) {
		t.Fatalf("WriteAt wrote %d of %d bytes", n, len(p))
	}
}

func read(t testing.TB, f disk.Folder, name string) []byte {
	t.Helper()
	file := open(t, f, name)
	all, err := io.ReadAll(io.NewSectionReader(file, 0, 1<<30))
	must(t, err, file.Close())
	return all
}

// outcomes counts what happened over all seeds.
type outcomes map[string]int

// expect checks that each of these outcomes has happened, and that no other outcome has.
func (o outcomes) expect(t *testing.T, all ...string) {
	t.Helper()
	for _, name := range all {
		if o[name] == 0 {
			t.Errorf("no seed led to %q; all outcomes: %v", name, o)
		}
	}
	for name := range o {
		if !slices.Contains(all, name) {
			t.Errorf("%d seeds led to %q, which must not happen", o[name], name)
		}
	}
}

func TestSyncedSurvives(t *testing.T) {
	for seed := range uint64(seeds) {
		d := sim.New(seed)
		f := d.Folder()
		a := create(t, f, "a")
		write(t, a, filled(1300, 1))
		must(t, a.Sync(), f.Sync())
		write(t, a, filled(900, 2))
		must(t, a.Sync())
		write(t, a, filled(5000, 3))
		create(t, f, "b")
		d.PowerCut()
		got := read(t, d.Restart(), "a")
		want := slices.Concat(filled(1300, 1), filled(900, 2))
		if len(got) < len(want) || !bytes.Equal(got[:len(want)], want) {
			t.Fatalf("seed %d: the file of %d bytes does not begin with the %d synced bytes", seed, len(got),
				len(want))
		}
		d.PowerCut()
		if again := read(t, d.Restart(), "a"); !bytes.Equal(again, got) {
			t.Fatalf("seed %d: a second power cut changed the file: %d bytes before, %d after", seed,
				len(got), len(again))
		}
	}
}

func TestUnsyncedIsTorn(t *testing.T) {
	const before, after = 2*512 + 100, 9*512 + 50 // size of the file at Sync, and at the power cut
	all := make([]byte, after)
	for i := range all {
		all[i] = byte(i/512 + 1)
	}
	seen := make(outcomes)
	for seed := range uint64(seeds) {
		d := sim.New(seed)
		f := d.Folder()
		a := create(t, f, "a")
		write(t, a, all[:before])
		must(t, a.Sync(), f.Sync())
		write(t, a, all[before:5*512])
		write(t, a, all[5*512:])
		d.PowerCut()
		got := read(t, d.Restart(), "a")
		var kept []int
		for s := range 10 {
			have := got[min(len(got), s*512):min(len(got), (s+1)*512)]
			want := all[s*512 : s*512+len(have)]
			blank := filled(512, 0)
			durable := min(len(have), max(0, before-s*512))
			switch {
			case bytes.Equal(have, want) && len(have) > durable:
				kept = append(kept, s)
			case !bytes.Equal(have[:durable], want[:durable]) ||
				!bytes.Equal(have[durable:], blank[:len(have)-durable]):
				t.Fatalf("seed %d: sector %d is neither whole nor blank", seed, s)
			}
		}
		switch len(kept) {
		case 0:
			seen["all lost"]++
		case 8:
			seen["all kept"]++
		default:
			seen["torn"]++
			if kept[len(kept)-1]-kept[0] >= len(kept) {
				seen["a hole"]++
			}
			if kept[0] > 2 {
				seen["the first lost, a later one kept"]++
			}
		}
		switch {
		case len(got) == before:
			seen["ends at the last Sync"]++
		case len(got) == after && !slices.Contains(kept, 9):
			seen["ends blank at the last Write"]++
		case len(got) == after:
			seen["ends at the last Write"]++
		case len(kept) > 0 && len(got) == (kept[len(kept)-1]+1)*512:
			seen["ends behind the last sector"]++
		default:
			seen["ends elsewhere"]++
		}
	}
	seen.expect(t, "all lost", "all kept", "torn", "a hole", "the first lost, a later one kept",
		"ends at the last Sync", "ends at the last Write", "ends blank at the last Write",
		"ends behind the last sector")
	if n := seen["ends at the last Sync"]; n < seeds/4 {
		t.Errorf("only %d of %d files end at the last Sync, want at least a quarter", n, seeds)
	}
}

// TestVersionsOfSector: several calls of Write fill a sector. After a power cut, the sector is as it was
// after Sync or after one of the calls.
func TestVersionsOfSector(t *testing.T) {
	seen, second := make(outcomes), make(outcomes)
	for seed := range uint64(seeds) {
		d := sim.New(seed)
		f := d.Folder()
		a := create(t, f, "a")
		write(t, a, filled(100, 1))
		must(t, a.Sync(), f.Sync())
		for range 3 {
			write(t, a, filled(100, 1))
		}
		write(t, a, filled(512, 1))
		write(t, a, filled(50, 1))
		d.PowerCut()
		got := read(t, d.Restart(), "a")
		second[fmt.Sprint(bytes.Count(got[min(512, len(got)):], []byte{1}), " bytes")]++
		first := got[:min(512, len(got))]
		seen[fmt.Sprint(bytes.Count(first, []byte{1}), " bytes")]++
		if !bytes.Equal(bytes.TrimRight(first, "\x00"), filled(bytes.Count(first, []byte{1}), 1)) {
			t.Fatalf("seed %d: the sector has a hole", seed)
		}
	}
	seen.expect(t, "100 bytes", "200 bytes", "300 bytes", "400 bytes", "512 bytes")
	second.expect(t, "0 bytes", "400 bytes", "450 bytes")
}

func TestRewritten(t *testing.T) {
	seen := make(outcomes)
	for seed := range uint64(seeds) {
		d := sim.New(seed)
		f := d.Folder()
		a := create(t, f, "a")
		write(t, a, filled(1500, 1))
		must(t, a.Sync(), f.Sync())
		write(t, a, filled(100, 2)) // up to 1600
		writeAt(t, a, filled(512, 3), 512)
		writeAt(t, a, filled(10, 4), 1018) // 6 bytes in sector 1, 4 in sector 2
		write(t, a, filled(20, 5))
		want := slices.Concat(filled(18, 3), filled(10, 4), filled(2, 1))
		if got := read(t, f, "a"); len(got) != 1620 || !bytes.Equal(got[1000:1030], want) {
			t.Fatalf("the program reads %d bytes, want the 1620 bytes that it wrote", len(got))
		}
		d.PowerCut()
		got := read(t, d.Restart(), "a")
		if !bytes.Equal(got[:512], filled(512, 1)) || len(got) < 1500 {
			t.Fatalf("seed %d: synced bytes are lost", seed)
		}
		first, second := got[512:1024], got[1024:1500]
		switch {
		case bytes.Equal(first, filled(512, 1)):
			seen["first: synced"]++
		case bytes.Equal(first, filled(512, 3)):
			seen["first: written"]++
		case bytes.Equal(first, slices.Concat(filled(506, 3), filled(6, 4))):
			seen["first: written twice"]++
		default:
			seen["first: other bytes"]++
		}
		end := got[1500:min(1536, len(got))] // the file may end at 1500
		appended := bytes.Equal(end, filled(len(end), 2))
		switch {
		case bytes.Equal(second, filled(476, 1)) && bytes.Count(end, []byte{2}) == 0:
			seen["second: synced"]++
		case bytes.Equal(second, filled(476, 1)) && appended:
			seen["second: appended"]++
		case bytes.Equal(second, slices.Concat(filled(4, 4), filled(472, 1))) && appended:
			seen["second: written"]++
		default:
			seen["second: other bytes"]++
		}
	}
	seen.expect(t, "first: synced", "first: written", "first: written twice", "second: synced",
		"second: appended", "second: written")
}

func TestRewrittenAndSynced(t *testing.T) {
	seen := make(outcomes)
	for seed := range uint64(seeds) {
		d := sim.New(seed)
		f := d.Folder()
		a := create(t, f, "a")
		write(t, a, filled(2000, 1))
		must(t, a.Sync(), f.Sync())
		writeAt(t, a, filled(700, 2), 300)
		if seed%3 == 0 {
			must(t, a.Sync())
			writeAt(t, a, filled(1, 3), 1500)
			d.PowerCut()
			got := read(t, d.Restart(), "a")
			if !bytes.Equal(got[:1024], slices.Concat(filled(300, 1), filled(700, 2), filled(24, 1))) {
				t.Fatalf("seed %d: synced bytes are lost", seed)
			}
			continue
		}
		d.FailAt(d.Calls() + 1)
		if err := a.Sync(); !errors.Is(err, syscall.EIO) {
			t.Fatal("the failed Sync returned", err)
		}
		must(t, a.Sync())
		again := seed%3 == 1
		if again {
			writeAt(t, a, filled(1, 2), 400) // in the first sector
			writeAt(t, a, filled(1, 2), 600) // in the second sector
			must(t, a.Sync())
		}
		c := d.Copy(seed)
		c.PowerCut()
		got := read(t, c.Restart(), "a")
		lost := func(from, to int) int { return to - from - bytes.Count(got[from:to], []byte{2}) }
		switch first, second := lost(300, 512), lost(512, 1000); {
		case again && first+second > 0:
			t.Fatalf("seed %d: sectors that were written again are lost", seed)
		case again:
			seen["written again"]++
		case first == 0 && second == 0:
			t.Fatalf("seed %d: the failed Sync has lost nothing", seed)
		case first == 0 && second == 488:
			seen["the second lost"]++
		case first == 212 && second == 0:
			seen["the first lost"]++
		case first == 212 && second == 488:
			seen["both lost"]++
		default:
			t.Fatalf("seed %d: the first sector lost %d of 212 bytes, the second %d of 488; want all or none",
				seed, first, second)
		}
	}
	seen.expect(t, "written again", "the second lost", "the first lost", "both lost")
}

func TestWriteAtEnd(t *testing.T) {
	seen := make(outcomes)
	for seed := range uint64(50) {
		d := sim.New(seed)
		f := d.Folder()
		a := create(t, f, "a")
		write(t, a, filled(100, 1))
		for _, offset := range []int64{-1, 91, 200} {
			if n, err := a.WriteAt(filled(10, 2), offset); n != 0 || !errors.Is(err, fs.ErrInvalid) {
				t.Fatalf("WriteAt at %d returned %d, %v", offset, n, err)
			}
		}
		d.FailAt(d.Calls() + 1)
		n, err := a.WriteAt(filled(60, 2), 40)
		if !errors.Is(err, syscall.EIO) && !errors.Is(err, syscall.ENOSPC) || n >= 60 {
			t.Fatalf("the failed WriteAt returned %d, %v", n, err)
		}
		if got := read(t, f, "a"); !bytes.Equal(got, slices.Concat(filled(40, 1), filled(n, 2),
			filled(60-n, 1))) {
			t.Fatalf("seed %d: WriteAt returned %d, but did not write exactly these bytes", seed, n)
		}
		seen[fmt.Sprint(n > 30)]++
	}
	seen.expect(t, "true", "false")
	d := sim.New(1)
	must(t, create(t, d.Folder(), "a").Close())
	if _, err := open(t, d.Folder(), "a").WriteAt(nil, 0); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("WriteAt of a file that Open opened returned %v", err)
	}
}

func TestNamesAreLost(t *testing.T) {
	seen := make(outcomes)
	for seed := range uint64(seeds) {
		d := sim.New(seed)
		f := d.Folder()
		for _, name := range []string{"a", "b", "c"} {
			file := create(t, f, name)
			write(t, file, []byte(name))
			must(t, file.Sync()) // syncs the bytes, not the name
		}
		d.PowerCut()
		restarted := d.Restart()
		for _, name := range d.Names() {
			if got := read(t, restarted, name); string(got) != name {
				t.Errorf("seed %d: %s holds %q", seed, name, got)
			}
		}
		seen[strings.Join(d.Names(), "")]++
	}
	seen.expect(t, "", "a", "b", "c", "ab", "ac", "bc", "abc")
}

func TestFirstNamesSurvive(t *testing.T) {
	const all = "abcdefghijklmnopqrst"
	first, others := 0, 0
	for seed := range uint64(seeds) {
		d := sim.New(seed)
		f := d.Folder()
		for _, name := range all {
			create(t, f, string(name))
		}
		d.PowerCut()
		d.Restart()
		if names := strings.Join(d.Names(), ""); !strings.HasPrefix(all, names) {
			others++
		} else if len(names) >= 5 && len(names) <= 15 {
			first++
		}
	}
	if first < seeds/10 || others < seeds/10 {
		t.Errorf("of %d power cuts, %d left exactly the first few files and %d left other files, want at "+
			"least %d each", seeds, first, others, seeds/10)
	}
}

func TestRenameIsAtomic(t *testing.T) {
	seen := make(outcomes)
	for seed := range uint64(seeds) {
		d := sim.New(seed)
		f := d.Folder()
		for _, name := range []string{"old", "new"} {
			file := create(t, f, name)
			write(t, file, []byte(name))
			must(t, file.Sync())
		}
		must(t, f.Sync(), f.Rename("new", "old"), f.Remove("old"))
		create(t, f, "old")
		d.PowerCut()
		restarted := d.Restart()
		outcome := ""
		for _, name := range d.Names() {
			outcome += name + "=" + string(read(t, restarted, name)) + " "
		}
		seen[outcome]++
	}
	// The rename, the removal and the creation of the empty file survive independently of each other. If the
	// rename is lost, the removal does nothing, because "old" then names another file.
	seen.expect(t, "new=new old=old ", "old=new ", "", "old= ", "new=new old= ")
	seen = make(outcomes)
	for seed := range uint64(seeds) {
		d := sim.New(seed)
		f := d.Folder()
		create(t, f, "a")
		must(t, f.Sync(), f.Rename("a", "b"), f.Rename("b", "c"))
		d.PowerCut()
		d.Restart()
		seen[strings.Join(d.Names(), "")]++
	}
	seen.expect(t, "a", "b", "c")
}

func TestRenameOfUncreated(t *testing.T) {
	seen := make(outcomes)
	for seed := range uint64(seeds) {
		d := sim.New(seed)
		f := d.Folder()
		old := create(t, f, "a")
		write(t, old, []byte("old"))
		must(t, old.Sync(), f.Sync())
		file := create(t, f, "new")
		write(t, file, []byte("new"))
		must(t, f.Rename("new", "a"))
		d.PowerCut()
		restarted := d.Restart()
		seen[fmt.Sprintf("%v %q", d.Names(), bytes.TrimRight(read(t, restarted, "a"), "\x00"))]++
	}
	// In the last outcome, the rename survives and the bytes of the renamed file are lost.
	seen.expect(t, `[a] "old"`, `[a new] "old"`, `[a] "new"`, `[a] ""`)
}

func TestRemovalIsLost(t *testing.T) {
	seen := make(outcomes)
	for seed := range uint64(seeds) {
		d := sim.New(seed)
		f := d.Folder()
		a := create(t, f, "a")
		write(t, a, []byte("one"))
		must(t, a.Sync(), f.Sync(), f.Remove("a"))
		if seed%3 == 0 {
			must(t, f.Sync())
			d.PowerCut()
			if d.Restart(); len(d.Names()) > 0 {
				t.Fatalf("seed %d: a removal that was synced is lost", seed)
			}
			continue
		}
		d.PowerCut()
		restarted := d.Restart()
		if len(d.Names()) == 0 {
			seen["gone"]++
			continue
		}
		seen[string(read(t, restarted, "a"))]++
	}
	seen.expect(t, "gone", "one")
}

func TestKill(t *testing.T) {
	seen := make(outcomes)
	for seed := range uint64(seeds) {
		d := sim.New(seed)
		f := d.Folder()
		a := create(t, f, "a")
		write(t, a, filled(2000, 1))
		d.Kill()
		f = d.Restart()
		if !bytes.Equal(read(t, f, "a"), filled(2000, 1)) {
			t.Fatalf("seed %d: the kill lost bytes", seed)
		}
		if seed%2 == 0 {
			must(t, open(t, f, "a").Sync(), f.Sync())
			d.PowerCut()
			if !bytes.Equal(read(t, d.Restart(), "a"), filled(2000, 1)) {
				t.Fatalf("seed %d: bytes that were synced after the kill are lost", seed)
			}
			continue
		}
		d.PowerCut()
		f = d.Restart()
		switch {
		case len(d.Names()) == 0:
			seen["no file"]++
		case !bytes.Equal(read(t, f, "a"), filled(2000, 1)):
			seen["bytes lost"]++
		default:
			seen["kept"]++
		}
	}
	seen.expect(t, "no file", "bytes lost", "kept")
}

// play makes one or two calls of each kind, and returns the errors.
func play(f disk.Folder) (errs []error) {
	note := func(err error) { errs = append(errs, err) }
	a, err := f.Create("a")
	note(err)
	if a == nil {
		return errs
	}
	_, err = a.Write(filled(3000, 1))
	note(err)
	note(a.Sync())
	_, err = a.ReadAt(make([]byte, 10), 0)
	note(err)
	note(a.Close())
	note(f.Sync())
	note(f.Rename("a", "b"))
	_, err = f.Files()
	note(err)
	if a, err = f.Open("b"); a != nil {
		note(err)
		note(a.Sync())
		note(a.Close())
	} else {
		note(err)
	}
	note(f.Remove("b"))
	note(f.Sync())
	return errs
}

// calls is the number of calls that play makes if no call fails.
const calls = 13

func TestStopAtCall(t *testing.T) {
	for _, cut := range []bool{false, true} {
		seen := make(outcomes)
		for n := int64(1); n <= calls; n++ {
			for seed := range uint64(40) {
				d := sim.New(seed)
				if cut {
					d.PowerCutAt(n)
				} else {
					d.KillAt(n)
				}
				f := d.Folder()
				errs := play(f)
				for i, err := range errs {
					if (int64(i+1) < n) != (err == nil) || err != nil && !errors.Is(err, sim.ErrStopped) {
						t.Fatalf("seed %d: stopped at call %d, call %d returned %v", seed, n, i+1, err)
					}
				}
				if !d.Stopped() || d.Calls() != n {
					t.Fatalf("seed %d: %d calls, want %d", seed, d.Calls(), n)
				}
				if call := d.Log()[n-1]; call.Op == sim.Write {
					switch call.Bytes {
					case 0:
						seen["nothing written"]++
					case 3000:
						seen["all written"]++
					default:
						seen["written in part"]++
					}
				}
				restarted := d.Restart()
				if _, err := f.Files(); !errors.Is(err, sim.ErrStopped) {
					t.Fatalf("the folder of the program that ended returned %v after Restart", err)
				}
				if n == 1 {
					seen[fmt.Sprint("created: ", len(d.Names()))]++
				}
				if n == 7 {
					seen[fmt.Sprint("renamed: ", d.Names())]++
				}
				must(t, restarted.Sync())
				for _, name := range d.Names() {
					must(t, restarted.Remove(name))
				}
				if errs := play(restarted); len(errs) != calls || errors.Join(errs...) != nil {
					t.Fatalf("seed %d: after the restart: %v", seed, errors.Join(errs...))
				}
			}
		}
		// These outcomes are too rare to expect: an interrupted Write writes 0 to 3,000 bytes at random.
		delete(seen, "nothing written")
		delete(seen, "all written")
		seen.expect(t, "written in part", "created: 0", "created: 1", "renamed: [a]", "renamed: [b]")
	}
}

func TestFilesOfEndedProgram(t *testing.T) {
	d := sim.New(1)
	f := d.Folder()
	a := create(t, f, "a")
	write(t, a, []byte("one"))
	d.Kill()
	d.Restart()
	_, written := a.Write([]byte("two"))
	_, read := a.ReadAt(make([]byte, 1), 0)
	for i, err := range []error{written, read, a.Sync(), a.Close()} {
		if !errors.Is(err, sim.ErrStopped) {
			t.Errorf("call %d returned %v", i, err)
		}
	}
	if got := d.Bytes("a"); string(got) != "one" {
		t.Errorf("the file holds %q", got)
	}
	defer func() {
		if recover() == nil {
			t.Error("Restart of a running program did not panic")
		}
	}()
	d.Restart()
}

func TestFailedSync(t *testing.T) {
	const before, after = 700, 5000
	seen := make(outcomes)
	for seed := range uint64(seeds) {
		d := sim.New(seed)
		f := d.Folder()
		a := create(t, f, "a")
		write(t, a, filled(before, 1))
		must(t, a.Sync(), f.Sync())
		write(t, a, filled(after-before, 1))
		d.FailAt(d.Calls() + 1)
		if err := a.Sync(); !errors.Is(err, syscall.EIO) {
			t.Fatal("the failed Sync returned", err)
		}
		must(t, a.Sync())
		if !bytes.Equal(read(t, f, "a"), filled(after, 1)) {
			t.Fatalf("seed %d: bytes are lost before the power cut", seed)
		}
		if seed%2 == 0 {
			d.PowerCut()
			got := read(t, d.Restart(), "a")
			kept := bytes.Count(got, []byte{1})
			switch {
			case len(got) != after || !bytes.Equal(got[:before], filled(before, 1)):
				t.Fatalf("seed %d: the file has %d bytes, want %d with all synced bytes", seed, len(got),
					after)
			case kept == after:
				seen["nothing lost"]++
			case kept == before:
				seen["all lost"]++
			default:
				seen["some lost"]++
			}
			continue
		}
		// This Write changes the last sector, so the next Sync makes the sector durable.
		write(t, a, filled(10, 1))
		must(t, a.Sync())
		d.PowerCut()
		got := read(t, d.Restart(), "a")
		if last := got[after/512*512:]; !bytes.Equal(last, filled(after+10-after/512*512, 1)) {
			t.Fatalf("seed %d: the last sector was written again, but holds %v", seed, last)
		}
	}
	seen.expect(t, "all lost", "some lost")
}

func TestFailedSyncLosesUnsynced(t *testing.T) {
	for seed := range uint64(50) {
		for _, before := range []int{0, 100, 512, 700} {
			for _, after := range []int{before, before + 10} {
				d := sim.New(seed)
				f := d.Folder()
				a := create(t, f, "a")
				write(t, a, filled(before, 1))
				must(t, a.Sync(), f.Sync())
				write(t, a, filled(after-before, 1))
				d.FailAt(d.Calls() + 1)
				if err := a.Sync(); !errors.Is(err, syscall.EIO) {
					t.Fatal("the failed Sync returned", err)
				}
				must(t, a.Sync())
				d.PowerCut()
				if got, want := read(t, d.Restart(), "a"), append(filled(before, 1),
					filled(after-before, 0)...); !bytes.Equal(got, want) {
					t.Fatalf("seed %d, %d of %d bytes synced: the file holds %v", seed, before, after, got)
				}
			}
		}
	}
}

func TestFailedWrites(t *testing.T) {
	seen := make(outcomes)
	for seed := range uint64(seeds) {
		d := sim.New(seed)
		f := d.Folder()
		a := create(t, f, "a")
		d.SetFaults(sim.Faults{WriteEIO: 0.3, WriteENOSPC: 0.3})
		length := 0
		for range 10 {
			n, err := a.Write(filled(3, 1))
			length += n
			switch {
			case err == nil && n == 3:
				seen["written"]++
			case errors.Is(err, syscall.EIO) && n < 3:
				seen[fmt.Sprint("EIO after ", n)]++
			case errors.Is(err, syscall.ENOSPC) && n < 3:
				seen[fmt.Sprint("ENOSPC after ", n)]++
			default:
				t.Fatalf("seed %d: Write returned %d, %v", seed, n, err)
			}
		}
		if got := d.Bytes("a"); len(got) != length {
			t.Fatalf("seed %d: the file has %d bytes, want %d", seed, len(got), length)
		}
	}
	seen.expect(t, "written", "EIO after 0", "EIO after 1", "EIO after 2", "ENOSPC after 0", "ENOSPC after 1",
		"ENOSPC after 2")
}

func TestFaults(t *testing.T) {
	d := sim.New(1)
	f := d.Folder()
	a := create(t, f, "a")
	write(t, a, []byte("one"))
	d.SetFaults(sim.Faults{Folder: 1, Read: 1, SyncFile: 1})
	_, created := f.Create("b")
	_, opened := f.Open("a")
	_, listed := f.Files()
	_, readAt := a.ReadAt(make([]byte, 1), 0)
	for i, err := range []error{created, opened, listed, readAt, f.Rename("a", "b"), f.Remove("a"), f.Sync(),
		a.Sync()} {
		if !errors.Is(err, syscall.EIO) {
			t.Errorf("call %d returned %v", i, err)
		}
	}
	if got := d.Names(); !slices.Equal(got, []string{"a"}) {
		t.Errorf("the files are %v", got)
	}
	d.SetFaults(sim.Faults{})
	must(t, a.Sync(), f.Sync(), f.Rename("a", "b"), f.Remove("b"), a.Close())
	for n := int64(1); n <= calls; n++ {
		d := sim.New(uint64(n))
		d.FailAt(n)
		failed := 0
		for _, err := range play(d.Folder()) {
			if errors.Is(err, syscall.EIO) || errors.Is(err, syscall.ENOSPC) {
				failed++
			} else if err != nil && n != 7 && n != 1 {
				t.Errorf("after FailAt(%d), another call returned %v", n, err)
			}
		}
		if op := d.Log()[n-1].Op; (failed == 1) != (op != sim.Close) {
			t.Errorf("FailAt(%d), %v: %d calls failed, want 1, or 0 for close", n, op, failed)
		}
	}
}

func TestFailAtWrite(t *testing.T) {
	seen := make(outcomes)
	for seed := range uint64(50) {
		d := sim.New(seed)
		a := create(t, d.Folder(), "a")
		d.FailAt(2)
		_, err := a.Write(filled(10, 1))
		seen[fmt.Sprint(errors.Unwrap(err))]++
		_, err = a.Write(filled(10, 1))
		must(t, err)
	}
	seen.expect(t, syscall.EIO.Error(), syscall.ENOSPC.Error())
}

func TestErrors(t *testing.T) {
	d := sim.New(1)
	f := d.Folder()
	a := create(t, f, "a")
	write(t, a, []byte("one"))
	files, err := f.Files()
	if must(t, err); !slices.Equal(files, []disk.Info{{Name: "a", Size: 3}}) {
		t.Errorf("the files are %v", files)
	}
	for _, offset := range []int64{3, 4, 1 << 40} {
		if n, err := a.ReadAt(make([]byte, 1), offset); n != 0 || err != io.EOF {
			t.Errorf("ReadAt at %d returned %d, %v", offset, n, err)
		}
	}
	reader := open(t, f, "a")
	_, written := reader.Write([]byte("two"))
	_, before := a.ReadAt(make([]byte, 1), -1)
	_, created := f.Create("a")
	_, invalid := f.Create("lock")
	_, opened := f.Open("none")
	must(t, a.Close())
	_, late := a.Write([]byte("two"))
	for i, c := range []struct{ err, want error }{
		{written, fs.ErrPermission}, {before, fs.ErrInvalid}, {created, fs.ErrExist},
		{invalid, fs.ErrInvalid}, {opened, fs.ErrNotExist}, {late, fs.ErrClosed},
		{a.Sync(), fs.ErrClosed}, {a.Close(), fs.ErrClosed},
		{f.Rename("none", "b"), fs.ErrNotExist}, {f.Rename("a", "../a"), fs.ErrInvalid},
		{f.Remove("none"), fs.ErrNotExist}, {f.Remove(""), fs.ErrInvalid},
	} {
		var path *fs.PathError
		if !errors.Is(c.err, c.want) || !errors.As(c.err, &path) {
			t.Errorf("call %d returned %v, want %v", i, c.err, c.want)
		}
	}
	if got := d.Bytes("a"); string(got) != "one" {
		t.Errorf("the file holds %q", got)
	}
}

func TestCapacity(t *testing.T) {
	d := sim.New(1)
	d.SetCapacity(1000)
	f := d.Folder()
	a, b := create(t, f, "a"), create(t, f, "b")
	write(t, a, filled(600, 1))
	if n, err := b.Write(filled(600, 2)); n != 400 || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("Write returned %d, %v", n, err)
	}
	if n, err := b.Write(filled(1, 2)); n != 0 || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("Write to a full disk returned %d, %v", n, err)
	}
	must(t, f.Remove("a"))
	write(t, b, filled(600, 2))
	d.SetCapacity(0)
	write(t, b, filled(600, 2))
}

func TestDamageAtRest(t *testing.T) {
	d := sim.New(1)
	f := d.Folder()
	d.Put("a", filled(600, 0))
	before := d.Copy(2)
	d.FlipBit("a", 599*8+3)
	want := append(filled(599, 0), 8)
	if got := read(t, f, "a"); !bytes.Equal(got, want) {
		t.Errorf("after FlipBit: %v", got)
	}
	if got := before.Bytes("a"); !bytes.Equal(got, filled(600, 0)) {
		t.Error("FlipBit has changed a copy of the disk")
	}
	must(t, f.Rename("a", "b"))
	d.Put("b", []byte("put"))
	create(t, f, "c")
	d.Lose("c")
	for seed := range uint64(20) {
		cut := d.Copy(seed)
		cut.PowerCut()
		if f := cut.Restart(); !slices.Equal(cut.Names(), []string{"b"}) || string(read(t, f, "b")) != "put" {
			t.Errorf("after Put, Lose and a power cut: %v", cut.Names())
		}
	}
	for name, call := range map[string]func(){
		"Lose":    func() { d.Lose("c") },
		"FlipBit": func() { d.FlipBit("c", 0) },
		"Bytes":   func() { d.Bytes("c") },
	} {
		func() {
			defer func() {
				if said := fmt.Sprint(recover()); !strings.Contains(said, `no file "c", only ["b"]`) {
					t.Errorf("%s of a missing file: %s", name, said)
				}
			}()
			call()
		}()
	}
}

func TestSeedDecides(t *testing.T) {
	run := func(seed uint64) string {
		d := sim.New(seed)
		d.SetFaults(sim.Faults{WriteEIO: 0.05, SyncFile: 0.05, Folder: 0.05})
		for life := range 4 {
			d.PowerCutAt(d.Calls() + 60)
			f := d.Folder()
			for i := range 30 {
				if a, err := f.Create(fmt.Sprint(life, "-", i)); err == nil {
					_, _ = a.Write(filled(700, 1))
					_ = a.Sync()
				}
				_ = f.Sync()
			}
			if !d.Stopped() {
				t.Fatalf("seed %d: no power cut after %d calls", seed, d.Calls())
			}
			d.Restart()
		}
		var b strings.Builder
		fmt.Fprintln(&b, d.Log())
		for _, name := range d.Names() {
			fmt.Fprintln(&b, name, d.Bytes(name))
		}
		return b.String()
	}
	all := make(map[string]bool)
	for seed := range uint64(20) {
		first := run(seed)
		if run(seed) != first {
			t.Errorf("two runs with seed %d led to different results", seed)
		}
		all[first] = true
	}
	if len(all) != 20 {
		t.Errorf("20 seeds led to %d different results, want 20", len(all))
	}
}

func TestCopy(t *testing.T) {
	seen := make(outcomes)
	for seed := range uint64(50) {
		d := sim.New(seed)
		f := d.Folder()
		a := create(t, f, "a")
		write(t, a, filled(700, 1))
		must(t, a.Sync(), f.Sync())
		write(t, a, filled(700, 2))
		create(t, f, "b")
		kept, cut, killed := d.Copy(seed), d.Copy(seed+1), d.Copy(seed+2)
		cut.PowerCut()
		cut.Restart()
		killed.Kill()
		next := killed.Restart()
		must(t, next.Rename("a", "c"))
		second := create(t, next, "a")
		write(t, second, []byte("killed"))
		write(t, a, filled(700, 3))
		must(t, f.Remove("b"))

		all := slices.Concat(filled(700, 1), filled(700, 2), filled(700, 3))
		if !bytes.Equal(d.Bytes("a"), all) || !slices.Equal(d.Names(), []string{"a"}) {
			t.Fatal("a change of a copy has changed the disk")
		}
		if !bytes.Equal(kept.Bytes("a"), all[:1400]) || !slices.Equal(kept.Names(), []string{"a", "b"}) {
			t.Fatal("a change of the disk has changed a copy")
		}
		if !bytes.Equal(killed.Bytes("c"), all[:1400]) || string(killed.Bytes("a")) != "killed" {
			t.Fatal("the copy that was killed lacks its own changes")
		}
		if got := cut.Bytes("a"); len(got) > 1400 || !bytes.Equal(got[:700], all[:700]) {
			t.Fatal("after a power cut, the copy lacks synced bytes or has bytes that it never had")
		}
		if d.Stopped() || kept.Stopped() || kept.Calls() != 6 || len(kept.Log()) != 6 || d.Calls() != 8 {
			t.Fatalf("the copy has %d calls, want 6; the disk has %d, want 8; stopped: %t and %t, want false",
				kept.Calls(), d.Calls(), kept.Stopped(), d.Stopped())
		}
		seen[strings.Join(cut.Names(), "")]++
		write(t, a, filled(5000, 4))
		ends := make(map[string]bool)
		for other := range uint64(20) {
			c := d.Copy(other)
			c.PowerCut()
			c.Restart()
			ends[string(c.Bytes("a"))] = true
		}
		if len(ends) < 5 {
			t.Errorf("a power cut has only %d different results for 20 seeds", len(ends))
		}
	}
	seen.expect(t, "a", "ab")
}

func TestGoroutines(t *testing.T) {
	d := sim.New(1)
	f := d.Folder()
	var workers sync.WaitGroup
	for worker := range 4 {
		workers.Go(func() {
			name := fmt.Sprint(worker)
			a, err := f.Create(name)
			if err != nil {
				t.Error(err)
				return
			}
			for range 100 {
				_, err := a.Write([]byte(name))
				if err := errors.Join(err, a.Sync(), f.Sync()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	workers.Go(func() {
		for seed := range uint64(100) {
			c := d.Copy(seed)
			c.PowerCut()
			c.Restart()
			for _, name := range c.Names() {
				if got := string(c.Bytes(name)); strings.Trim(got, name+"\x00") != "" {
					t.Errorf("the copy of %s holds %q", name, got)
				}
			}
		}
	})
	workers.Wait()
	if d.Calls() != 4*301 || len(d.Log()) != 4*301 {
		t.Errorf("%d calls are counted and %d are in the log, want %d of each", d.Calls(), len(d.Log()),
			4*301)
	}
	for worker := range 4 {
		name := fmt.Sprint(worker)
		if got := string(d.Bytes(name)); got != strings.Repeat(name, 100) {
			t.Errorf("file %s holds %q", name, got)
		}
	}
}

func TestRefuseOpen(t *testing.T) {
	d := sim.New(1)
	d.RefuseOpen()
	f := d.Folder()
	a := create(t, f, "a")
	must(t, create(t, f, "b").Close())
	for _, err := range []error{f.Rename("a", "b"), f.Rename("b", "a"), f.Remove("a")} {
		if !errors.Is(err, fs.ErrPermission) {
			t.Errorf("a call for an open file returned %v", err)
		}
	}
	second := open(t, f, "a")
	must(t, a.Close())
	if err := f.Remove("a"); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("Remove of a file that is open a second time returned %v", err)
	}
	must(t, second.Close(), f.Rename("b", "a"))
	open(t, f, "a")
	d.Kill()
	must(t, d.Restart().Remove("a")) // the program that had the file open has ended
}

func TestLog(t *testing.T) {
	d := sim.New(7)
	f := d.Folder()
	d.PrintIfFailed(t)
	failing := &recorder{TB: t}
	d.PrintIfFailed(failing)
	play(f)
	_, _ = f.Open("none")
	failing.cleanup()
	if failing.printed != "" {
		t.Errorf("a test that passes printed %q", failing.printed)
	}
	failing.failed = true
	failing.cleanup()
	for _, want := range []string{"14 calls", "seed 7",
		"\n1 create a\n2 write a: 3000 bytes at 0\n3 sync a\n",
		"4 read a: 10 bytes at 0\n5 close a\n6 sync folder\n",
		"\n7 rename a to b\n8 files\n9 open b\n",
		"12 remove b\n", "14 open none: open none: file does not exist"} {
		if !strings.Contains(failing.printed, want) {
			t.Errorf("the log does not contain %q:\n%s", want, failing.printed)
		}
	}
}

// recorder is a testing.TB that records its clean-up function and its log.
type recorder struct {
	testing.TB
	cleanup func()
	failed  bool
	printed string
}

func (r *recorder) Cleanup(f func())                  { r.cleanup = f }
func (r *recorder) Failed() bool                      { return r.failed }
func (r *recorder) Logf(format string, values ...any) { r.printed = fmt.Sprintf(format, values...) }
