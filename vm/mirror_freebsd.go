package vm

import "unsafe"

// mapTwice refuses, so that mirrors are copied. Memory without a name that can be mapped twice (SHM_ANON) is had from C
// only: the number of the call has changed between versions, and a kernel without the one that is asked for does not
// answer with an error but with a signal.
func mapTwice(_ unsafe.Pointer, n int, _ string) error {
	return &Error{Op: "mirror", Bytes: n, Err: ErrRefused,
		Detail: "shared memory without a name (SHM_ANON) is not to be had without C here, so every byte is copied once more"}
}
