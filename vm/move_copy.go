//go:build darwin || freebsd || windows

package vm

import (
	"errors"
	"unsafe"
)

// move is not supported: Windows and FreeBSD have no call that moves pages, and the call of macOS
// (mach_vm_remap) keeps the old mapping of the pages.
func (osBackend) move(_, _ unsafe.Pointer, _ int) error { return errors.ErrUnsupported }
