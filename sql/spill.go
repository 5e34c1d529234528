package vastsql

import (
	"fmt"
	"sync/atomic"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/vfs"
	_ "github.com/ncruces/go-sqlite3/vfs/memdb" // the file system memdb
)

// spill is the file system of the temporary files to which SQLite writes sorted rows. The files are in
// memory. SQLite sorts runs of a few megabytes, writes each run to a file, and merges the runs. Without
// files, SQLite would allocate each row separately and sort all rows at once, which is slower.
type spill struct {
	vfs.VFS
	name string
	left atomic.Int64 // bytes by which the files may still grow
}

var spills atomic.Int64 // number of file systems so far, for unique names

// newSpill registers a file system whose files take at most limit bytes in total. vfs.Unregister with the
// name of the file system removes it.
func newSpill(limit int) *spill {
	s := &spill{VFS: vfs.Find("memdb"), name: fmt.Sprintf("vastsql-%d", spills.Add(1))}
	s.left.Store(int64(limit))
	vfs.Register(s.name, s)
	return s
}

// Open creates an empty file.
func (s *spill) Open(name string, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	f, flags, err := s.VFS.Open(name, flags)
	if err != nil {
		return nil, flags, err
	}
	return &spillFile{File: f, spill: s}, flags, nil
}

// spillFile is a temporary file.
type spillFile struct {
	vfs.File
	spill *spill
	size  int64
}

// WriteAt writes to the file. It returns sqlite3.FULL if the files become too large.
func (f *spillFile) WriteAt(b []byte, off int64) (int, error) {
	if err := f.resize(max(f.size, off+int64(len(b)))); err != nil {
		return 0, err
	}
	return f.File.WriteAt(b, off)
}

// Truncate changes the size of the file.
func (f *spillFile) Truncate(size int64) error {
	if err := f.resize(size); err != nil {
		return err
	}
	return f.File.Truncate(size)
}

// Close removes the file, and returns its bytes to the file system's limit.
func (f *spillFile) Close() error {
	_ = f.resize(0)
	return f.File.Close()
}

func (f *spillFile) resize(size int64) error {
	more := size - f.size
	if f.spill.left.Add(-more) < 0 && more > 0 {
		f.spill.left.Add(more)
		return sqlite3.FULL
	}
	f.size = size
	return nil
}
