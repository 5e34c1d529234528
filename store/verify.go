package store

import (
	"cmp"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/disk"
	"github.com/vastgo/vast/store/internal/journal"
)

// Verify examines the files of a store's folder, or a single file that [Save] has written, and returns a
// [File] for each. File.Err is the damage that Verify has found in the file. Verify checks:
//   - each byte of all checkpoints and of the journal, and the free space at the end of the journal
//   - that the checkpoints continue each other, and that the journal continues the checkpoints
//   - that every file exists that another file names
//
// An unfinished checkpoint and a torn end of the journal are no damage: a crash may leave them. Files of
// other programs have FileUnknown and no error.
//
// If deep is true, Verify also loads each checkpoint as [LoadMoment] does, without mapping, and checks that
// the parts of the world fit together. Checksums find accidents. Deep checks also find forged files whose
// parts contradict each other.
//
// Verify changes nothing and takes no lock. The result lacks files that a program removes during the call.
//
// Complexity: reads the files once, and the segments of the journal several times; deep also loads each
// checkpoint. If a file is missing, Verify reads all files again, at most twice.
func Verify(path string, deep bool) ([]File, error) {
	for try := 0; ; try++ {
		l, err := list(path)
		if err == nil {
			err = l.verify(path, deep)
		}
		if err != nil {
			return nil, fmt.Errorf("store: verifying %q: %w", path, err)
		}
		// While a program replaces a file, the list may lack the old file and the new file.
		missing := func(f File) bool { return f.Kind == FileMissing }
		if try == 2 || !slices.ContainsFunc(l.files, missing) {
			return l.files, nil
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func (l *listing) verify(path string, deep bool) error {
	if l.folder == nil {
		l.files[0].Err = verifySaved(path, deep)
		return nil
	}
	id, known := l.identity()
	for i := range l.files {
		f := &l.files[i]
		check := func() error { return l.check(f, id, known) }
		if f.Err == nil {
			f.Err = again(check)
		}
		if (f.Name == begunName || f.Kind == FileNewest) && f.Bytes > 0 {
			f.Err = errors.New("the file is not empty")
		}
	}
	l.verifyNewest()
	l.verifyChains()
	if known {
		l.verifyJournal(id)
	} else {
		l.verifyNew()
	}
	if deep {
		for i := range l.files {
			if f := &l.files[i]; f.Kind == FileCheckpoint && f.Err == nil {
				f.Err = loadDeep(l.folder, f.Number)
			}
		}
	}
	l.files = slices.DeleteFunc(l.files, func(f File) bool {
		return f.Kind != FileMissing && errors.Is(f.Err, fs.ErrNotExist) && l.gone(f.Name)
	})
	return nil
}

// again calls check, and repeats a failed check at most twice, because a program may be writing the file.
func again(check func() error) error {
	err := check()
	for range 2 {
		if err != nil {
			time.Sleep(10 * time.Millisecond)
			err = check()
		}
	}
	return err
}

// outdated reports whether the folder now has a checkpoint newer than newest. The program that wrote this
// checkpoint may have removed the journal of older checkpoints.
func (l *listing) outdated(newest uint64) bool {
	files, err := l.folder.Files()
	return err == nil && slices.ContainsFunc(files, func(f disk.Info) bool {
		number, finished, ok := checkpointNumber(f.Name)
		return ok && finished && number > newest
	})
}

func (l *listing) gone(name string) bool {
	files, err := l.folder.Files()
	return err == nil && !slices.ContainsFunc(files, func(f disk.Info) bool { return f.Name == name })
}

// identity returns the store's identity from the newest checkpoint with a sound manifest.
func (l *listing) identity() (id [16]byte, known bool) {
	newest := uint64(0)
	for _, m := range l.kept {
		if own, err := storeOf(m); err == nil && m.Number >= newest {
			id, known, newest = own, true, m.Number
		}
	}
	return id, known
}

func (l *listing) check(f *File, id [16]byte, known bool) error {
	switch f.Kind {
	case FileCheckpoint:
		if err := ofStore(l.kept[f.Name], id); err != nil {
			return err
		}
		file, err := l.folder.Open(f.Name)
		if err != nil {
			return err
		}
		return errors.Join(verifyBlocks(file, f.Bytes), file.Close())
	case FileJournal:
		if known {
			return journal.Check(l.folder, id, uint32(f.Number))
		}
	}
	return nil
}

func ofStore(m *keptManifest, id [16]byte) error {
	if own, err := storeOf(m); err != nil || own != id {
		return errors.Join(err, fmt.Errorf("the checkpoint belongs to store %s, but other checkpoints "+
			"belong to store %s", m.Store, identity(id)))
	}
	return nil
}

// verifyBlocks reads all blocks of a file, and checks that nothing follows them.
func verifyBlocks(src io.ReaderAt, size int64) error {
	at := &places{src: src}
	y, err := openLayer(at, "")
	if err != nil {
		return err
	}
	var room []byte
	for {
		begin := at.offset
		b, err := y.r.next()
		if err != nil {
			return fmt.Errorf("byte %d: %w", begin, err)
		}
		number := y.r.blocks - 1
		switch {
		case b.size > uint64(math.MaxInt64-at.offset) || at.offset+int64(b.size) > size:
			return fmt.Errorf("byte %d: block %d has %d bytes, but the file ends at byte %d", begin, number,
				b.size, size)
		case b.kind < blockExtents || b.kind > blockZero:
			return fmt.Errorf("byte %d: block %d has the unknown kind %d", begin, number, b.kind)
		case b.kind == blockEnd && b.count != number:
			return fmt.Errorf("byte %d: %d blocks come before the last block, which says that there are %d",
				begin, number, b.count)
		}
		if err := checkBytes(at, int64(b.size), number, y.r.sum, &room); err != nil {
			return fmt.Errorf("byte %d: %w", begin, err)
		}
		if b.kind != blockEnd {
			continue
		}
		if at.offset != size {
			return fmt.Errorf("byte %d: %d bytes follow the end of the world", at.offset, size-at.offset)
		}
		return nil
	}
}

func checkBytes(src *places, n int64, number uint64, sum uint32, room *[]byte) error {
	crc := crc32.New(castagnoli)
	for n > 0 {
		*room = resize(*room, int(min(n, maxBlock)))
		if err := src.read(*room); err != nil {
			return fmt.Errorf("block %d: %w", number, err)
		}
		crc.Write(*room)
		n -= int64(len(*room))
	}
	return matching(crc.Sum32(), number, sum)
}

func verifySaved(path string, deep bool) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err == nil {
		err = verifyBlocks(file, info.Size())
	}
	if err != nil || !deep {
		return err
	}
	w, _, err := LoadAny(file, vast.Options{})
	if err != nil {
		return err
	}
	return w.Close()
}

func loadDeep(folder disk.Folder, number uint64) error {
	c, err := openChain(folder, number)
	if err != nil {
		return err
	}
	w, _, err := readAny(c.layers, vast.Options{}, false)
	if err = errors.Join(err, c.close()); err != nil {
		return err
	}
	return w.Close()
}

// verifyChains checks that the checkpoints continue each other. A crash may leave old checkpoints whose base
// was removed. If the base of the newest checkpoint is missing, the store has lost its world.
func (l *listing) verifyChains() {
	numbers := make(map[uint64]bool)
	newest := uint64(0)
	for _, f := range l.files {
		if f.Kind == FileCheckpoint {
			numbers[f.Number] = true
			newest = max(newest, f.Number)
		}
	}
	files := make([]*File, len(l.files))
	for i := range l.files {
		files[i] = &l.files[i]
	}
	// Check a base before the checkpoints that continue it.
	slices.SortFunc(files, func(a, b *File) int { return cmp.Compare(a.Number, b.Number) })
	for _, f := range files {
		if f.Kind != FileCheckpoint || f.Err != nil {
			continue
		}
		if f.Number != newest && f.Base > 0 && !numbers[f.Base] {
			f.Kind = FileUnfinished // a program was removing the chain
			delete(numbers, f.Number)
			continue
		}
		c, err := openChain(l.folder, f.Number)
		if err == nil {
			err = c.close()
		}
		f.Err = err
	}
}

// verifyJournal checks that the journal continues the checkpoints.
func (l *listing) verifyJournal(id [16]byte) {
	firstSegment := uint64(math.MaxUint64)
	for _, f := range l.files {
		if f.Kind == FileJournal {
			firstSegment = min(firstSegment, f.Number)
		}
	}
	moments := l.moments()
	if len(moments) == 0 {
		return
	}
	newest := moments[len(moments)-1]
	// The part of the journal that follows a checkpoint includes the parts that follow all later checkpoints.
	// So it is enough to check the newest checkpoint, and the oldest checkpoint whose journal was not
	// removed.
	oldest := slices.IndexFunc(moments, func(f File) bool {
		m := l.kept[f.Name]
		return m.Segment > 0 && uint64(m.Since) >= firstSegment
	})
	for _, f := range []File{newest, moments[max(oldest, 0)]} {
		m := l.kept[f.Name]
		if m.Segment == 0 || oldest < 0 && f.Number != newest.Number {
			continue
		}
		err := again(func() error { return l.leadsOn(id, m, f.Number == newest.Number) })
		// A program may have removed the journal together with its checkpoint.
		if err != nil && !l.gone(f.Name) && !l.outdated(newest.Number) {
			l.blame(f.Name, err)
			return
		}
	}
}

// leadsOn checks the journal from a checkpoint on. For the newest checkpoint, it also checks the contents of
// the records.
func (l *listing) leadsOn(id [16]byte, m *keptManifest, newest bool) error {
	tail, err := journal.Read(l.folder, id, m.Segment, m.Position)
	if err != nil || !newest {
		return err
	}
	s := &Store{tail: tail, segment: m.Segment, base: m.Tick}
	s.next = m.Number + 1
	_, err = s.readTail()
	return err
}

// blame adds an error of the journal to the file that the error names. If the error names no file, blame adds
// it to the checkpoint. If the list lacks the named file, blame adds the file as missing.
func (l *listing) blame(checkpoint string, err error) {
	name := checkpoint
	var damage *journal.Damage
	if errors.As(err, &damage) {
		name = damage.File
	}
	for i := range l.files {
		if f := &l.files[i]; f.Name == name {
			f.Err = errors.Join(f.Err, err)
			return
		}
	}
	l.files = append(l.files, File{Name: name, Kind: FileMissing, Err: err})
}

// verifyNewest checks the checkpoint that the file newest-… names. It reports this checkpoint as missing if
// the folder has neither this checkpoint nor a newer one.
func (l *listing) verifyNewest() {
	var named, newest File // the file newest-… with the highest number, and the newest checkpoint
	for _, f := range l.files {
		if f.Kind == FileNewest && f.Number > named.Number {
			named = f
		} else if f.Kind == FileCheckpoint && f.Number > newest.Number {
			newest = f
		}
	}
	if newest.Number < named.Number {
		l.files = append(l.files, File{Name: checkpointName(named.Number), Kind: FileMissing,
			Err: fmt.Errorf("%s says that the checkpoint was durable", named.Name)})
	}
}

// verifyNew checks a folder without a sound checkpoint.
func (l *listing) verifyNew() {
	var infos []disk.Info
	for _, f := range l.files {
		if f.Kind == FileCheckpoint {
			return // the checkpoint has an error already
		}
		if f.Kind != FileLock {
			infos = append(infos, disk.Info{Name: f.Name})
		}
	}
	if _, _, err := checkpointFiles(infos); err != nil {
		l.files = append(l.files, File{Name: checkpointName(1), Kind: FileMissing, Err: err})
	}
}

// Compact reduces the folder of a store to the newest checkpoint and the journal that follows it. Compact
// writes the checkpoint as one complete file. It removes all other checkpoints, older parts of the journal,
// and files that a crash has left. If Compact is interrupted, the folder holds the same world.
//
// Compact locks the folder. If another process has the folder open, the error names that process. Before
// Compact removes files, it checks the files that it keeps. If one of these is damaged or missing, the error
// names this file, and Compact removes no checkpoint and no part of the journal.
//
// Complexity: reads the files of the newest checkpoint and the journal that follows it, writes one file, and
// reads that file.
func Compact(dir string) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("store: compacting %q: %w", filepath.Clean(dir), err)
		}
	}()
	if _, err := os.Stat(dir); err != nil {
		return err
	}
	lock, err := disk.LockFolder(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	folder, err := disk.OpenFolder(dir)
	if err != nil {
		return err
	}
	files, err := folder.Files()
	if err != nil {
		return err
	}
	numbers, leftovers, err := checkpointFiles(files)
	if err != nil {
		return err
	}
	if len(numbers) == 0 {
		return nil
	}
	if _, err := lostNewest(files, numbers); err != nil {
		return err
	}
	newest := numbers[len(numbers)-1]
	m, err := leadingOn(dir, newest)
	if err != nil {
		return err
	}
	if err := compact(folder, newest); err != nil {
		return err
	}
	l, err := list(dir)
	if err != nil {
		return err
	}
	name := checkpointName(newest)
	i := slices.IndexFunc(l.files, func(f File) bool { return f.Name == name })
	id, known := l.identity()
	if err := errors.Join(l.files[i].Err, l.check(&l.files[i], id, known)); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	for _, name := range leftovers {
		if err := folder.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	for k := len(numbers) - 2; k >= 0; k-- { // newest first: after a crash, no file continues a removed file
		if err := folder.Remove(checkpointName(numbers[k])); err != nil {
			return err
		}
	}
	for _, f := range l.files {
		if f.Kind == FileJournal && f.Number < uint64(m.Since) {
			if err := folder.Remove(f.Name); err != nil {
				return err
			}
		}
	}
	return folder.Sync()
}

// leadingOn returns the manifest of the newest checkpoint in a folder. It returns an error if the journal
// does not continue this checkpoint, or if other checkpoints belong to another store.
func leadingOn(dir string, newest uint64) (*keptManifest, error) {
	l, err := list(dir)
	if err != nil {
		return nil, err
	}
	id, _ := l.identity()
	for _, f := range l.files {
		m := l.kept[f.Name]
		switch {
		case f.Name == checkpointName(newest) && f.Err != nil:
			return nil, f.Err
		case m == nil: // Compact later finds the damage if the newest checkpoint continues this checkpoint
		default:
			if err := ofStore(m, id); err != nil {
				return nil, fmt.Errorf("%s: %w", f.Name, err)
			}
		}
	}
	m := l.kept[checkpointName(newest)]
	if m.Segment > 0 {
		err = l.leadsOn(id, m, true)
	}
	return m, err
}
