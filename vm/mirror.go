package vm

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"github.com/vastgo/vast/internal/fault"
)

// Only mirrors return these errors.
var (
	// ErrRefused: a sandbox, a security policy or the system itself does not allow mapping memory twice.
	ErrRefused = errors.New("mapping memory twice is refused")
	// ErrDescriptors: the process, or the system, has reached its limit of open files (RLIMIT_NOFILE).
	ErrDescriptors = errors.New("too many open files")
)

// Mirror is memory that appears twice in a row: byte i is also byte i + Size. In a ring buffer, every run of
// up to Size bytes is contiguous, even if it crosses the end of the first half.
//
// If the system refuses to map memory twice, and on the heap stand-in, a mirror is ordinary memory of twice
// the size, and [Mirror.Written] copies from one half to the other. [Mirror.Refused] returns the reason.
//
// All of a mirror is Committed, and memory is taken when a page is first touched. The methods may be called
// from many goroutines; the caller must synchronize accesses to the memory.
type Mirror struct {
	r       *Region // region of twice the size
	size    int
	refused error // why Written copies; nil if the halves are the same memory
}

// maxMirror is the largest size in bytes. Doubling and rounding it does not overflow.
const maxMirror = maxReserve / 4

// ReserveMirror makes a mirror of the given number of bytes, rounded up to whole pages (on Windows to 64
// KiB): nothing → Committed. The mirror counts as 2 × Size reserved and Size committed bytes. If the halves
// are copies, it counts as 2 × Size committed bytes. Mirrors do not use huge pages.
//
// The memory depends on the system:
//
//   - Linux: shared anonymous memory, mapped a second time by mremap without a file descriptor. If mremap is
//     refused, the memory is a memfd, whose descriptor ReserveMirror closes.
//   - macOS: an unlinked temporary file.
//   - Windows: shared memory backed by the paging file.
//   - FreeBSD: copies, because mapping memory twice is always refused.
//
// On Windows, and on Linux in strict overcommit mode, ReserveMirror charges all of the memory, so touching it
// cannot fail later.
//
// ReserveMirror returns an [*Error] wrapping ErrSize, ErrLimit, ErrDataLimit, ErrAddressSpace, ErrMappings,
// ErrDescriptors, ErrOvercommit or ErrCommitCharge. A refusal is not an error: see [Mirror.Refused].
func ReserveMirror(bytes int, o Options) (*Mirror, error) {
	var made origin
	made.record()
	return mirrorOn(chosen(o.Pages), bytes, o, made)
}

func mirrorOn(b backend, bytes int, o Options, made origin) (*Mirror, error) {
	if o.Name == "" {
		o.Name = "other"
	}
	if bytes <= 0 || bytes > maxMirror {
		return nil, &Error{Op: "mirror", Purpose: o.Name, Bytes: bytes, Err: ErrSize,
			Detail: fmt.Sprintf("ask for 1 to %d bytes", maxMirror)}
	}
	if o.Limit == nil {
		o.Limit = DefaultLimit()
	}
	size := roundUp(bytes, max(pageSize, mirrorUnit))
	var refused error
	if b.reuses() {
		r, err := mapMirror(b, size, o, made)
		if err == nil {
			return &Mirror{r: r, size: size}, nil
		}
		if !errors.Is(err, ErrRefused) {
			return nil, err
		}
		refused = err
	} else {
		refused = &Error{Op: "mirror", Purpose: o.Name, Bytes: size, Err: ErrRefused,
			Detail: "regions are Go heap memory here (" + runtime.GOOS + "/" + runtime.GOARCH +
				", the race detector, or PagesHeap)"}
	}
	r, err := reserveOn(b, 2*size, o, made)
	if err != nil {
		return nil, err
	}
	if err := r.Commit(0, 2*size); err != nil {
		_ = r.Close()
		return nil, err
	}
	return &Mirror{r: r, size: size, refused: refused}, nil
}

// mapMirror makes the region of a mirror whose halves are the same memory. Only the first half counts as
// committed: the second half takes no memory of its own.
func mapMirror(b backend, size int, o Options, made origin) (*Region, error) {
	if detail := tooManyMappings(b, 2); detail != "" {
		return nil, &Error{Op: "mirror", Purpose: o.Name, Bytes: size, Err: ErrMappings, Detail: detail}
	}
	if !o.Limit.take(size) {
		return nil, o.Limit.exceeded("mirror", o.Name, size)
	}
	base, err := b.mirror(size, "vast: "+o.Name)
	if err != nil {
		o.Limit.give(size)
		return nil, mirrorError(b, o.Name, size, err)
	}
	m := &mapping{be: mirrored{b}, base: base, size: 2 * size, pages: o.Pages, limit: o.Limit, made: made}
	m.committed.add(0, size)
	register(m, o.Name)
	m.counted.committed.Add(int64(size))
	if m.be.reuses() {
		m.mappings = 2
		mappingsUsed.Add(2)
	}
	r := &Region{m: m}
	m.cleanup = runtime.AddCleanup(r, leaked, m)
	return r, nil
}

