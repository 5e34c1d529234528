// Package mapped maps bytes of files into regions instead of reading them: the operating system reads a page
// when the program first accesses it.
package mapped

import (
	"errors"
	"unsafe"
)

// PageSize is the size in bytes of the pages that can be mapped. On systems with larger pages, the caller
// must read the files.
const PageSize = 4096

// Regions holds the methods with which package vm maps files into its regions. Package vm sets Regions in an
// init function. The type is any, so that the linker leaves the methods out of programs that map nothing.
var Regions any

type regions interface {
	Supported() error
	Map(addr uintptr, n int, file uintptr, offset int64) (done bool, err error)
}

// Supported returns nil if this system can map files into regions. Otherwise it returns the reason as an
// error that wraps errors.ErrUnsupported.
func Supported() error {
	r, ok := Regions.(regions)
	if !ok {
		return errors.ErrUnsupported // the program has no regions, because it lacks package vm
	}
	return r.Supported()
}

// Map gives n bytes at p the contents of a file from offset on. p must lie in a region of package vm. p, n
// and offset must be multiples of [PageSize]. The bytes must be committed, and nothing else may use them
// during the call. The argument file is the descriptor of the file. The caller may close it after Map.
//
// The pages are private: a write to a page does not change the file. A write to the file changes pages to
// which the program has not written. An access to a page behind the end of the file is a memory fault
// (SIGBUS). Therefore the caller must check the size of the file first, and the file must not become shorter.
//
// If done is false and err is nil, nothing has changed, and the caller must read the file: the operating
// system, the region, the file system or the number of mappings does not allow the mapping. After an error,
// the bytes are not committed.
func Map(p unsafe.Pointer, n int, file uintptr, offset int64) (done bool, err error) {
	r, ok := Regions.(regions)
	if !ok {
		return false, nil
	}
	return r.Map(uintptr(p), n, file, offset)
}
