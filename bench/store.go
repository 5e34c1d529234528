package main

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/store"
	"go.etcd.io/bbolt"
)

// Work save: save a world of n entities to a file, and sync the file. An entity has three components of 56
// bytes in all.
//
// Work load: load the file into a new world, with all checks.
//
// Work record: each of n goroutines records an input of 64 bytes, and waits until the input is durable. One
// repetition records one input per goroutine.

type (
	momentum struct{ X, Y, Z float64 }
	charge   struct{ Now, Most, Rate float64 }
	kind     struct{ Class, Flags uint32 }
)

type savedWorld struct {
	*vast.World
	momentum vast.Column[momentum]
	charge   vast.Column[charge]
	kind     vast.Column[kind]
}

func newSavedWorld(n int) *savedWorld {
	w := vast.NewWorld(vast.Options{})
	s := &savedWorld{w, vast.NewColumn[momentum](w), vast.NewColumn[charge](w), vast.NewColumn[kind](w)}
	if n > 0 {
		s.fill(n)
	}
	return s
}

func (s *savedWorld) fill(n int) {
	i := 0.0
	s.Archetype(s.momentum, s.charge, s.kind).NewN(n, func(r vast.Run) {
		for j := range s.momentum.Slice(r) {
			i++
			s.momentum.Slice(r)[j] = momentum{i, i / 3, 2}
			s.charge.Slice(r)[j] = charge{i, 3, 4}
			s.kind.Slice(r)[j] = kind{uint32(i) % 7, 2}
		}
	})
}

// records holds the data of a savedWorld in Go slices.
type records struct {
	Momentum []momentum
	Charge   []charge
	Kind     []kind
}

func newRecords(n int) *records {
	r := &records{make([]momentum, n), make([]charge, n), make([]kind, n)}
	for i := range n {
		v := float64(i + 1)
		r.Momentum[i], r.Charge[i] = momentum{v, v / 3, 2}, charge{v, 3, 4}
		r.Kind[i] = kind{uint32(i+1) % 7, 2}
	}
	return r
}

type filed struct {
	dir  string
	path string
	work func(path string) error
	err  error
}

// newFiled makes a side whose work writes a file, or reads a file that prepare writes. prepare may be nil.
// free is called when the side closes, and may be nil.
func newFiled(n int, prepare, work func(path string) error, check func(path string) error, free func()) side {
	dir, err := makeFolder()
	if err != nil {
		panic(err)
	}
	f := &filed{dir: dir, path: filepath.Join(dir, "file"), work: work}
	if prepare != nil {
		f.err = prepare(f.path)
	}
	return side{units: n, sample: timeAll(f, doFiled),
		check: func(int) error { return errors.Join(f.err, check(f.path)) },
		close: func() {
			removeFolder(dir)
			if free != nil {
				free()
			}
		}}
}

//go:noinline
func doFiled(f *filed) {
	if err := f.work(f.path); err != nil && f.err == nil {
		f.err = err
	}
}

