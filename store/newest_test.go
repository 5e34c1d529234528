package store_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/crashtest"
	"github.com/vastgo/vast/store"
)

func TestVerifyReportsMissingNewestCheckpoint(t *testing.T) {
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
	filesWithErrors := func() (names []string) {
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
	if names := filesWithErrors(); len(names) > 0 {
		t.Errorf("Verify reports %q in an undamaged folder", names)
	}
	if err := os.Remove(filepath.Join(dir, "checkpoint-00000002")); err != nil {
		t.Fatal(err)
	}
	if names := filesWithErrors(); len(names) != 1 || names[0] != "missing checkpoint-00000002" {
		t.Errorf("Verify reports %q, want only the lost checkpoint", names)
	}
	if err := os.WriteFile(filepath.Join(dir, "newest-00000002"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if names := filesWithErrors(); len(names) != 2 || names[0] != "newest newest-00000002" {
		t.Errorf("Verify reports %q, want the lost checkpoint and newest-00000002", names)
	}
}

func TestCompactRefusesWrongFolder(t *testing.T) {
	makeFolder := func(keep int) (dir string) {
		dir = t.TempDir()
		w := vast.NewWorld(vast.Options{})
		defer w.Close()
		st, err := store.Open(dir, w, store.Options{Keep: keep})
		if err == nil {
			err = st.Recover(nil, nil)
		}
		for range 2 {
			if err == nil {
				err = st.Checkpoint()
			}
		}
		if err == nil {
			err = st.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		return dir
	}
	mustRefuse := func(dir, why string) {
		t.Helper()
		before := listing(t, dir)
		if err := store.Compact(dir); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("the error is %v, want %q in it", err, why)
		}
		if now := listing(t, dir); now != before {
			t.Errorf("Compact has changed the folder from\n%s\nto\n%s", before, now)
		}
	}
	dir := makeFolder(5)
	unfinished := filepath.Join(dir, "checkpoint-00000009.new")
	if err := os.WriteFile(unfinished, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	newest := filepath.Join(dir, "checkpoint-00000004")
	lost, err := os.ReadFile(newest)
	if err == nil {
		err = os.Remove(newest)
	}
	if err != nil {
		t.Fatal(err)
	}
	mustRefuse(dir, "checkpoint-00000004 is missing")
	other, err := os.ReadFile(filepath.Join(makeFolder(5), "checkpoint-00000001"))
	if err == nil {
		err = os.WriteFile(newest, lost, 0o600)
	}
	if err == nil {
		err = os.Rename(filepath.Join(dir, "checkpoint-00000001"), filepath.Join(dir, "first"))
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "checkpoint-00000001"), other, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	mustRefuse(dir, "checkpoint-00000001: the checkpoint belongs to store")
	if err := os.Rename(filepath.Join(dir, "first"), filepath.Join(dir, "checkpoint-00000001")); err != nil {
		t.Fatal(err)
	}
	if err := store.Compact(dir); err != nil {
		t.Error(err)
	}
	if files := listing(t, dir); strings.Count(files, "\n") != 2 {
		t.Errorf("after Compact, the folder has the files\n%s\nwant two files", files)
	}

	n := liveOn(t, 3, 23) // makes a folder with a journal
	dir = crashtest.Copy(t, n.dir)
	files, err := store.Files(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if f.Kind == store.FileJournal {
			if err := os.Remove(filepath.Join(dir, f.Name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	mustRefuse(dir, "journal")
}
