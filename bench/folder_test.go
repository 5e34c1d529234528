package main

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestFoldersAreRemoved(t *testing.T) {
	defer func() { folders.ended = false }()
	var dirs []string
	for range 3 {
		dir, err := makeFolder()
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, "file"), nil, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		dirs = append(dirs, dir)
	}
	is := func(dir string) bool {
		_, err := os.Stat(dir)
		return !errors.Is(err, os.ErrNotExist)
	}
	removeFolder(dirs[0])
	if is(dirs[0]) || !is(dirs[1]) || !is(dirs[2]) {
		t.Error("one folder is to be removed, with its file")
	}
	removeFolders() // as a signal does
	if is(dirs[1]) || is(dirs[2]) {
		t.Error("folders are left")
	}
	if dir, err := makeFolder(); err == nil {
		t.Errorf("the folder %s is made after the end", dir)
	}
}
