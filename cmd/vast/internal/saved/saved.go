// Package saved loads worlds from the folders of stores and from files of store.Save, without the programs
// that saved the worlds.
package saved

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/store"
)

// Load loads a checkpoint of a store's folder, or the world in a saved file. moment is the number of the
// checkpoint; 0 stands for the newest checkpoint that can be read. The world has maxEntities slots, or more
// if the file needs more.
func Load(path string, moment uint64, maxEntities int) (*vast.World, *store.Report, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, err
	}
	o := vast.Options{Name: filepath.Base(path), MaxEntities: maxEntities}
	if info.IsDir() {
		return store.LoadMoment(path, moment, o)
	}
	if moment > 0 {
		return nil, nil, fmt.Errorf("%s is a single file and has no moments: leave out -moment", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	return store.LoadAny(f, o)
}

// Verify returns an error if a checkpoint file of the moment, or the saved file, is damaged. Load does not
// find all damage, because Load does not read all parts of the files. If moment is 0 and the newest
// checkpoint is damaged, Verify returns an error, even if Load can read an older checkpoint.
func Verify(path string, moment uint64) error {
	files, err := store.Verify(path, false)
	if err != nil {
		return err
	}
	checkpoints := make(map[uint64]store.File)
	newest := uint64(0)
	for _, f := range files {
		switch f.Kind {
		case store.FileWorld:
			return f.Err
		case store.FileCheckpoint:
			checkpoints[f.Number] = f
			newest = max(newest, f.Number)
		}
	}
	if moment == 0 {
		moment = newest
	}
	for ; moment > 0; moment = checkpoints[moment].Base { // a base has a lower number
		if f := checkpoints[moment]; f.Err != nil {
			return fmt.Errorf("%s: %w", f.Name, f.Err)
		}
	}
	return nil
}
