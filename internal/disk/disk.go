// Package disk is the folder of a store. Package store and its journal reach files only through a [Folder]:
// the operating system's ([OpenFolder]), or in tests a simulated one (package sim) that loses, tears and
// damages what was not synced. [LockFolder] keeps a second process away.
package disk

import "io"

// Folder is a folder without subfolders. Its methods may be called from any goroutine. [CheckName] tells
// which names files may have; the error of another name is fs.ErrInvalid.
//
// Nothing is durable before the call of Sync that makes it durable has returned. If the power fails before,
// any part of the changes may survive: some of the creations, renames and removals, in any order, and some
// sectors of a file without those before them. The bytes of a file and the name of the file are synced by
// different calls. If only the process ends, files and names stay as they were last seen; they are durable
// after the next Sync.
type Folder interface {
	// Files returns the files in the order of their names. It leaves out subfolders and the file of
	// [LockFolder].
	Files() ([]Info, error)
	// Create makes an empty file to write and to read. It returns an error that is fs.ErrExist if the file
	// exists.
	Create(name string) (File, error)
	// Open opens a file to read. It returns an error that is fs.ErrNotExist if there is none.
	Open(name string) (File, error)
	// Rename gives a file another name. A file that already has that name is replaced. If the power fails,
	// the new name refers to the replaced file or to the renamed one, never to none. It returns an error that
	// is fs.ErrNotExist if there is no file to rename. The two names must differ. Both files must be closed:
	// Windows refuses open ones.
	Rename(from, to string) error
	// Remove removes a file, which must be closed: Windows refuses an open one. It returns an error that is
	// fs.ErrNotExist if there is none.
	Remove(name string) error
	// Sync makes all creations, renames and removals durable, not the bytes of files: see File.Sync. After an
	// error nothing is known about those since the last Sync that succeeded, even if another Sync succeeds.
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
	// ReadAt sees all that was written, synced or not.
	io.ReaderAt
	// Write appends to a file that Create made. On a file that Open opened it returns an error that is
	// fs.ErrPermission. After an error any part of the bytes may be in the file.
	io.Writer
	// WriteAt overwrites bytes of a file that Create made. The bytes must lie within the file. It refuses a
	// file that Open opened, as Write does. When the power goes before the next Sync, each sector has its old
	// bytes or those of one of the calls since the last Sync.
	io.WriterAt
	// Sync makes the bytes written so far durable, not the name of the file: see Folder.Sync. On a file that
	// Open opened it makes durable what other Files, and processes that have ended, wrote to the file. After
	// an error of Sync nothing is known about the bytes since the last Sync that succeeded, even if another
	// Sync succeeds.
	Sync() error
	io.Closer
}
