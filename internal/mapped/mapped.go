// Package mapped puts bytes of files into regions without reading them: the system reads a page when a
// program touches it.
//
// Package vm sets [Regions]. Programs that map nothing do not have the code behind it.
package mapped

import (
	"errors"
	"unsafe"
)

// PageSize is the size in bytes of the pages that can be mapped. On systems with larger pages files are read.
const PageSize = 4096

// Regions holds the methods with which package vm maps files into its regions. Package vm sets it in an init
// function. The type is any, so that the linker leaves the methods out of programs that map nothing.
var Regions any

type regions interface {
	Supported() error
	Map(addr uintptr, n int, file uintptr, offset int64) (done bool, err error)
}

// Supported returns nil if files can be mapped into regions here, or else the reason, which wraps
// errors.ErrUnsupported.
func Supported() error {
	r, ok := Regions.(regions)
	if !ok {
		return errors.ErrUnsupported // the program has no regions, because it lacks package vm
	}
	return r.Supported()
}

// Map gives n bytes at p the contents of a file from offset on. p must lie in a region of package vm, all
// three must be multiples of the page size, the bytes must be committed, and nothing else may use them
// meanwhile. file is the file's descriptor, which may be closed afterwards.
//
// The pages are private: writing to them changes no file. Writing to the file changes pages that were not
// written. Touching a page behind the end of the file is a memory fault (SIGBUS), also if the file was cut
// afterwards: the caller must compare the size first.
//
// If done is false, nothing has changed, and the caller must read the file: the region, the file system or
// the number of mappings does not allow the mapping. After an error the bytes are not committed.
func Map(p unsafe.Pointer, n int, file uintptr, offset int64) (done bool, err error) {
	r, ok := Regions.(regions)
	if !ok {
		return false, nil
	}
	return r.Map(uintptr(p), n, file, offset)
}
