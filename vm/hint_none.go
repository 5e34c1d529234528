//go:build (linux && !race) || darwin || freebsd

package vm

import "unsafe"

// reserveHint lets the kernel choose the place.
func reserveHint(int) unsafe.Pointer { return nil }
