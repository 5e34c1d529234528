package store_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/store"
)

type momentum struct{ X, Y, Z float64 }
type charge struct{ Now, Most, Rate float64 }
type kind struct{ Class, Flags uint32 }

// million makes a world with three columns. If full is true, the world has a million entities with 56 bytes
// of components each. Otherwise the world has no entities.
func million(b *testing.B, full bool) *vast.World {
	w := vast.NewWorld(vast.Options{})
	b.Cleanup(func() { w.Close() })
	m, c, k := vast.NewColumn[momentum](w), vast.NewColumn[charge](w), vast.NewColumn[kind](w)
	if full {
		i := 0.0
		w.Archetype(m, c, k).NewN(1_000_000, func(r vast.Run) {
			for j := range m.Slice(r) {
				i++
				m.Slice(r)[j], c.Slice(r)[j], k.Slice(r)[j] = momentum{i, 1, 2}, charge{i, 3, 4}, kind{1, 2}
			}
		})
	}
	return w
}

// BenchmarkSave saves a world of 56 MB to a file. For comparison, it writes the same number of plain bytes.
func BenchmarkSave(b *testing.B) {
	w := million(b, true)
	var plain bytes.Buffer
	if err := store.Save(w, &plain, store.Options{}); err != nil {
		b.Fatal(err)
	}
	for name, write := range map[string]func(io.Writer) error{
		"world": func(f io.Writer) error { return store.Save(w, f, store.Options{}) },
		"plain": func(f io.Writer) error { _, err := f.Write(plain.Bytes()); return err },
	} {
		b.Run(name, func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "file")
			b.SetBytes(int64(plain.Len()))
			for b.Loop() {
				f, err := os.Create(path)
				if err == nil {
					err = write(f)
				}
				if err == nil {
					err = f.Sync()
				}
				if err == nil {
					err = f.Close()
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkLoad loads a world of 56 MB from a file. For comparison, it reads the file into new memory.
func BenchmarkLoad(b *testing.B) {
	path := filepath.Join(b.TempDir(), "file")
	f, err := os.Create(path)
	if err == nil {
		err = store.Save(million(b, true), f, store.Options{})
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		b.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("world", func(b *testing.B) {
		b.SetBytes(info.Size())
		for b.Loop() {
			b.StopTimer()
			w := million(b, false)
			b.StartTimer()
			f, err := os.Open(path)
			if err == nil {
				_, err = store.Load(w, f, store.Options{})
			}
			if err == nil {
				err = f.Close()
			}
			if err != nil {
				b.Fatal(err)
			}
			b.StopTimer()
			w.Close()
			b.StartTimer()
		}
	})
	b.Run("plain", func(b *testing.B) {
		b.SetBytes(info.Size())
		for b.Loop() {
			if _, err := os.ReadFile(path); err != nil {
				b.Fatal(err)
			}
		}
	})
}
