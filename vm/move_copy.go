//go:build darwin || freebsd || windows

package vm

import (
	"errors"
	"unsafe"
)

// move is not there: Windows and FreeBSD have no call for it, and macOS only one (mach_vm_remap) that leaves a second mapping of the
// same pages behind.
func (osBackend) move(_, _ unsafe.Pointer, _ int) error { return errors.ErrUnsupported }
