//go:build !linux

package vm

import (
	"errors"
	"unsafe"
)

// mapsFiles reports whether the backend of this system can map files.
const mapsFiles = false

// mapFile is not supported. Windows cannot map a file over memory that VirtualAlloc reserved. Files can be
// mapped only in pages of 4 KiB, and current Macs have pages of 16 KiB. The tests do not run on FreeBSD.
func (osBackend) mapFile(unsafe.Pointer, int, uintptr, int64) error { return errors.ErrUnsupported }
