package sim

import (
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/vastgo/vast/internal/disk"
)

// Mistake is a set of mistakes that a folder of [Break] makes.
type Mistake uint8

const (
	// FolderSyncDoesNothing: Sync of the folder succeeds, but makes no names durable.
	FolderSyncDoesNothing Mistake = 1 << iota
	// FileSyncEarly: Sync of a file returns before the bytes are durable. The next Write, WriteAt, Sync or
	// Close of the file makes them durable.
	FileSyncEarly
	// RenameBeforeData: the name of a new file is durable before its bytes are. The first Sync of a file that
	// Create made does nothing. The next Rename of the file, or the next Sync of the folder, makes first the
	// name and then the bytes durable.
	RenameBeforeData
)

// Break returns a folder that works like f, but makes the mistakes m on purpose. A test that passes with this
// folder does not find these mistakes.
func Break(f disk.Folder, m Mistake) disk.Folder {
	return &broken{Folder: f, mistake: m, late: make(map[string]bool)}
}

type broken struct {
	disk.Folder
	mistake Mistake
	mutex   sync.Mutex
	late    map[string]bool // files to sync after their names are durable
}

func (b *broken) Create(name string) (disk.File, error) {
	f, err := b.Folder.Create(name)
	if err != nil {
		return nil, err
	}
	return &brokenFile{File: f, folder: b, name: name, first: true}, nil
}

func (b *broken) Open(name string) (disk.File, error) {
	f, err := b.Folder.Open(name)
	if err != nil {
		return nil, err
	}
	return &brokenFile{File: f, folder: b, name: name}, nil
}

func (b *broken) Rename(from, to string) error {
	if err := b.Folder.Rename(from, to); err != nil {
		return err
	}
	b.mutex.Lock()
	late := b.late[from]
	delete(b.late, from)
	delete(b.late, to)
	b.mutex.Unlock()
	if !late {
		return nil
	}
	if err := b.Sync(); err != nil {
		return err
	}
	return b.syncFile(to)
}

func (b *broken) Remove(name string) error {
	b.mutex.Lock()
	delete(b.late, name)
	b.mutex.Unlock()
	return b.Folder.Remove(name)
}

func (b *broken) Sync() error {
	if b.mistake&FolderSyncDoesNothing == 0 {
		if err := b.Folder.Sync(); err != nil {
			return err
		}
	}
	b.mutex.Lock()
	late := slices.Sorted(maps.Keys(b.late))
	clear(b.late)
	b.mutex.Unlock()
	for _, name := range late {
		if err := b.syncFile(name); err != nil {
			return err
		}
	}
	return nil
}

func (b *broken) syncFile(name string) error {
	f, err := b.Folder.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

type brokenFile struct {
	disk.File
	folder *broken
	name   string // name of the file when it was opened
	first  bool   // whether Create made the file and Sync was not called yet
	early  bool   // whether Sync has returned before the bytes were durable
}

func (f *brokenFile) Write(p []byte) (int, error) {
	if err := f.finishSync(); err != nil {
		return 0, err
	}
	return f.File.Write(p)
}

func (f *brokenFile) WriteAt(p []byte, offset int64) (int, error) {
	if err := f.finishSync(); err != nil {
		return 0, err
	}
	return f.File.WriteAt(p, offset)
}

func (f *brokenFile) Sync() error {
	if err := f.finishSync(); err != nil {
		return err
	}
	if b := f.folder; b.mistake&RenameBeforeData != 0 && f.first {
		f.first = false
		b.mutex.Lock()
		b.late[f.name] = true
		b.mutex.Unlock()
		return nil
	}
	if f.folder.mistake&FileSyncEarly != 0 {
		f.early = true
		return nil
	}
	return f.File.Sync()
}

func (f *brokenFile) Close() error { return errors.Join(f.finishSync(), f.File.Close()) }

// finishSync syncs the file if an earlier Sync has returned before the bytes were durable.
func (f *brokenFile) finishSync() error {
	if !f.early {
		return nil
	}
	f.early = false
	return f.File.Sync()
}
