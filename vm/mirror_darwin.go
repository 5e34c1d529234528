package vm

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mapTwice maps an unlinked temporary file, because named shared memory and vm_remap need C. The system may
// write the contents to disk from time to time, which does not block the process. mapTwice allocates all of
// the disk space, because touching a page without disk space would end the process.
func mapTwice(p unsafe.Pointer, n int, _ string) error {
	f, err := os.CreateTemp("", "vast-mirror-*")
	switch {
	case errors.Is(err, unix.EMFILE), errors.Is(err, unix.ENFILE):
		return fmt.Errorf("%w: %w", ErrDescriptors, err)
	case err != nil:
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	defer f.Close()
	if err := os.Remove(f.Name()); err != nil {
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	room := unix.Fstore_t{Flags: unix.F_ALLOCATEALL, Posmode: unix.F_PEOFPOSMODE, Length: int64(n)}
	if err := unix.FcntlFstore(f.Fd(), unix.F_PREALLOCATE, &room); err != nil {
		return fmt.Errorf("%w: a temporary file of %d bytes: %w", ErrRefused, n, err)
	}
	if err := f.Truncate(int64(n)); err != nil {
		return fmt.Errorf("%w: a temporary file of %d bytes: %w", ErrRefused, n, err)
	}
	return mapFileTwice(p, n, int(f.Fd()))
}
