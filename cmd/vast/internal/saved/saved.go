// Package saved loads worlds from the folders of stores and from files of store.Save, without the programs
// that saved the worlds.
package saved

import (
	"errors"
	"fmt"
	"io/fs"
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

// maxRetries is the largest number of times that LoadVerified looks for the newest checkpoint again.
const maxRetries = 8

// LoadVerified is Load, and also verifies all files of the checkpoint: Load does not find all damage, because
// Load does not read all parts of the files. If moment is 0 and the newest checkpoint is damaged,
// LoadVerified returns an error, even if Load can read an older checkpoint. A program may have the folder
// open: if the program removes the newest checkpoint meanwhile, LoadVerified takes the next one.
func LoadVerified(path string, moment uint64, maxEntities int) (*vast.World, *store.Report, error) {
	for retries := maxRetries; ; retries-- {
		w, report, err := loadVerified(path, moment, maxEntities)
		if err == nil || moment > 0 || retries == 0 || !errors.Is(err, fs.ErrNotExist) {
			return w, report, err
		}
	}
}

func loadVerified(path string, moment uint64, maxEntities int) (*vast.World, *store.Report, error) {
	if moment == 0 {
		files, err := store.Files(path)
		if err != nil {
			return nil, nil, err
		}
		for _, f := range files {
			if f.Kind == store.FileCheckpoint {
				moment = max(moment, f.Number)
			}
		}
	}
	w, report, err := Load(path, moment, maxEntities)
	if err != nil {
		return nil, nil, err
	}
	if err := verify(path, moment); err != nil {
		return nil, nil, errors.Join(err, w.Close())
	}
	return w, report, nil
}

// verify returns an error if a file of the checkpoint with the number moment, or the saved file, is damaged.
func verify(path string, moment uint64) error {
	files, err := store.Verify(path, false)
	if err != nil {
		return err
	}
	checkpoints := make(map[uint64]store.File)
	for _, f := range files {
		switch f.Kind {
		case store.FileWorld:
			return f.Err
		case store.FileCheckpoint:
			checkpoints[f.Number] = f
		}
	}
	for number := moment; number > 0; {
		f, ok := checkpoints[number]
		switch {
		case !ok:
			return fmt.Errorf("checkpoint %d of %s: %w", number, path, fs.ErrNotExist)
		case f.Err != nil:
			return fmt.Errorf("%s: %w", f.Name, f.Err)
		}
		number = f.Base // a base has a lower number
	}
	return nil
}