func mirrorError(b backend, purpose string, size int, err error) error {
	if e, ok := err.(*Error); ok { // b.mirror has explained the error
		e.Purpose = purpose
		return e
	}
	e := &Error{Op: "mirror", Purpose: purpose, Bytes: size}
	switch {
	case errors.Is(err, ErrDescriptors):
		e.Err = ErrDescriptors
		e.Detail = err.Error() + ": raise RLIMIT_NOFILE (ulimit -n) or close files: a mirror needs one " +
			"descriptor for a moment"
	case errors.Is(err, ErrRefused):
		e.Err = ErrRefused
		e.Detail = err.Error() + ": allow the call in the sandbox; until then every byte is copied once more"
	default:
		e.Detail, e.Err = b.explain("mirror", size, err)
	}
	return e
}

// mirrored is the backend of a region whose halves are the same memory. Such a region uses its backend only
// to close and to count the bytes in memory.
type mirrored struct{ backend }

func (b mirrored) reset(p unsafe.Pointer, n int) error { return b.unmirror(p, n/2) }

// decommit closes the whole mirror, as reset does. Close calls decommit after a failed reset, for the
// committed bytes: n is the size of one half.
func (b mirrored) decommit(p unsafe.Pointer, n int) (bare bool, err error) {
	return true, b.unmirror(p, n)
}

func (b mirrored) name(unsafe.Pointer, int, string) {}

func (b mirrored) advise(unsafe.Pointer, int, bool) error { return nil }

func (b mirrored) reuses() bool { return mirrorsServeRegions }

func (b injected) mirror(n int, name string) (unsafe.Pointer, error) {
	if err := fault.Check("mirror"); err != nil {
		return nil, err
	}
	return b.backend.mirror(n, name)
}

func (b injected) unmirror(p unsafe.Pointer, n int) error {
	if err := fault.Check("unmirror"); err != nil {
		return err
	}
	return b.backend.unmirror(p, n)
}

// mirror is never called: mirrorOn makes mirrors only on backends that reuse addresses.
func (heapBackend) mirror(int, string) (unsafe.Pointer, error) { return nil, ErrRefused }

func (heapBackend) unmirror(unsafe.Pointer, int) error { return nil }

// Base returns the first address of the 2 × Size bytes. It does not change while the mirror is open.
func (m *Mirror) Base() unsafe.Pointer { return m.r.m.base }

// Size returns the size of one half in bytes.
func (m *Mirror) Size() int { return m.size }

// Refused returns nil if both halves are the same memory. Otherwise it returns an [*Error] wrapping
// ErrRefused, with the reason why [Mirror.Written] copies.
func (m *Mirror) Refused() error { return m.refused }

// Written makes the bytes written at [off, off+n) appear in the other half. Call Written before reading these
// bytes in the other half. n must be at most Size; the range may lie in both halves. Written does nothing if
// both halves are the same memory.
func (m *Mirror) Written(off, n int) {
	if m.refused != nil {
		m.copyAcross(off, n)
	}
}

// copyAcross copies the part of a range in each half to the other half.
func (m *Mirror) copyAcross(off, n int) {
	if off < 0 || n < 0 || n > m.size || off > 2*m.size-n {
		panic(fmt.Sprintf("vm: Written(%d, %d) reaches outside a mirror of 2 × %d bytes, or has more bytes "+
			"than one half (%s)", off, n, m.size, m.r.m.counted.purpose))
	}
	b := unsafe.Slice((*byte)(m.Base()), 2*m.size)
	border := min(max(off, m.size), off+n) // end of the part in the first half
	if off < border {
		copy(b[off+m.size:], b[off:border])
	}
	if border < off+n {
		copy(b[border-m.size:], b[border:off+n])
	}
}

// Resident returns the number of bytes in memory.
func (m *Mirror) Resident() (int, error) { return m.r.Resident() }

// Close gives the memory back to the system. Later regions or mirrors of this process get the addresses, as
// with [Region.Close]. On Windows, only later mirrors of the same size get the addresses. Pointers into the
// mirror must not be used afterwards. A second Close does nothing. On Windows before Windows 10 version 1803,
// the memory stays charged and serves the next mirror of the same size.
//
// If the process has too many mappings, Close returns an [*Error] wrapping ErrMappings. The mirror is still
// open after an error, and Close may be called again.
func (m *Mirror) Close() error { return m.r.Close() }
