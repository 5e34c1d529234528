//go:build darwin || freebsd || windows

package vm

import (
	"errors"
	"unsafe"
)

// move is not supported: Windows and FreeBSD have no call for it, and the call of macOS (mach_vm_remap)
// leaves a second mapping of the same pages behind.
func (osBackend) move(_, _ unsafe.Pointer, _ int) error { return errors.ErrUnsupported }
