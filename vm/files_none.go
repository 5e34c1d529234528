//go:build !linux

package vm

import (
	"errors"
	"unsafe"
)

// mapsFiles is whether a backend can map files.
const mapsFiles = false

// mapFile is not supported. Windows maps no file over memory that was reserved otherwise, macOS has pages of
// 16 KiB on the machines that it is made for, and the tests do not run on FreeBSD.
func (osBackend) mapFile(unsafe.Pointer, int, uintptr, int64) error { return errors.ErrUnsupported }
