package store

import (
	"bytes"
	"sync"
	"unsafe"

	"github.com/vastgo/vast/internal/disk"
	"github.com/vastgo/vast/internal/executable"
	"github.com/vastgo/vast/internal/mapped"
	"github.com/vastgo/vast/vm"
)

func init() {
	if _, err := executable.Path(); err != nil { // WebAssembly
		executable.Path = func() (string, error) { return "export_test.go", nil }
	}
}

// OpenFolder opens a folder, such as a simulated one, and does not lock it.
var OpenFolder = open

// LongChains makes a store merge a chain only if the chain has more than maxDeltas deltas. If maxDeltas is 0,
// each checkpoint merges all files.
func (s *Store) LongChains(maxDeltas int) { s.share, s.maxDeltas = 1e9, maxDeltas }

// CompactFile makes the file of a checkpoint hold the complete world.
func CompactFile(folder disk.Folder, number uint64) error { return compact(folder, number) }

// The ways in which stores find memory that was written since the last checkpoint.
const (
	ByTheKernel  = "kernel"     // the kernel watches memory, if it can
	ByComparison = "comparison" // the store compares hashes of all memory
	Exactly      = "exactly"    // the test compares copies of all memory
)

// FindWritten sets how stores find written memory. A store keeps the way that is set at its first checkpoint.
// Until stop is called, every checkpoint copies arrays of all sizes after the pause, if possible.
func FindWritten(way string) (stop func()) {
	usual, least := newPages, minLate
	minLate = 1
	switch way {
	case ByComparison:
		newPages = func() pages { return nil }
	case Exactly:
		newPages = func() pages { return &exactPages{} }
	}
	return func() { newPages, minLate = usual, least }
}

// Protected returns how many blocks of memory the kernel watches for a store. possible reports whether the
// kernel can watch memory.
func (s *Store) Protected() (blocks int, possible bool) {
	p, possible := s.stage.pages.(*watchedPages)
	if possible {
		blocks, _ = p.w.Blocks()
	}
	return blocks, possible
}

// exactPages reports only memory that is uncommitted or whose bytes have changed since the previous scan.
type exactPages struct {
	before, now map[uintptr][]byte // pieces of memory at the last two scans, by address
	mu          sync.Mutex
	guarded     map[unsafe.Pointer][]byte
}

// grain is the size of the pieces of memory that are compared.
const grain = 64

func (p *exactPages) scan() { p.before, p.now = p.now, make(map[uintptr][]byte) }

func (p *exactPages) changed(base unsafe.Pointer, n int) (parts [][2]int, known bool) {
	for lo := 0; lo < n; {
		addr := uintptr(base) + uintptr(lo)
		hi := min(n, lo+grain-int(addr%grain))
		if place, inside := vm.Describe(addr); !inside || place.State&vm.PageCommitted != 0 {
			p.now[addr] = bytes.Clone(unsafe.Slice((*byte)(unsafe.Add(base, lo)), hi-lo))
		}
		if p.now[addr] == nil || !bytes.Equal(p.before[addr], p.now[addr]) {
			parts = append(parts, [2]int{lo, hi})
		}
		lo = hi
	}
	return parts, true
}

func (p *exactPages) guard(base unsafe.Pointer, n int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.guarded == nil {
		p.guarded = make(map[unsafe.Pointer][]byte)
	}
	p.guarded[base] = committed(base, n)
	return true
}

func (p *exactPages) release(base unsafe.Pointer, n int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return bytes.Equal(p.guarded[base], committed(base, n))
}

// committed returns a copy of the committed bytes of a range.
func committed(base unsafe.Pointer, n int) (copied []byte) {
	for lo := 0; lo < n; {
		addr := uintptr(base) + uintptr(lo)
		hi := min(n, lo+grain-int(addr%grain))
		if place, inside := vm.Describe(addr); !inside || place.State&vm.PageCommitted != 0 {
			copied = append(copied, unsafe.Slice((*byte)(unsafe.Add(base, lo)), hi-lo)...)
		}
		lo = hi
	}
	return copied
}

func (*exactPages) close() error { return nil }

// PlaceFrom makes stores align runs of at least n bytes in their files, so that these runs can be mapped, and
// makes stores map runs of at least one page. stop restores the usual lengths.
func PlaceFrom(n int) (stop func()) {
	place, least := minPlaced, minMapped
	minPlaced, minMapped = n, mapped.PageSize
	return func() { minPlaced, minMapped = place, least }
}

// Read makes stores read all elements of checkpoints, and map none. stop restores the usual behaviour.
func Read() (stop func()) {
	regions := mapped.Regions
	mapped.Regions = nil
	return func() { mapped.Regions = regions }
}