// synced creates a file, calls write, and syncs the file.
func synced(path string, write func(f *os.File) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	err = write(f)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

func opened(path string, read func(f *os.File) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(read(f), f.Close())
}

func exists(path string) error {
	info, err := os.Stat(path)
	if err == nil && info.Size() == 0 {
		err = fmt.Errorf("%s is empty", path)
	}
	return err
}

func newSaveVast(n int) side {
	w := newSavedWorld(n)
	save := func(path string) error {
		return synced(path, func(f *os.File) error { return store.Save(w.World, f, store.Options{}) })
	}
	return newFiled(n, nil, save, exists, func() { _ = w.Close() })
}

func newLoadVast(n int) side {
	save := func(path string) error {
		w := newSavedWorld(n)
		return errors.Join(synced(path, func(f *os.File) error {
			return store.Save(w.World, f, store.Options{})
		}), w.Close())
	}
	load := func(path string) error {
		w := newSavedWorld(0)
		err := opened(path, func(f *os.File) error {
			_, err := store.Load(w.World, f, store.Options{})
			return err
		})
		if err == nil && w.Len() != n {
			err = fmt.Errorf("%d of %d entities were loaded", w.Len(), n)
		}
		return errors.Join(err, w.Close())
	}
	return newFiled(n, save, load, exists, nil)
}

func bytesOfWorld(n int) []byte {
	w := newSavedWorld(n)
	defer w.Close()
	var b bytes.Buffer
	if err := store.Save(w.World, &b, store.Options{}); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func newSaveFile(n int) side {
	saved := bytesOfWorld(n)
	return newFiled(n, nil, func(path string) error {
		return synced(path, func(f *os.File) error {
			_, err := f.Write(saved)
			return err
		})
	}, exists, nil)
}

func newLoadFile(n int) side {
	saved := bytesOfWorld(n)
	return newFiled(n, func(path string) error { return os.WriteFile(path, saved, 0o600) },
		func(path string) error {
			read, err := os.ReadFile(path)
			if err == nil && len(read) != len(saved) {
				err = fmt.Errorf("%d of %d bytes were read", len(read), len(saved))
			}
			return err
		}, exists, nil)
}

func newSaveGob(n int) side {
	r := newRecords(n)
	return newFiled(n, nil, func(path string) error {
		return synced(path, func(f *os.File) error { return gob.NewEncoder(f).Encode(r) })
	}, exists, nil)
}

func newLoadGob(n int) side {
	return newFiled(n, func(path string) error {
		return synced(path, func(f *os.File) error { return gob.NewEncoder(f).Encode(newRecords(n)) })
	}, func(path string) error {
		var r records
		err := opened(path, func(f *os.File) error { return gob.NewDecoder(f).Decode(&r) })
		if err == nil && len(r.Kind) != n {
			err = fmt.Errorf("%d of %d records were read", len(r.Kind), n)
		}
		return err
	}, exists, nil)
}

type recorded struct {
	n      int // number of goroutines
	record func() error
	failed atomic.Pointer[error]
}

//go:noinline
func doRecorded(r *recorded) {
	var group sync.WaitGroup
	for range r.n {
		group.Go(func() {
			if err := r.record(); err != nil {
				r.failed.CompareAndSwap(nil, &err)
			}
		})
	}
	group.Wait()
}

// newRecorded makes a side whose goroutines record inputs. open returns two functions: record records an
// input and waits until the input is durable, and end closes everything.
func newRecorded(n int, open func(dir string) (record, end func() error, err error)) side {
	dir, err := makeFolder()
	if err != nil {
		panic(err)
	}
	record, end, err := open(dir)
	if err != nil {
		panic(err)
	}
	r := &recorded{n: n, record: record}
	return side{units: n, sample: timeAll(r, doRecorded),
		check: func(int) error {
			if err := r.failed.Load(); err != nil {
				return *err
			}
			return nil
		},
		close: func() {
			_ = end()
			removeFolder(dir)
		}}
}

var recordedInput = make([]byte, 64)

func newRecordVast(n int) side {
	return newRecorded(n, func(dir string) (record, end func() error, err error) {
		w := newSavedWorld(0)
		st, err := store.Open(dir, w.World, store.Options{})
		if err != nil {
			return nil, nil, err
		}
		if err := st.Recover(func([]byte) {}, func() error { return nil }); err != nil {
			return nil, nil, err
		}
		if err := st.Checkpoint(); err != nil {
			return nil, nil, err
		}
		return func() error {
			position, err := st.Record(recordedInput)
			if err != nil {
				return err
			}
			return st.Wait(context.Background(), position)
		}, func() error { return errors.Join(st.Close(), w.Close()) }, nil
	})
}

// newRecordBolt stores each input under its own number. One goroutine uses Update; several goroutines use
// Batch.
func newRecordBolt(n int) side {
	return newRecorded(n, func(dir string) (record, end func() error, err error) {
		db, err := bbolt.Open(filepath.Join(dir, "bolt"), 0o600, nil)
		if err != nil {
			return nil, nil, err
		}
		put := func(tx *bbolt.Tx) error {
			b, err := tx.CreateBucketIfNotExists([]byte("inputs"))
			if err != nil {
				return err
			}
			number, err := b.NextSequence()
			if err != nil {
				return err
			}
			return b.Put(fmt.Appendf(nil, "%016x", number), recordedInput)
		}
		write := db.Update
		if n > 1 {
			write = db.Batch
		}
		return func() error { return write(put) }, db.Close, nil
	})
}

func (r *records) same(want *records) error {
	if r == nil || len(r.Kind) != len(want.Kind) {
		return errors.New("the number of records is wrong")
	}
	for i := range want.Kind {
		if r.Momentum[i] != want.Momentum[i] || r.Charge[i] != want.Charge[i] || r.Kind[i] != want.Kind[i] {
			return fmt.Errorf("record %d is %v, %v, %v, want %v, %v, %v", i, r.Momentum[i], r.Charge[i],
				r.Kind[i], want.Momentum[i], want.Charge[i], want.Kind[i])
		}
	}
	return nil
}
