//go:build !linux

package vm

import (
	"errors"
	"unsafe"
)

// mapsFiles reports whether the backend of this system can map files.
const mapsFiles = false

// mapFile is supported only on Linux. Windows cannot map a file over memory that VirtualAlloc reserved.
// Package store maps pages of 4 KiB, but current Macs have pages of 16 KiB. No test could check mapFile on
// FreeBSD, because the tests do not run there. The systems of vm_other.go have only memory of the Go heap.
func (osBackend) mapFile(unsafe.Pointer, int, uintptr, int64) error { return errors.ErrUnsupported }
