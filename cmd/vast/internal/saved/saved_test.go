package saved

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/store"
)

// keep makes a world, and a store that keeps the given number of newest checkpoints. Each call of the
// function checkpoint makes an entity and then a checkpoint.
func keep(t *testing.T, dir string, kept int) (checkpoint func()) {
	t.Helper()
	w := vast.NewWorld(vast.Options{MaxEntities: 1 << 20})
	born := w.Archetype(vast.NewColumn[[4]uint64](w))
	st, err := store.Open(dir, w, store.Options{Every: time.Hour, Keep: kept})
	if err != nil {
		t.Fatal(err)
	}
	if err := st.Recover(func([]byte) {}, func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
		w.Close()
	})
	return func() {
		err := st.Tick(func() error {
			born.New()
			return nil
		})
		if err := errors.Join(err, st.Checkpoint()); err != nil {
			t.Error(err)
		}
	}
}

func load(t *testing.T, path string, moment uint64) (entities int, err error) {
	t.Helper()
	w, _, err := LoadVerified(path, moment, 0)
	if err != nil {
		return 0, err
	}
	defer w.Close()
	return w.Len(), nil
}

func TestLoadVerified(t *testing.T) {
	dir := t.TempDir()
	checkpoint := keep(t, dir, 4)
	for range 3 {
		checkpoint()
	}
	files, err := store.Files(dir)
	if err != nil {
		t.Fatal(err)
	}
	var newest store.File
	older := uint64(0)
	for _, f := range files {
		if f.Kind == store.FileCheckpoint && f.Number > newest.Number {
			newest, older = f, newest.Number
		}
	}
	if n, err := load(t, dir, 0); n != 3 || err != nil {
		t.Errorf("the newest checkpoint has %d entities, want 3; error %v", n, err)
	}
	if n, err := load(t, dir, older); n != 2 || err != nil {
		t.Errorf("an older checkpoint has %d entities, want 2; error %v", n, err)
	}
	if _, err := load(t, dir, 99); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a checkpoint that does not exist: %v", err)
	}
	if err := verify(dir, 99); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("verify of a checkpoint that does not exist: %v", err)
	}
	copied := filepath.Join(t.TempDir(), "copied")
	if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	dir = copied
	path := filepath.Join(dir, newest.Name)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{string(b[:len(b)-50]) + string(b[len(b)-50]^1) + string(b[len(b)-49:]),
		"damaged from the first byte"} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := load(t, dir, 0); err == nil || !strings.Contains(err.Error(), newest.Name) {
			t.Errorf("a damaged newest checkpoint: %v", err)
		}
	}
	if n, err := load(t, dir, older); n != 2 || err != nil {
		t.Errorf("beside a damaged checkpoint: %d entities, want 2; error %v", n, err)
	}
}

func TestLoadVerifiedFile(t *testing.T) {
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	w.Archetype().New()
	path := filepath.Join(t.TempDir(), "world")
	f, err := os.Create(path)
	if err == nil {
		err = errors.Join(store.Save(w, f, store.Options{}), f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	if n, err := load(t, path, 0); n != 1 || err != nil {
		t.Errorf("%d entities, want 1; error %v", n, err)
	}
	if _, err := load(t, path, 1); err == nil || !strings.Contains(err.Error(), "has no moments") {
		t.Error(err)
	}
	if _, err := load(t, t.TempDir(), 0); err == nil || !strings.Contains(err.Error(), "no checkpoint") {
		t.Error(err)
	}
}

// TestLoadVerifiedWhileTheStoreWrites loads the newest checkpoint while a store replaces it.
func TestLoadVerifiedWhileTheStoreWrites(t *testing.T) {
	dir := t.TempDir()
	checkpoint := keep(t, dir, 1)
	checkpoint()
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
				checkpoint()
			}
		}
	}()
	last := 0
	for range 10 {
		n, err := load(t, dir, 0)
		if err != nil || n < last {
			t.Errorf("%d entities after %d, error %v", n, last, err)
		}
		last = n
	}
	close(stop)
	<-stopped
}
