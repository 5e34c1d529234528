// Package disk reads and writes the files of a store. Package store and its journal reach files only through
// a [Folder]. [OpenFolder] returns a folder of the operating system. Package sim has a simulated folder for
// tests, which loses, tears and damages data that was not synced. [LockFolder] keeps other processes out of a
// folder.
package disk

import "io"

// Folder is a folder without subfolders. Its methods may be called from any goroutine. [CheckName] defines
// the valid names of files. A call with an invalid name returns an error that is fs.ErrInvalid.
//
// Folder.Sync makes the names of files durable, and File.Sync makes the bytes of a file durable. If the power
// fails before a change is synced, any part of the changes may survive: some of the creations, renames and
// removals, and some sectors of a file, in any combination. If only the process ends, no change is lost, and
// the next Sync makes the changes durable.
type Folder interface {
	// Files returns the files in the order of their names. It leaves out subfolders and the file of
	// [LockFolder].
	Files() ([]Info, error)
	// Create makes an empty file for writing and reading. It returns an error that is fs.ErrExist if the file
	// exists.
	Create(name string) (File, error)
	// Open opens a file for reading. It returns an error that is fs.ErrNotExist if the file does not exist.
	Open(name string) (File, error)
	// Rename renames a file. If another file already has the new name, Rename replaces it. The two names must
	// differ. The files must be closed: Windows refuses to rename or replace an open file. Rename returns an
	// error that is fs.ErrNotExist if no file has the old name. If the power fails before Sync, the name of a
	// replaced file refers to the replaced file or to the renamed file.
	Rename(from, to string) error
	// Remove removes a file. The file must be closed: Windows refuses to remove an open file. Remove returns
	// an error that is fs.ErrNotExist if the file does not exist.
	Remove(name string) error
	// Sync makes all creations, renames and removals durable. It does not sync the bytes of files: see
	// File.Sync. After Sync has failed, the changes since the last successful Sync may be lost when the power
	// fails, even if a later Sync succeeds.
	Sync() error
}

// Info describes a file.
type Info struct {
	Name string
	Size int64
}

// File is an open file. One goroutine at a time may call Write, WriteAt, Sync and Close. ReadAt may be called
// from any goroutine. After Close, all methods return an error that is fs.ErrClosed.
type File interface {
	// ReadAt also reads bytes that were written and not yet synced.
	io.ReaderAt
	// Write appends to a file that Create made. For a file that Open opened, Write returns an error that is
	// fs.ErrPermission. After any other error, any part of the bytes may be in the file.
	io.Writer
	// WriteAt overwrites bytes of a file that Create made. The bytes must lie within the file. For a file
	// that Open opened, WriteAt returns an error that is fs.ErrPermission. If the power fails before the next
	// Sync, each sector holds the bytes that it held at the last Sync, or after one of the later calls.
	io.WriterAt
	// Sync makes all bytes of the file durable, also bytes that another File or an earlier process wrote. It
	// does not sync the name of the file: see Folder.Sync. After Sync has failed, the bytes since the last
	// successful Sync may be lost when the power fails, even if a later Sync succeeds.
	Sync() error
	io.Closer
}
