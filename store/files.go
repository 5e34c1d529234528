package store

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/disk"
	"github.com/vastgo/vast/store/internal/journal"
)

// File is a file in the folder of a store, or a file that [Save] has written.
type File struct {
	Name    string
	Kind    FileKind
	Bytes   int64
	Written time.Time // time of the last write, by the clock of the file system
	Number  uint64    // number of the checkpoint or journal segment; for FileNewest, of the named checkpoint
	Tick    uint64    // the last tick in a checkpoint
	Taken   time.Time // when the checkpoint was taken, by the clock of the program; zero if not known
	Base    uint64    // the checkpoint that this one continues; 0 if the file holds all of the world
	Err     error     // what is wrong with the file, or nil
}

// FileKind says what a file in a folder is.
type FileKind string

const (
	FileCheckpoint FileKind = "checkpoint" // the world at one moment, or the changes since another checkpoint
	FileJournal    FileKind = "journal"    // inputs and ticks
	FileUnfinished FileKind = "unfinished" // an incomplete checkpoint, or the empty file of a new store
	FileNewest     FileKind = "newest"     // names a checkpoint that the folder must have
	FileLock       FileKind = "lock"       // says which process has the folder open
	FileWorld      FileKind = "world"      // written by Save
	FileUnknown    FileKind = "unknown"    // does not belong to a store
	FileMissing    FileKind = "missing"    // a file that other files need, and that the folder lacks
)

const lockFile = "lock"

// Files lists the files of a store's folder in the order of their names. If path is the path of a file that
// [Save] has written, Files lists only this file. Files reads only the first block of each checkpoint, which
// describes the contents; [Verify] reads everything. Files takes no lock: a program can keep its world in the
// folder at the same time.
func Files(path string) ([]File, error) {
	l, err := list(path)
	if err != nil {
		return nil, fmt.Errorf("store: listing %q: %w", path, err)
	}
	return l.files, nil
}

type listing struct {
	folder disk.Folder // nil if the path names a file
	files  []File
	kept   map[string]*keptManifest // sound descriptions of checkpoints, by file name
	// removed is whether a program removed a file while list read the folder. The list may then also lack
	// files that the program wrote.
	removed bool
}

func list(path string) (*listing, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	l := &listing{kept: make(map[string]*keptManifest)}
	if !info.IsDir() {
		l.files = []File{{Name: path, Kind: FileWorld, Bytes: info.Size(), Written: info.ModTime()}}
		return l, nil
	}
	if l.folder, err = disk.OpenFolder(path); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) {
			l.removed = true
			continue
		}
		if err != nil {
			return nil, err
		}
		f := File{Name: entry.Name(), Bytes: info.Size(), Written: info.ModTime()}
		if l.classify(&f, info); errors.Is(f.Err, fs.ErrNotExist) {
			l.removed = true
			continue
		}
		l.files = append(l.files, f)
	}
	return l, nil
}

// classify finds out what a file is, and reads the description of a checkpoint.
func (l *listing) classify(f *File, info fs.FileInfo) {
	number, finished, ok := checkpointNumber(f.Name)
	segment := journal.Number(f.Name)
	switch {
	case !info.Mode().IsRegular():
		f.Kind = FileUnknown
	case strings.EqualFold(f.Name, lockFile):
		f.Kind = FileLock
	case f.Name == begunName, ok && !finished:
		f.Kind = FileUnfinished
	case newestNumber(f.Name) > 0:
		f.Kind, f.Number = FileNewest, newestNumber(f.Name)
	case segment > 0:
		f.Kind, f.Number = FileJournal, uint64(segment)
	case ok:
		f.Kind, f.Number = FileCheckpoint, number
		y, file, err := openCheckpoint(l.folder, number)
		if err == nil {
			err = file.Close()
			l.kept[f.Name] = y.m.Kept
			f.Tick, f.Base = y.m.Kept.Tick, y.m.Kept.Base
			if taken := y.m.Kept.Taken; taken != 0 {
				f.Taken = time.UnixMilli(taken)
			}
		}
		f.Err = err
	default:
		f.Kind = FileUnknown
	}
}

