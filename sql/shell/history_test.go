package shell

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func TestHistory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "history")
	h := &history{path: path}
	if entries, err := h.load(); len(entries) != 0 || err != nil {
		t.Fatal(entries, err)
	}
	for i := range historyLines + 10 {
		if err := h.add(fmt.Sprint("SELECT ", i, ";")); err != nil {
			t.Fatal(err)
		}
	}
	checkMode(t, path)
	entries, err := (&history{path: path}).load()
	if err != nil || len(entries) != historyLines || entries[0] != "SELECT 10;" ||
		entries[historyLines-1] != fmt.Sprint("SELECT ", historyLines+9, ";") {
		t.Errorf("%d entries, %v, %.40q", len(entries), err, entries)
	}
	if left, err := os.ReadDir(filepath.Dir(path)); len(left) != 1 || err != nil {
		t.Errorf("the folder has %v, %v", left, err)
	}
}

func checkMode(t *testing.T, path string) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("the mode of the history is %v, want 0600", info.Mode())
	}
}

// TestForeignHistory loads a file that other programs wrote.
func TestForeignHistory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history")
	text := "SELECT 1;\r\n\n\x1b]0;title\x07\nSELECT '\xff';\nSELECT 'é';"
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	entries, err := (&history{path: path}).load()
	if want := []string{"SELECT 1;", "SELECT 'é';"}; err != nil || !slices.Equal(entries, want) {
		t.Errorf("got %q, %v, want %q", entries, err, want)
	}
	checkMode(t, path)

	// Only the end of a large file is read.
	text = strings.Repeat("x", 2*historyBytes) + strings.Repeat("\nSELECT 2;", 3)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	entries, err = (&history{path: path}).load()
	if want := slices.Repeat([]string{"SELECT 2;"}, 3); err != nil || !slices.Equal(entries, want) {
		t.Errorf("%d entries, %v, want %q", len(entries), err, want)
	}
	if now, err := os.ReadFile(path); err != nil || string(now) != strings.Repeat("SELECT 2;\n", 3) {
		t.Errorf("the file has %d bytes, %v", len(now), err)
	}
}

// TestSharedHistory checks that processes with one file keep each other's entries.
func TestSharedHistory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history")
	a, b := &history{path: path}, &history{path: path}
	for i, h := range []*history{a, b, a} {
		if err := h.add(fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
	}
	if entries, err := b.load(); err != nil || !slices.Equal(entries, []string{"0", "1", "2"}) {
		t.Errorf("got %q, %v", entries, err)
	}
}

func TestHistoryFails(t *testing.T) {
	folder := t.TempDir()
	if _, err := (&history{path: folder}).load(); err == nil {
		t.Error("a folder is a history")
	}
	if err := (&history{path: folder}).add("x"); err == nil {
		t.Error("a folder takes entries")
	}
	if err := (&history{}).add("x"); err != nil {
		t.Error(err)
	}
}

func FuzzHistory(f *testing.F) {
	f.Add([]byte("SELECT 1;\nSELECT 2"))
	f.Add([]byte("\x00\n\xff\n\u009b\n"))
	path := filepath.Join(f.TempDir(), "history")
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		entries, err := (&history{path: path}).load()
		if err != nil || len(entries) > historyLines {
			t.Fatalf("%d entries, %v", len(entries), err)
		}
		for _, e := range entries {
			if strings.ContainsFunc(e, unsafeRune) {
				t.Errorf("the entry %q is not safe", e)
			}
		}
	})
}
