package disk_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vastgo/vast/internal/disk"
)

func TestOpenFolder(t *testing.T) {
	dir := t.TempDir()
	if _, err := disk.OpenFolder(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("opening a missing folder returned %v, want fs.ErrNotExist", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := disk.OpenFolder(filepath.Join(dir, "file")); err == nil {
		t.Error("a file was opened as a folder")
	}
}

func TestFilesWithoutSubfolderAndLock(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "subfolder"), 0o700); err != nil {
		t.Fatal(err)
	}
	lock, err := disk.LockFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	f := openFolder(t, dir)
	create(t, f, "b", "two")
	create(t, f, "a", "")
	files, err := f.Files()
	if err != nil || len(files) != 2 || files[0] != (disk.Info{Name: "a"}) ||
		files[1] != (disk.Info{Name: "b", Size: 3}) {
		t.Errorf("Files returned %v, %v; want a of 0 bytes and b of 3 bytes", files, err)
	}
}

func TestFolderAfterChdir(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	f := openFolder(t, ".")
	t.Chdir(os.TempDir())
	create(t, f, "a", "one")
	if text, err := os.ReadFile(filepath.Join(dir, "a")); string(text) != "one" || err != nil {
		t.Errorf("the file holds %q, want \"one\"; error %v", text, err)
	}
}

func TestNames(t *testing.T) {
	f := openFolder(t, t.TempDir())
	create(t, f, "a", "one")
	for _, name := range []string{"", ".", "..", "a/b", "/a", "../a", `a\b`, "a:b", "a\x00", "lock", "LOCK",
		strings.Repeat("n", 256)} {
		_, created := f.Create(name)
		_, opened := f.Open(name)
		for _, err := range []error{created, opened, f.Rename("a", name), f.Rename(name, "b"),
			f.Remove(name)} {
			if !errors.Is(err, fs.ErrInvalid) {
				t.Errorf("a call with the name %q returned %v, want fs.ErrInvalid", name, err)
			}
		}
	}
	for _, name := range []string{"a.b", "..a", "journal-00000001", "lock2", strings.Repeat("n", 255)} {
		if err := disk.CheckName("create", name); err != nil {
			t.Error(err)
		}
	}
}

func TestSyncOfOpenedFile(t *testing.T) {
	f := openFolder(t, t.TempDir())
	create(t, f, "a", "one")
	file, err := f.Open("a")
	if err != nil {
		t.Fatal(err)
	}
	if err := file.Sync(); err != nil {
		t.Errorf("Sync: %v", err)
	}
	if n, err := file.Write([]byte("two")); n != 0 || !errors.Is(err, fs.ErrPermission) {
		t.Errorf("Write returned %d, %v; want 0, fs.ErrPermission", n, err)
	}
	if n, err := file.WriteAt([]byte("two"), 0); n != 0 || !errors.Is(err, fs.ErrPermission) {
		t.Errorf("WriteAt returned %d, %v; want 0, fs.ErrPermission", n, err)
	}
	if err := file.Close(); err != nil {
		t.Error(err)
	}
	if err := file.Sync(); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Sync after Close returned %v, want fs.ErrClosed", err)
	}
	if err := f.Sync(); err != nil {
		t.Errorf("Sync of the folder: %v", err)
	}
	if text := read(t, f, "a"); text != "one" {
		t.Errorf("the file holds %q, want \"one\"", text)
	}
}

func openFolder(t testing.TB, dir string) disk.Folder {
	t.Helper()
	f, err := disk.OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func create(t testing.TB, f disk.Folder, name, text string) {
	t.Helper()
	file, err := f.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(file, text); err != nil {
		t.Error(err)
	}
	if err := errors.Join(file.Sync(), file.Close()); err != nil {
		t.Error(err)
	}
}

func read(t testing.TB, f disk.Folder, name string) string {
	t.Helper()
	file, err := f.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var text bytes.Buffer
	if _, err := text.ReadFrom(io.NewSectionReader(file, 0, 1<<20)); err != nil {
		t.Error(err)
	}
	return text.String()
}
