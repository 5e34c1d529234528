package disk

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// fileMode is the mode of new files before the umask. Only the owner may write.
const fileMode = 0o644

// OpenFolder returns a folder of the operating system. The folder must exist. A later change of the working
// directory has no effect on the folder.
//
// Sync of a file is fdatasync on Linux, F_FULLFSYNC on macOS, FlushFileBuffers on Windows, and fsync on other
// systems. Sync of the folder is F_FULLFSYNC on macOS, nothing on Windows and on some hosts of WebAssembly
// (see syncFolder), and fsync on other systems.
func OpenFolder(dir string) (Folder, error) {
	dir, err := absolute(dir)
	if err != nil {
		return nil, err
	}
	return osFolder(dir), nil
}

// MakeFolder makes a folder and its missing parent folders, and makes their names durable. It does nothing if
// the folder exists.
func MakeFolder(dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	above := filepath.Dir(dir)
	if err := MakeFolder(above); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncFolder(above)
}

// absolute returns the absolute path of a folder that exists.
func absolute(dir string) (string, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return "", err
	}
	if !info.IsDir() {
		return "", &fs.PathError{Op: "open folder", Path: dir, Err: syscall.ENOTDIR}
	}
	return filepath.Abs(dir)
}

// osFolder is the absolute path of a folder of the operating system.
type osFolder string

func (f osFolder) path(operation, name string) (string, error) {
	if err := CheckName(operation, name); err != nil {
		return "", err
	}
	return filepath.Join(string(f), name), nil
}

func (f osFolder) Files() ([]Info, error) {
	entries, err := os.ReadDir(string(f)) // in the order of names
	if err != nil {
		return nil, err
	}
	files := make([]Info, 0, len(entries))
	for _, entry := range entries {
		if !entry.Type().IsRegular() || isLock(entry.Name()) {
			continue
		}
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed since ReadDir
		}
		if err != nil {
			return nil, err
		}
		files = append(files, Info{Name: entry.Name(), Size: info.Size()})
	}
	return files, nil
}

func (f osFolder) Create(name string) (File, error) {
	path, err := f.path("create", name)
	if err != nil {
		return nil, err
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return nil, err
	}
	return osFile{file}, nil
}

func (f osFolder) Open(name string) (File, error) {
	path, err := f.path("open", name)
	if err != nil {
		return nil, err
	}
	file, err := openToSync(path)
	if err != nil {
		return nil, err
	}
	return readFile{osFile{file}}, nil
}

func (f osFolder) Rename(from, to string) error {
	source, err := f.path("rename", from)
	if err != nil {
		return err
	}
	target, err := f.path("rename", to)
	if err != nil {
		return err
	}
	return rename(source, target)
}

func (f osFolder) Remove(name string) error {
	path, err := f.path("remove", name)
	if err != nil {
		return err
	}
	return os.Remove(path)
}

func (f osFolder) Sync() error { return syncFolder(string(f)) }

type osFile struct{ *os.File }

func (f osFile) Sync() error { return syncFile(f.File) }

// readFile is a file of the operating system that osFolder.Open returned.
type readFile struct{ osFile }

// Write always fails. On Windows, the file is open for writing, so the operating system would not refuse: see
// openToSync.
func (f readFile) Write([]byte) (int, error) { return f.refuse() }

func (f readFile) WriteAt([]byte, int64) (int, error) { return f.refuse() }

func (f readFile) refuse() (int, error) {
	if _, err := f.Seek(0, io.SeekCurrent); err != nil {
		return 0, err // the file is closed
	}
	return 0, &fs.PathError{Op: "write", Path: f.Name(), Err: fs.ErrPermission}
}

// Descriptor calls f with the file descriptor and the size of a file, and returns true. It works only for
// files that the method Open of a folder from [OpenFolder] has returned. For other files, Descriptor returns
// false and does not call f.
func Descriptor(file File, f func(descriptor uintptr, size int64)) (bool, error) {
	opened, ok := file.(readFile)
	if !ok {
		return false, nil
	}
	info, err := opened.Stat()
	if err != nil {
		return false, err
	}
	connection, err := opened.SyscallConn()
	if err != nil {
		return false, err
	}
	return true, connection.Control(func(descriptor uintptr) { f(descriptor, info.Size()) })
}
