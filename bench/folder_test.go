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
	exists := func(dir string) bool {
		_, err := os.Stat(dir)
		return !errors.Is(err, os.ErrNotExist)
	}
	removeFolder(dirs[0])
	if exists(dirs[0]) || !exists(dirs[1]) || !exists(dirs[2]) {
		t.Error("removeFolder must remove the first folder and no other folder")
	}
	removeFolders()
	if exists(dirs[1]) || exists(dirs[2]) {
		t.Error("removeFolders did not remove all folders")
	}
	if dir, err := makeFolder(); err == nil {
		t.Errorf("makeFolder made %s after removeFolders", dir)
	}
}
