package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/clock"
	"github.com/vastgo/vast/internal/measure"
	"github.com/vastgo/vast/store"
)

// Work pause-cold: the pause for a checkpoint of a large world, after one page in a hundred was written. The
// peer copies all components.
//
// Work bytes-written: the size of a checkpoint after one page in a hundred was written, in bytes per entity.
// The peer is the size of the written pages.
//
// Work bytes-on-disk: the largest size of the store's folder, in bytes per entity. One page in ten is written
// before each checkpoint. The peer is the size of the file that store.Save writes.

// cargo is a component of 64 bytes, so that no element lies in two pages.
type cargo struct{ Values [8]float64 }

const (
	cargoBytes   = 64
	pageBytes    = 4096 // page size of these works; the system's pages may be larger
	cargoPerPage = pageBytes / cargoBytes
)

type cargoWorld struct {
	*vast.World
	cargo  vast.Column[cargo]
	parts  [][]cargo // all elements of the column
	firsts []int     // for each part, index of the first element at a page boundary; may exceed the part
	turn   int       // number of calls of dirty
}

func newCargoWorld(n int) *cargoWorld {
	w := vast.NewWorld(vast.Options{MaxEntities: max(n, 64)})
	return &cargoWorld{World: w, cargo: vast.NewColumn[cargo](w)}
}

func (w *cargoWorld) fill(n int) {
	i := 0.0
	w.Archetype(w.cargo).NewN(n, func(r vast.Run) {
		part := w.cargo.Slice(r)
		for j := range part {
			i++
			part[j].Values = [8]float64{i, i / 3, 2, 3, 4, 5, 6, 7}
		}
		w.parts = append(w.parts, part)
		address := int(uintptr(unsafe.Pointer(&part[0])) % pageBytes)
		w.firsts = append(w.firsts, (pageBytes-address)%pageBytes/cargoBytes)
	})
}

// dirty writes to all elements of some pages: one page in stride, in each part. It returns the number of
// these pages. Each call begins one page further than the previous call; after stride calls, or fewer in a
// short part, it begins at the first page again. The elements before the first page boundary count as a page.
func (w *cargoWorld) dirty(stride int) (pages int) {
	w.turn++
	for i, part := range w.parts {
		first := w.firsts[i]
		if first > 0 {
			first -= cargoPerPage
		}
		all := (len(part) - first + cargoPerPage - 1) / cargoPerPage
		for page := w.turn % min(stride, all); page < all; page += stride {
			at := first + page*cargoPerPage
			for j := max(at, 0); j < min(at+cargoPerPage, len(part)); j++ {
				part[j].Values[0]++
			}
			pages++
		}
	}
	return pages
}

// same returns an error if other does not hold the same cargo in the same order.
func (w *cargoWorld) same(other *cargoWorld) error {
	var parts [][]cargo
	for r := range other.Query(other.cargo).Runs() {
		parts = append(parts, other.cargo.Slice(r))
	}
	at := 0
	for _, part := range w.parts {
		for len(part) > 0 {
			if len(parts) == 0 {
				return fmt.Errorf("the other world has %d entities, want %d", at, w.Len())
			}
			n := min(len(part), len(parts[0]))
			if !slices.Equal(part[:n], parts[0][:n]) {
				return fmt.Errorf("an entity differs; its index is between %d and %d", at, at+n-1)
			}
			at, part, parts[0] = at+n, part[n:], parts[0][n:]
			if len(parts[0]) == 0 {
				parts = parts[1:]
			}
		}
	}
	if other.Len() != w.Len() {
		return fmt.Errorf("the other world has %d entities, want %d", other.Len(), w.Len())
	}
	return nil
}

type keptWorld struct {
	*cargoWorld
	dir  string
	st   *store.Store
	last store.Checkpoint // the newest checkpoint
	err  error
}

func newKeptWorld(n int) *keptWorld {
	k := &keptWorld{cargoWorld: newCargoWorld(n)}
	k.dir, k.err = makeFolder()
	if k.err == nil {
		k.st, k.err = store.Open(filepath.Join(k.dir, "world"), k.World, store.Options{Every: time.Hour,
			Build: "bench", Notify: func(c store.Checkpoint) { k.last = c }})
	}
	if k.err == nil {
		k.fill(n)
		k.err = k.st.Recover(func([]byte) {}, func() error { return nil })
	}
	if k.err == nil {
		k.err = k.st.Checkpoint()
	}
	return k
}

func (k *keptWorld) step(stride int) (pages int) {
	if k.err == nil {
		k.err = k.st.Tick(func() error {
			pages = k.dirty(stride)
			return nil
		})
	}
	if k.err == nil {
		k.err = k.st.Checkpoint()
	}
	return pages
}

