package store_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/vastgo/vast/bulk"
	"github.com/vastgo/vast/internal/disk/sim"
	"github.com/vastgo/vast/store"
)

var write = flag.Bool("write", false, "rewrite the files of this platform and the expected texts in testdata")

func TestFilesOfOtherMachines(t *testing.T) {
	text := filepath.Join("testdata", "town.txt")
	if *write {
		n := newTown(t, false)
		n.live(77, 250)
		file := filepath.Join("testdata", "town-"+runtime.GOARCH+".world")
		if err := os.WriteFile(file, save(t, n, store.Options{}), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(text, []byte(n.dump()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(text)
	if err != nil {
		t.Fatal(err)
	}
	for _, arch := range []string{"amd64", "386"} {
		file, err := os.ReadFile(filepath.Join("testdata", "town-"+arch+".world"))
		if err != nil {
			t.Fatal(err)
		}
		n := newTown(t, arch == "386")
		load(t, n, file, store.Options{})
		if got := n.dump(); got != string(want) {
			t.Errorf("%s: %s", arch, difference(got, string(want)))
		}
	}
}

// TestContainersOfOtherMachines has an expected text for each platform, because the seeds of hash indices
// differ.
func TestContainersOfOtherMachines(t *testing.T) {
	path := func(arch, kind string) string { return filepath.Join("testdata", "yard-"+arch+kind) }
	if *write {
		n := newYard(t, yardOptions{})
		n.live(77, 40)
		n.copyHandles(new(yard))
		if err := os.WriteFile(path(runtime.GOARCH, ".world"), saveYard(t, n), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path(runtime.GOARCH, ".txt"), []byte(n.dump()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for i, arch := range []string{"amd64", "386"} {
		file, err := os.ReadFile(path(arch, ".world"))
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(path(arch, ".txt"))
		if err != nil {
			t.Fatal(err)
		}
		n := newYard(t, yardOptions{layout: bulk.Layout(i), capacity: 1 << 20})
		if _, err := store.Load(n.w, bytes.NewReader(file), n.options()); err != nil {
			t.Fatal(err)
		}
		if got := n.dump(); got != string(want) {
			t.Errorf("%s: %s", arch, difference(got, string(want)))
		}
	}
}

func TestChainsOfOtherMachines(t *testing.T) { testChains(t, "chain") }

func TestPlacedChainsOfOtherMachines(t *testing.T) {
	defer store.PlaceFrom(256)()
	testChains(t, "placed")
}

func testChains(t *testing.T, kind string) {
	text := filepath.Join("testdata", kind+".txt")
	dir := func(arch string) string { return filepath.Join("testdata", kind+"-"+arch) }
	if *write {
		d := sim.New(1)
		n := newTown(t, false)
		st, err := store.OpenFolder(d.Folder(), n.w, store.Options{Every: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		st.LongChains(10)
		n.live(77, 12)
		if err := st.Recover(nil, nil); err != nil {
			t.Fatal(err)
		}
		for seed := range uint64(2) {
			n.live(78+seed, 8)
			if err := st.Checkpoint(); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.MkdirAll(dir(runtime.GOARCH), 0o755); err != nil {
			t.Fatal(err)
		}
		for _, name := range d.Names() {
			if !strings.HasPrefix(name, "checkpoint-") {
				continue // the test needs only the checkpoints
			}
			file := filepath.Join(dir(runtime.GOARCH), name)
			if err := os.WriteFile(file, d.Bytes(name), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(text, []byte(n.dump()), 0o644); err != nil {
			t.Fatal(err)
		}
		d.Kill()
		_ = st.Close()
	}
	want, err := os.ReadFile(text)
	if err != nil {
		t.Fatal(err)
	}
	for _, arch := range []string{"amd64", "386"} {
		d := sim.New(1)
		files, err := os.ReadDir(dir(arch))
		if err != nil || len(files) != 3 {
			t.Fatalf("%s has %d files: %v", dir(arch), len(files), err)
		}
		for _, f := range files {
			file, err := os.ReadFile(filepath.Join(dir(arch), f.Name()))
			if err != nil {
				t.Fatal(err)
			}
			d.Put(f.Name(), file)
		}
		n := newTown(t, arch == "386")
		st, err := store.OpenFolder(d.Folder(), n.w, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := n.dump(); got != string(want) {
			t.Errorf("%s: %s", arch, difference(got, string(want)))
		}
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	}
}
