package store_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/store"
)

// TestVerifyNewest: Verify reports that the newest checkpoint of a program without a journal is missing.
func TestVerifyNewest(t *testing.T) {
	dir := t.TempDir()
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	st, err := store.Open(dir, w, store.Options{Keep: 2})
	if err == nil {
		err = st.Recover(nil, nil)
	}
	if err == nil {
		err = st.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	wrong := func() (names []string) {
		t.Helper()
		files, err := store.Verify(dir, false)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if f.Err != nil {
				names = append(names, string(f.Kind)+" "+f.Name)
			}
			if f.Kind == store.FileUnknown {
				t.Errorf("%s is unknown", f.Name)
			}
		}
		return names
	}
	if names := wrong(); len(names) > 0 {
		t.Errorf("%q are wrong in a folder that is whole", names)
	}
	if err := os.Remove(filepath.Join(dir, "checkpoint-00000002")); err != nil {
		t.Fatal(err)
	}
	if names := wrong(); len(names) != 1 || names[0] != "missing checkpoint-00000002" {
		t.Errorf("%q are wrong, want the lost checkpoint", names)
	}
	if err := os.WriteFile(filepath.Join(dir, "newest-00000002"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if names := wrong(); len(names) != 2 || names[0] != "newest newest-00000002" {
		t.Errorf("%q are wrong, want the file with a byte, too", names)
	}
}