func (k *keptWorld) check(int) error {
	if k.err != nil {
		return k.err
	}
	other := newCargoWorld(k.Len())
	defer other.Close()
	st, err := store.OpenAt(filepath.Join(k.dir, "world"), other.World, math.MaxUint64, store.Options{})
	if err != nil {
		return err
	}
	return errors.Join(k.same(other), st.Close())
}

func (k *keptWorld) close() {
	if k.st != nil {
		_ = k.st.Close()
	}
	_ = k.Close()
	removeFolder(k.dir)
}

// One page in coldEvery is written before each checkpoint of pause-cold and bytes-written.
const coldEvery = 100

// pauses is the number of measured pauses. Their median is the figure.
const pauses = 5

// warmSteps returns the number of steps, each with a checkpoint, before the first measured step. The store
// needs these checkpoints to protect all pages. A small world needs fewer.
func warmSteps(n int) int { return min(30, n*cargoBytes>>20) }

func newPauseColdVast(n int) side {
	k := newKeptWorld(n)
	for range warmSteps(n) {
		k.step(coldEvery)
	}
	return side{units: 1, check: k.check, close: k.close, figure: func() float64 {
		var took measure.Samples
		for range pauses {
			k.step(coldEvery)
			took = append(took, float64(k.last.Pause))
		}
		return max(1, took.Median())
	}}
}

func newPauseColdCopy(n int) side {
	w := newCargoWorld(n)
	w.fill(n)
	copied := make([]cargo, n)
	return side{units: 1,
		figure: func() float64 {
			var took measure.Samples
			for range pauses + 1 {
				w.dirty(coldEvery)
				start := clock.Now()
				copyAll(copied, w.parts)
				took = append(took, float64(clock.Now()-start))
			}
			return max(1, took[1:].Median()) // the first copy may have page faults
		},
		check: func(int) error {
			at := 0
			for _, part := range w.parts {
				if !slices.Equal(part, copied[at:at+len(part)]) {
					return errors.New("the copy differs from the world")
				}
				at += len(part)
			}
			return nil
		},
		close: func() { _ = w.Close() }}
}

// copyAll copies all parts into one slice, in order, with one goroutine per processor.
//
//go:noinline
func copyAll[T any](to []T, parts [][]T) {
	const maxPiece = 1 << 14 // elements that a goroutine copies in one piece
	type job struct{ to, from []T }
	var jobs []job
	for _, part := range parts {
		for len(part) > 0 {
			n := min(len(part), maxPiece)
			jobs = append(jobs, job{to[:n], part[:n]})
			to, part = to[n:], part[n:]
		}
	}
	var next atomic.Int64
	var group sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(jobs) {
					return
				}
				copy(jobs[i].to, jobs[i].from)
			}
		})
	}
	group.Wait()
}

func newBytesWritten(n int) side {
	k := newKeptWorld(n)
	return side{units: n, check: k.check, close: k.close, figure: func() float64 {
		k.step(coldEvery)
		return float64(k.last.Bytes)
	}}
}

func newDirtyBytes(n int) side {
	w := newCargoWorld(n)
	w.fill(n)
	return side{units: n, check: func(int) error { return nil }, close: func() { _ = w.Close() },
		figure: func() float64 { return float64(w.dirty(coldEvery) * pageBytes) }}
}

// A measurement of bytes-on-disk has diskSteps steps, each of which writes to one page in diskEvery. The
// folder grows by half in five steps; the next step merges the files.
const (
	diskEvery = 10
	diskSteps = 7
)

func newBytesOnDisk(n int) side {
	k := newKeptWorld(n)
	return side{units: n, check: k.check, close: k.close, figure: func() float64 {
		largest, stop := make(chan int64), make(chan struct{})
		go func() {
			var bytes int64
			for ended := false; !ended; {
				select {
				case <-stop:
					ended = true
				case <-time.After(time.Millisecond):
				}
				bytes = max(bytes, folderBytes(k.dir))
			}
			largest <- bytes
		}()
		for range diskSteps {
			k.step(diskEvery)
		}
		close(stop)
		return float64(<-largest)
	}}
}

// folderBytes returns the size of all files in a folder and its subfolders. Files may be made and removed
// during the call.
func folderBytes(dir string) (bytes int64) {
	_ = filepath.WalkDir(dir, func(_ string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			if info, err := entry.Info(); err == nil {
				bytes += info.Size()
			}
		}
		return nil
	})
	return bytes
}

func newLiveBytes(n int) side {
	w := newCargoWorld(n)
	w.fill(n)
	var err error
	return side{units: n, check: func(int) error { return err }, close: func() { _ = w.Close() },
		figure: func() float64 {
			var live byteCounter
			err = store.Save(w.World, &live, store.Options{})
			return float64(live)
		}}
}

type byteCounter int

func (c *byteCounter) Write(b []byte) (int, error) {
	*c += byteCounter(len(b))
	return len(b), nil
}

func constantSide(units int, figure float64) side {
	return side{units: units, figure: func() float64 { return figure }, check: func(int) error { return nil }}
}
