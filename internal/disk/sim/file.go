package sim

import (
	"maps"
	"math/rand/v2"
	"slices"
)

// sector is the size of a sector in bytes. These bytes survive a power cut together, or are lost together.
const sector = 512

// file is the content of a file. Programs cannot make a file shorter.
type file struct {
	data    []byte // bytes that programs read; not changed in place, because copies share the array
	durable int    // bytes below this offset are durable, except in the sectors of rewritten and lost
	size    int    // size at the last successful Sync
	ends    []int  // len(data) after each call of Write since the last Sync
	// rewritten maps each sector that was rewritten since the last Sync to its versions: the durable version,
	// and the version after each later call. WriteAt rewrites sectors, and so does a Write to a lost sector.
	rewritten map[int][][]byte
	// lost has the sectors that a failed Sync has lost, each with its durable bytes.
	lost map[int][]byte
	open int // number of open handles
}

func (f *file) copy() *file {
	c := *f
	c.data, c.ends = slices.Clip(f.data), slices.Clip(f.ends)
	c.lost = maps.Clone(f.lost)
	c.rewritten = maps.Clone(f.rewritten)
	for s, versions := range c.rewritten {
		c.rewritten[s] = slices.Clip(versions)
	}
	c.open = 0
	return &c
}

func (f *file) write(p []byte) {
	if len(p) == 0 {
		return
	}
	last := len(f.data) / sector
	if _, lost := f.lost[last]; lost || f.rewritten[last] != nil {
		f.rewrite(last) // the last sector changes, so the next Sync writes it again
	}
	f.data = append(f.data, p...)
	f.ends = append(f.ends, len(f.data))
	f.noteVersion(last)
}

func (f *file) writeAt(p []byte, offset int) {
	if len(p) == 0 {
		return
	}
	first, end := offset/sector, sectors(offset+len(p))
	for s := first; s < end; s++ {
		f.rewrite(s)
	}
	f.data = slices.Clone(f.data)
	copy(f.data[offset:], p)
	for s := first; s < end; s++ {
		f.noteVersion(s)
	}
}

// rewrite prepares a sector for a change: it records in f.rewritten the versions of the sector so far.
func (f *file) rewrite(s int) {
	if f.rewritten[s] != nil {
		return
	}
	if f.rewritten == nil {
		f.rewritten = make(map[int][][]byte)
	}
	f.rewritten[s] = [][]byte{f.durableBytes(s)}
	delete(f.lost, s)
	if f.durable >= (s+1)*sector {
		return
	}
	first, _ := slices.BinarySearch(f.ends, s*sector+1)
	for _, end := range f.ends[first:] {
		f.rewritten[s] = append(f.rewritten[s], f.data[s*sector:min(end, (s+1)*sector)])
		if end >= (s+1)*sector {
			return
		}
	}
}

// noteVersion records the present bytes of a sector as a version, if the sector is in f.rewritten.
func (f *file) noteVersion(s int) {
	if versions := f.rewritten[s]; versions != nil {
		f.rewritten[s] = append(versions, f.sector(s))
	}
}

func (f *file) sector(s int) []byte { return f.data[s*sector : min((s+1)*sector, len(f.data))] }

func (f *file) durableBytes(s int) []byte {
	if versions := f.rewritten[s]; versions != nil {
		return versions[0]
	}
	if b, lost := f.lost[s]; lost {
		return b
	}
	return f.data[s*sector : min((s+1)*sector, max(f.durable, s*sector))]
}

// dirty returns the unsynced sectors, in order.
func (f *file) dirty() []int {
	all := slices.Collect(maps.Keys(f.rewritten))
	if f.durable < len(f.data) {
		for s := f.durable / sector; s < sectors(len(f.data)); s++ {
			if f.rewritten[s] == nil {
				all = append(all, s)
			}
		}
	}
	slices.Sort(all)
	return all
}

// sync makes all bytes durable except in the sectors that a failed Sync has lost.
func (f *file) sync() {
	f.durable, f.size, f.ends, f.rewritten = len(f.data), len(f.data), nil, nil
}

// failSync marks all sectors as synced, and loses at least one of the unsynced sectors.
func (f *file) failSync(r *rand.Rand) {
	dirty := f.dirty()
	if len(dirty) == 0 {
		return
	}
	if f.lost == nil {
		f.lost = make(map[int][]byte)
	}
	chosen := dirty[r.IntN(len(dirty))]
	for _, s := range dirty {
		if s == chosen || r.IntN(2) == 0 {
			f.lost[s] = f.durableBytes(s)
		}
	}
	f.durable, f.ends, f.rewritten = len(f.data), nil, nil
}

// lose loses a random part of the unsynced sectors, as a power cut does.
func (f *file) lose(r *rand.Rand) {
	chance := chances[r.IntN(len(chances))]
	kept := make([]byte, len(f.data))
	copy(kept, f.data[:f.durable])
	last := f.durable // the end of the last surviving sector
	put := func(s int, version []byte) {
		clear(kept[s*sector : min((s+1)*sector, len(kept))])
		copy(kept[s*sector:], version)
	}
	for s, version := range f.lost {
		put(s, version)
	}
	for _, s := range f.dirty() {
		if r.Float64() >= chance {
			put(s, f.durableBytes(s))
			continue
		}
		version := f.version(r, s)
		put(s, version)
		last = max(last, s*sector+len(version))
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

// version returns the bytes that a random call since the last Sync left in a sector.
func (f *file) version(r *rand.Rand, s int) []byte {
	if versions := f.rewritten[s]; versions != nil {
		return versions[1+r.IntN(len(versions)-1)]
	}
	end := min((s+1)*sector, len(f.data))
	i, _ := slices.BinarySearch(f.ends, s*sector+1)
	j, _ := slices.BinarySearch(f.ends, end)
	// The calls i to j-1 ended within the sector. Call j ended at or after the end of the sector.
	if n := i + r.IntN(j-i+1); n < j {
		end = f.ends[n]
	}
	return f.data[s*sector : end]
}

func sectors(n int) int { return (n + sector - 1) / sector }
