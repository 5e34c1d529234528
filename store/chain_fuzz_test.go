package store

import (
	"bytes"
	"io"
	"runtime"
	"testing"
	"time"

	"github.com/vastgo/vast/store/internal/disk/sim"
)

// FuzzChain: a folder with any bytes in a checkpoint and in a delta that follows gives an error or a world
// that works, and takes memory that the files explain. So does merging.
func FuzzChain(f *testing.F) {
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
	names := []string{checkpointName(1), checkpointName(2), checkpointName(3)}
	for _, sealed := range []bool{false, true} {
		f.Add(d.Bytes(names[0]), d.Bytes(names[1]), d.Bytes(names[2]), sealed)
		f.Add(d.Bytes(names[0]), d.Bytes(names[2]), d.Bytes(names[1]), sealed)
		f.Add(d.Bytes(names[0]), d.Bytes(names[1]), d.Bytes(names[1]), sealed)
	}
	d.Kill()
	if err := l.end(); err != nil {
		f.Fatal(err)
	}
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
			t.Errorf("reading %d bytes has allocated %d", size, n)
		}
		if err == nil {
			if merged != nil {
				t.Errorf("the chain can be read, and merging it fails: %v", merged)
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
