// Package disk is the folder of a store. Package store and its journal reach files only through a [Folder]: the
// operating system's, or in tests a simulated one that loses, tears and damages what was not synced.
package disk

import "io"

// Folder is a folder without subfolders. Names of files hold no separators. Its methods may be called from any
// goroutine.
type Folder interface {
	// Files returns the files in the order of their names.
	Files() ([]Info, error)
	// Create makes a file to write. It returns an error that is fs.ErrExist if the file exists.
	Create(name string) (File, error)
	// Open opens a file to read. It returns an error that is fs.ErrNotExist if there is none.
	Open(name string) (File, error)
	// Rename gives a file another name, and replaces a file of that name.
	Rename(from, to string) error
	// Remove removes a file.
	Remove(name string) error
	// Sync makes all creations, renames and removals durable.
	Sync() error
}

// Info describes a file.
type Info struct {
	Name string
	Size int64
}

// File is an open file. One goroutine at a time may call Write, Sync and Close; ReadAt may be called from any
// goroutine.
type File interface {
	io.ReaderAt
	// Write appends to a file that Create made.
	io.Writer
	// Sync makes the bytes written so far durable, not the name of the file: see Folder.Sync. After an error of
	// Sync nothing is known about the bytes since the last Sync that succeeded, even if another Sync succeeds.
	Sync() error
	io.Closer
}
