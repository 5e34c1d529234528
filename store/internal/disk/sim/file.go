package sim

import (
	"math/rand/v2"
	"slices"
)

// sector is the number of bytes that survive a power cut together.
const sector = 512

// file is the content of a file. It only grows, so what is durable of a sector is its beginning.
type file struct {
	data    []byte // what programs see; copies share the array, so no byte of it changes
	durable int    // bytes below it are durable, except in lost
	size    int    // the size that is durable
	ends    []int  // ends of the calls of Write since durable
	// lost has the sectors that a failed Sync lost, with the number of their bytes that are durable.
	lost map[int]int
	open int // files that are open
}

func (f *file) copy() *file {
	c := *f
	c.data, c.ends = slices.Clip(f.data), slices.Clip(f.ends)
	c.lost = make(map[int]int, len(f.lost))
	for s, n := range f.lost {
		c.lost[s] = n
	}
	c.open = 0
	return &c
}

// write appends bytes.
func (f *file) write(p []byte) {
	if len(p) == 0 {
		return
	}
	last := f.durable / sector
	if n, lost := f.lost[last]; lost {
		// The last sector changes, so the next Sync writes it again.
		delete(f.lost, last)
		f.durable = last*sector + n
	}
	f.data = append(f.data, p...)
	f.ends = append(f.ends, len(f.data))
}

// sync makes all durable except what a failed Sync has lost.
func (f *file) sync() {
	f.durable, f.size, f.ends = len(f.data), len(f.data), nil
}

// failSync marks all sectors as synced, and loses at least one of those that were not.
func (f *file) failSync(r *rand.Rand) {
	if f.durable == len(f.data) {
		return
	}
	first, end := f.durable/sector, sectors(len(f.data))
	if f.lost == nil {
		f.lost = make(map[int]int)
	}
	surely := first + r.IntN(end-first)
	for s := first; s < end; s++ {
		if s == surely || r.IntN(2) == 0 {
			f.lost[s] = max(0, f.durable-s*sector)
		}
	}
	f.durable, f.ends = len(f.data), nil
}

// lose does to the file what a power cut does.
func (f *file) lose(r *rand.Rand) {
	chance := chances[r.IntN(len(chances))]
	kept := make([]byte, len(f.data))
	copy(kept, f.data[:f.durable])
	last := f.durable // the end of the last surviving sector
	for s, n := range f.lost {
		clear(kept[s*sector+n : min((s+1)*sector, len(kept))])
	}
	for s := f.durable / sector; f.durable < len(f.data) && s < sectors(len(f.data)); s++ {
		if r.Float64() >= chance {
			continue
		}
		end := f.version(r, s)
		copy(kept[s*sector:end], f.data[s*sector:end])
		last = max(last, end)
	}
	size := len(f.data)
	switch r.IntN(4) {
	case 0:
	case 1:
		size = f.size
	default:
		size = max(f.size, last)
	}
	*f = file{data: kept[:size]}
	f.sync()
}

// version returns the end of what one of the calls of Write left in a sector.
func (f *file) version(r *rand.Rand, s int) int {
	end := min((s+1)*sector, len(f.data))
	i, _ := slices.BinarySearch(f.ends, s*sector+1)
	j, _ := slices.BinarySearch(f.ends, end)
	// The calls i to j-1 ended in the sector, and the next one ended behind it or at its end.
	if n := i + r.IntN(j-i+1); n < j {
		return f.ends[n]
	}
	return end
}

// sectors returns the number of sectors of so many bytes.
func sectors(bytes int) int { return (bytes + sector - 1) / sector }
