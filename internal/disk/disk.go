// Package disk is the folder of a store. Package store and its journal reach files only through a [Folder].
// [OpenFolder] returns a folder of the operating system. Tests also use the simulated folder of package sim,
// which loses, tears and damages data that was not synced. [LockFolder] keeps a second process out of a
// folder.
package disk

import "io"

// Folder is a folder without subfolders. Its methods may be called from any goroutine. [CheckName] defines
// the valid names of files. A call with an invalid name returns an error that is fs.ErrInvalid.
//
// A change is durable after Sync has returned. If the power fails before, any part of the changes may
// survive: some of the creations, renames and removals, in any order, and some sectors of a file without the
// sectors before them. Folder.Sync syncs the names of files, and File.Sync the bytes of a file. If only the
// process ends, files and names stay as the process left them, and the next Sync makes them durable.
type Folder interface {
	// Files returns the files in the order of their names. It leaves out subfolders and the file of
	// [LockFolder].
	Files() ([]Info, error)
	// Create makes an empty file to write and to read. It returns an error that is fs.ErrExist if the file
	// exists.
	Create(name string) (File, error)
	// Open opens a file to read. It returns an error that is fs.ErrNotExist if the file does not exist.
	Open(name string) (File, error)
	// Rename gives a file another name. It replaces a file that already has the new name. If the power fails,
	// the name of a replaced file refers to the replaced file or to the renamed file. Rename returns an error
	// that is fs.ErrNotExist if the file to rename does not exist. The two names must differ. Both files must
	// be closed: Windows refuses open files.
	Rename(from, to string) error
	// Remove removes a file. The file must be closed: Windows refuses an open file. Remove returns an error
	// that is fs.ErrNotExist if the file does not exist.
	Remove(name string) error
	// Sync makes all creations, renames and removals durable, not the bytes of files: see File.Sync. After an
	// error of Sync, the creations, renames and removals since the last successful Sync may be durable or
	// not, even if a later Sync succeeds.
	Sync() error
}

// Info describes a file.
type Info struct {
	Name string
	Size int64
}

// File is an open file. One goroutine at a time may call Write, WriteAt, Sync and Close; ReadAt may be called
// from any goroutine. After Close all methods return an error that is fs.ErrClosed.
type File interface {
	// ReadAt reads all bytes that were written, synced or not.
	io.ReaderAt
	// Write appends to a file that Create made. For a file that Open opened, Write returns an error that is
	// fs.ErrPermission. After another error, any part of the bytes may be in the file.
	io.Writer
	// WriteAt overwrites bytes of a file that Create made. The bytes must lie within the file. For a file
	// that Open opened, WriteAt returns an error that is fs.ErrPermission. If the power fails before the next
	// Sync, each sector has its bytes of the last Sync, or its bytes after one of the calls since then.
	io.WriterAt
	// Sync makes the bytes written so far durable, not the name of the file: see Folder.Sync. For a file that
	// Open opened, these are the bytes that other Files, and processes that have ended, wrote to the file.
	// After an error of Sync, the bytes since the last successful Sync may be durable or not, even if a later
	// Sync succeeds.
	Sync() error
	io.Closer
}