// moments returns the checkpoints that can be read, oldest first. The description of such a checkpoint is
// sound, and so are the descriptions of all files that it continues.
func (l *listing) moments() []File {
	all := slices.DeleteFunc(slices.Clone(l.files), func(f File) bool {
		return f.Kind != FileCheckpoint || f.Err != nil
	})
	slices.SortFunc(all, func(a, b File) int { return cmp.Compare(a.Number, b.Number) })
	there := map[uint64]bool{0: true}
	return slices.DeleteFunc(all, func(f File) bool {
		there[f.Number] = there[f.Base] // a base comes first, because it has a lower number
		return !there[f.Number]
	})
}

// maxRetries is the largest number of times that onMoments lists a folder again.
const maxRetries = 8

// onMoments calls f with the moments of a folder, oldest first. If a file vanishes meanwhile, or f finds
// damage in the journal, onMoments lists the folder and calls f again: a program that has the folder open may
// have removed files or may be writing the journal.
func onMoments(dir string, f func(folder disk.Folder, moments []File) error) error {
	for retries := maxRetries; ; retries-- {
		l, err := list(dir)
		if err != nil {
			return err
		}
		if l.folder == nil {
			return errors.New("the path names a file, and not the folder of a store: use Load or LoadAny " +
				"for a file that Save has written")
		}
		again := l.removed
		if moments := l.moments(); len(moments) > 0 {
			err = f(l.folder, moments)
			again = errors.Is(err, fs.ErrNotExist) || errors.As(err, new(*journal.Damage))
		} else {
			err = errors.New("the folder holds no checkpoint that can be read: Verify names what is damaged")
		}
		if err == nil || retries == 0 || !again {
			return err
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// LoadMoment reads a checkpoint of a store without the program that keeps the store, as [LoadAny] reads a
// saved world. number is the File.Number of the checkpoint; 0 stands for the newest one. LoadMoment takes no
// lock: a program may have the folder open. If that program removes the checkpoint before LoadMoment has read
// it, the error is fs.ErrNotExist. On Windows, the program cannot remove a file while LoadMoment reads it:
// the program's Options.Notify gets the error as PruneErr, and the next checkpoint removes the file.
//
// On Linux with pages of 4 KiB, LoadMoment maps long runs of elements from the files, if the types of the
// elements and the order of the columns are the same in the world and in the file. The system reads a mapped
// page at the first access. Changes of the world do not change the files. Mapped pages count as committed
// memory. LoadMoment reads and checks all other data. It does not check the checksums of mapped elements: see
// [Verify].
//
// Do not change or shorten the files while the world is open. An access to a mapped page that is gone, or
// that the disk cannot read, is a memory fault, which vm.Watch explains. The program that keeps its world in
// the folder does not change mapped files. It may remove them, which does no harm.
//
// Complexity: reads and checks all data except mapped elements.
func LoadMoment(dir string, number uint64, o vast.Options) (w *vast.World, r *Report, err error) {
	err = onMoments(dir, func(folder disk.Folder, moments []File) error {
		at := len(moments) - 1
		if number > 0 {
			if at = slices.IndexFunc(moments, func(f File) bool { return f.Number == number }); at < 0 {
				return fmt.Errorf("%s: %w", checkpointName(number), fs.ErrNotExist)
			}
		}
		c, err := openChain(folder, moments[at].Number)
		if err != nil {
			return err
		}
		w, r, err = readAny(c.layers, o, true)
		return errors.Join(err, c.close())
	})
	if err != nil {
		return nil, nil, fmt.Errorf("store: loading a moment of %q: %w", filepath.Clean(dir), err)
	}
	return w, r, nil
}
