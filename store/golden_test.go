package store_test

import (
	"flag"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/vastgo/vast/store"
)

var write = flag.Bool("write", false, "write testdata/town-GOARCH.world and testdata/town.txt anew")

// TestFilesOfOtherMachines: a file opens on every platform, whichever platform has written it.
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
