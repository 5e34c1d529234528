package store

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/disk/sim"
	"github.com/vastgo/vast/probe"
	"github.com/vastgo/vast/vm"
)

// FuzzChain merges and opens arbitrary bytes as a checkpoint and two deltas. The result must be an error or a
// usable world, and the size of the files must bound the memory that merging and opening allocate.
func FuzzChain(f *testing.F) {
	names := []string{checkpointName(1), checkpointName(2), checkpointName(3)}
	for _, files := range [][][]byte{chainFiles(f), placedFiles(f)} {
		for _, sealed := range []bool{false, true} {
			f.Add(files[0], files[1], files[2], sealed)
			f.Add(files[0], files[2], files[1], sealed)
			f.Add(files[0], files[1], files[1], sealed)
		}
	}
	o := islandOptions()
	o.Every = time.Hour
	f.Fuzz(func(t *testing.T, base, delta, last []byte, sealed bool) {
		d, size := sim.New(1), 0
		for i, file := range [][]byte{base, delta, last} {
			file = bytes.Clone(file)
			if sealed {
				sealCheckpoint(file)
			}
			size += len(file)
			d.Put(names[i], file)
		}
		l := &life{island: newIsland()}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		merged := compact(d.Folder(), 3)
		var err error
		if l.st, err = open(d.Folder(), l.w, o); err == nil {
			err = l.st.Recover(nil, nil)
		}
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > 32<<20+100*uint64(size) {
			t.Errorf("merging and reading files of %d bytes has allocated %d bytes", size, n)
		}
		if err == nil {
			if merged != nil {
				t.Errorf("the chain can be read, but merging it fails: %v", merged)
			}
			for range 3 {
				if err := l.st.Tick(l.tick); err != nil {
					t.Error(err)
				}
			}
			l.hash()
			if err := Save(l.w, io.Discard, o); err != nil {
				t.Error(err)
			}
			if err := l.st.Close(); err != nil {
				t.Error(err)
			}
		}
		d.Kill()
		if err := l.end(); err != nil {
			t.Error(err)
		}
	})
}

// FuzzMoment reads arbitrary bytes as a checkpoint and a delta with mapped elements. The result must be an
// error, or a world that can be changed and saved.
func FuzzMoment(f *testing.F) {
	files := placedFiles(f)
	for _, sealed := range []bool{false, true} {
		f.Add(files[0], files[1], sealed)
		f.Add(files[1], files[0], sealed)
		f.Add(files[0][:len(files[0])/2], files[1], sealed)
	}
	f.Fuzz(func(t *testing.T, base, delta []byte, sealed bool) {
		defer PlaceFrom(1)()
		dir := t.TempDir()
		for i, file := range [][]byte{base, delta} {
			file = bytes.Clone(file)
			if sealed {
				sealCheckpoint(file)
			}
			if err := os.WriteFile(filepath.Join(dir, checkpointName(uint64(i+1))), file, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		w, _, err := LoadMoment(dir, 0, vast.Options{Limit: vm.NewLimit(256 << 20)})
		if err != nil {
			return
		}
		resources := Options{}
		for _, v := range probe.Resources(w) {
			resources.Resources = append(resources.Resources, v.Type())
		}
		w.DeleteAll(w.Query())
		if err := errors.Join(Save(w, io.Discard, resources), w.Trim(), w.Close()); err != nil {
			t.Error(err)
		}
	})
}

// placedFiles returns the files of a chain whose elements can be mapped.
func placedFiles(f *testing.F) [][]byte {
	defer PlaceFrom(1)()
	return chainFiles(f)
}

func chainFiles(f *testing.F) (files [][]byte) {
	f.Helper()
	d := sim.New(1)
	l := &life{island: newIsland()}
	o := islandOptions()
	o.Every = time.Hour
	var err error
	if l.st, err = open(d.Folder(), l.w, o); err != nil {
		f.Fatal(err)
	}
	l.st.LongChains(100)
	l.fill()
	if err := l.st.Recover(nil, nil); err != nil {
		f.Fatal(err)
	}
	for range 3 {
		for range 4 {
			if err := l.st.Tick(l.tick); err != nil {
				f.Fatal(err)
			}
		}
		if err := l.st.Checkpoint(); err != nil {
			f.Fatal(err)
		}
	}
	for number := range uint64(3) {
		files = append(files, bytes.Clone(d.Bytes(checkpointName(number+1))))
	}
	d.Kill()
	if err := l.end(); err != nil {
		f.Fatal(err)
	}
	return files
}
