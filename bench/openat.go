package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/clock"
	"github.com/vastgo/vast/internal/measure"
	"github.com/vastgo/vast/store"
)

// Work open-at: open a store's folder with OpenAt, and look up one component of one entity. The peer loads
// the same world from a file, and looks up the same component.

// openings is the number of measured openings. Their median time is the figure.
const openings = 5

// newOpened makes a side. save saves a world in a folder, and open reads the world. The figure is the time of
// open and of the look-up.
func newOpened(n int, save func(w *cargoWorld, dir string) error,
	open func(w *cargoWorld, dir string) (end func() error, err error)) side {
	dir, err := makeFolder()
	var entity vast.Entity // to look up
	var want cargo         // value of the entity's component
	if err == nil {
		w := newCargoWorld(n)
		err = save(w, dir)
		at := n / 2
		for r := range w.Query(w.cargo).Runs() {
			if at < r.Len() {
				entity, want = r.Entity(at), w.cargo.Slice(r)[at]
				break
			}
			at -= r.Len()
		}
		err = errors.Join(err, w.Close())
	}
	openOnce := func() (took time.Duration, err error) {
		w := newCargoWorld(n)
		began := clock.Now()
		end, err := open(w, dir)
		if err == nil {
			found := w.cargo.Get(entity)
			equal := found != nil && *found == want
			took = clock.Now() - began
			if !equal {
				err = fmt.Errorf("the component of %v differs from the saved component", entity)
			}
			err = errors.Join(err, end())
		}
		return took, errors.Join(err, w.Close())
	}
	return side{units: 1,
		figure: func() float64 {
			var all measure.Samples
			for range openings {
				if err != nil {
					return 1 // check returns the error
				}
				var took time.Duration
				took, err = openOnce()
				all = append(all, float64(took))
			}
			return max(1, all.Median())
		},
		check: func(int) error { return err },
		close: func() { removeFolder(dir) }}
}

func newOpenAtVast(n int) side {
	folder := func(dir string) string { return filepath.Join(dir, "world") }
	return newOpened(n, func(w *cargoWorld, dir string) error {
		st, err := store.Open(folder(dir), w.World, store.Options{Every: time.Hour})
		if err != nil {
			return err
		}
		w.fill(n)
		return errors.Join(st.Recover(nil, nil), st.Close())
	}, func(w *cargoWorld, dir string) (end func() error, err error) {
		st, err := store.OpenAt(folder(dir), w.World, math.MaxUint64, store.Options{})
		if err != nil {
			return nil, err
		}
		return st.Close, nil
	})
}

func newOpenAtLoad(n int) side {
	file := func(dir string) string { return filepath.Join(dir, "file") }
	return newOpened(n, func(w *cargoWorld, dir string) error {
		w.fill(n)
		return synced(file(dir), func(f *os.File) error { return store.Save(w.World, f, store.Options{}) })
	}, func(w *cargoWorld, dir string) (end func() error, err error) {
		err = opened(file(dir), func(f *os.File) error {
			_, err := store.Load(w.World, f, store.Options{})
			return err
		})
		return func() error { return nil }, err
	})
}
