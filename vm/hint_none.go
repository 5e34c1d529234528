//go:build (linux && !race) || darwin || freebsd

package vm

import "unsafe"

// reserveHint returns nil, so that the kernel chooses the address.
func reserveHint(int) unsafe.Pointer { return nil }
