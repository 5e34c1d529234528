//go:build linux && !race

package vm

import "unsafe"

// reserveHint lets the kernel choose the place.
func reserveHint(int) unsafe.Pointer { return nil }
