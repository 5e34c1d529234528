package vast

import (
	"errors"
	"math"
	"runtime"

	"github.com/vastgo/vast/vm"
)

// memory holds the few large reservations from which a world's columns are carved.
type memory struct {
	regions []*vm.Region
	left    int // number of free bytes in the last region
}

// pieceSize is the usual size of a reservation: large enough for dozens of columns of the default size, and
// small enough for thousands of worlds in the address space. Reservations on Windows and on the Go heap do
// not use pieceSize; min makes the constant fit in 32 bits.
const pieceSize = min(8<<30, math.MaxInt/4)

// dearAddresses is true if reserved addresses cost memory. Windows keeps page tables for them.
const dearAddresses = runtime.GOOS == "windows"

func defaultEntities(p vm.Pages) int {
	switch {
	case vm.HeapStandIn() || p == vm.PagesHeap:
		return 1 << 16
	case dearAddresses:
		return 1 << 20
	}
	return 1 << 24
}

// room returns a region with room for a number of bytes and for their alignment: to a huge page if they fill
// one, and otherwise to a page.
func (m *memory) room(o Options, bytes int) (*vm.Region, error) {
	bytes += vm.PageSize()
	if huge := vm.HugePageSize(); bytes >= huge {
		bytes += huge
	}
	if len(m.regions) > 0 && bytes <= m.left {
		m.left -= bytes
		return m.regions[len(m.regions)-1], nil
	}
	options := vm.Options{Name: o.Name, Limit: o.Limit, Pages: o.Pages, Recycle: true}
	size := bytes
	if o.Pages != vm.PagesHeap && !vm.HeapStandIn() && !dearAddresses {
		size = max(bytes, pieceSize)
	}
	r, err := vm.Reserve(size, options)
	if errors.Is(err, vm.ErrAddressSpace) && size > bytes {
		size = bytes
		r, err = vm.Reserve(size, options)
	}
	if err != nil {
		return nil, err
	}
	m.regions = append(m.regions, r)
	m.left = size - bytes
	return r, nil
}

func (m *memory) close() error {
	var all error
	for _, r := range m.regions {
		if err := r.Close(); err != nil {
			all = errors.Join(all, err)
		}
	}
	return all
}
