package sim_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"testing"

	"github.com/vastgo/vast/internal/disk"
	"github.com/vastgo/vast/internal/disk/sim"
)

// replace replaces the file "state". After a power cut, the file has the old content or the new content.
func replace(f disk.Folder, content []byte) error {
	if err := f.Remove("new"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	file, err := f.Create("new")
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	if err := f.Rename("new", "state"); err != nil {
		return err
	}
	return f.Sync()
}

// crashes runs a program. Before each call and at the end, it copies the disk with 30 seeds, cuts the power
// of each copy, restarts the copy and checks it. crashes returns the first error of check.
func crashes(t *testing.T, m sim.Mistake, run func(disk.Folder), check func(*sim.Disk) error) (first error) {
	t.Helper()
	d := sim.New(1)
	crash := func(c sim.Call) {
		for seed := range uint64(30) {
			cut := d.Copy(seed)
			cut.PowerCut()
			cut.Restart()
			if err := check(cut); err != nil && first == nil {
				first = fmt.Errorf("power cut after %d calls, before %v %s, seed %d: %w", d.Calls(), c.Op,
					c.Name, seed, err)
			}
		}
	}
	d.Watch(crash)
	run(sim.Break(d.Folder(), m))
	crash(sim.Call{})
	return first
}

func TestBreakReplace(t *testing.T) {
	for _, c := range []struct {
		mistake sim.Mistake
		loses   bool // whether a power cut may lose acknowledged data
	}{
		{0, false},
		{sim.FolderSyncDoesNothing, true},
		{sim.FileSyncEarly, false}, // Close makes the bytes durable, and the program calls it before Rename
		{sim.RenameBeforeData, true},
		{sim.FolderSyncDoesNothing | sim.RenameBeforeData, true},
	} {
		acknowledged := 0
		err := crashes(t, c.mistake, func(f disk.Folder) {
			for acknowledged < 5 {
				must(t, replace(f, filled(2000, byte(acknowledged+1))))
				acknowledged++
			}
		}, func(d *sim.Disk) error {
			var names []string
			for _, name := range d.Names() {
				if name == "state" {
					names = append(names, name)
				}
			}
			if len(names) == 0 {
				if acknowledged > 0 {
					return errors.New("the file is gone")
				}
				return nil
			}
			got := d.Bytes("state")
			for _, content := range []int{acknowledged, acknowledged + 1} {
				if content > 0 && bytes.Equal(got, filled(2000, byte(content))) {
					return nil
				}
			}
			return fmt.Errorf("the file holds neither the acknowledged content %d nor the next one",
				acknowledged)
		})
		if (err != nil) != c.loses {
			t.Errorf("with the mistakes %b, the check returned %v; want an error: %t", c.mistake, err,
				c.loses)
		}
	}
}

func TestBreakAppend(t *testing.T) {
	for _, c := range []struct {
		mistake sim.Mistake
		loses   bool // whether a power cut may lose acknowledged data
	}{
		{0, false},
		{sim.FolderSyncDoesNothing, true},
		{sim.FileSyncEarly, true},
		{sim.RenameBeforeData, false}, // the program syncs the folder before it acknowledges records
	} {
		acknowledged := 0
		err := crashes(t, c.mistake, func(f disk.Folder) {
			file := create(t, f, "log")
			write(t, file, filled(512, 1))
			must(t, file.Sync(), f.Sync())
			for acknowledged = 1; acknowledged < 5; acknowledged++ {
				write(t, file, filled(512, 1))
				must(t, file.Sync())
			}
			must(t, file.Close())
		}, func(d *sim.Disk) error {
			if acknowledged == 0 {
				return nil
			}
			if len(d.Names()) == 0 {
				return errors.New("the file is gone")
			}
			if got := d.Bytes("log"); len(got) < 512*acknowledged ||
				!bytes.Equal(got[:512*acknowledged], filled(512*acknowledged, 1)) {
				return fmt.Errorf("%d records are acknowledged, and some are lost", acknowledged)
			}
			return nil
		})
		if (err != nil) != c.loses {
			t.Errorf("with the mistakes %b, the check returned %v; want an error: %t", c.mistake, err,
				c.loses)
		}
	}
}

func TestBreakErrors(t *testing.T) {
	d := sim.New(1)
	f := sim.Break(d.Folder(), sim.RenameBeforeData|sim.FileSyncEarly)
	a := create(t, f, "a")
	_, created := f.Create("a")
	_, opened := f.Open("none")
	for i, c := range []struct{ err, want error }{
		{created, fs.ErrExist}, {opened, fs.ErrNotExist}, {f.Rename("none", "b"), fs.ErrNotExist},
		{f.Remove("none"), fs.ErrNotExist},
	} {
		if !errors.Is(c.err, c.want) {
			t.Errorf("call %d returned %v, want %v", i, c.err, c.want)
		}
	}
	must(t, a.Sync(), a.Sync()) // Rename does the work of the first Sync, and Write that of the second
	d.FailAt(d.Calls() + 1)
	if _, err := a.Write([]byte("one")); !errors.Is(err, syscall.EIO) {
		t.Errorf("Write returned %v, want the error of the Sync before it", err)
	}
	must(t, a.Close(), f.Rename("a", "b"))
	d.FailAt(d.Calls() + 1)
	if err := f.Sync(); !errors.Is(err, syscall.EIO) {
		t.Errorf("Sync of the folder returned %v, want EIO", err)
	}
}
