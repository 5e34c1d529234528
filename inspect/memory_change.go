package inspect

import (
	"context"
	"encoding/binary"
	"math/bits"
	"slices"
	"sync"
	"time"

	"github.com/vastgo/vast/vm"
)

const (
	maxLenses    = 4                      // largest number of kept lenses
	maxMarks     = 1 << 17                // wanted number of units of a lens; a pass ends at 4*maxMarks units
	maxLines     = 1 << 17                // wanted number of cache lines read in a pass: 8 MiB
	passInterval = 950 * time.Millisecond // shortest time between two passes; the page requests one a second
	passStale    = 5 * time.Second        // longest time between two passes that are compared
	linesAtOnce  = 64                     // wanted number of cache lines read between two checks of the time
	lineBytes    = 64                     // size of a cache line, the smallest amount that a processor reads
)

// changes finds the units of memory that change. A pass hashes each unit of resident memory, and compares
// the hash with the unit's hash in the previous pass. Write protection would find every write, but costs a
// page fault for the first write to each page and splits huge pages: see
// docs/decisions/0016-change-by-comparison.md.
type changes struct {
	mu     sync.Mutex
	lenses []*lens // the most recently used lens comes first
}

// lens keeps the last pass over the places [from, to): see layout. A lens serves all pictures with about the
// same range and scale.
type lens struct {
	from, to int        // the first unit begins at from
	unit     int        // size of a unit in bytes
	passing  sync.Mutex // held during a pass
	seen     pass       // last pass; guarded by changes.mu
}

// pass is the result of one comparison. A finished pass does not change.
type pass struct {
	at      time.Time // time of the pass
	seconds float64   // time since the previous pass; 0 if the pass was not compared
	sampled bool      // whether only some cache lines of each unit were read
	marks   []mark    // marks of the units with resident bytes, in order
}

// mark is the hash of a unit.
type mark struct {
	at      int // place of the unit's first byte
	hash    uint32
	changed bool // whether the hash has changed since the previous pass
}

// drawChange computes the share of changed units in each cell.
func (in *Inspector) drawChange(ctx context.Context, p *memoryPicture, l *layout) error {
	view := in.memory.changes.lensFor(p, l)
	seen, err := in.passNow(ctx, view, l)
	if err != nil {
		return err
	}
	p.seconds, p.sampled = seen.seconds, seen.sampled
	if seen.seconds == 0 {
		return nil
	}
	base := 0
	for _, c := range p.ranges {
		at, _ := slices.BinarySearchFunc(seen.marks, c.from-view.unit+1,
			func(m mark, place int) int { return m.at - place })
		for i := range c.n {
			from, to := c.border(i), c.border(i+1)
			for at < len(seen.marks) && seen.marks[at].at+view.unit <= from {
				at++
			}
			known, changed := 0, 0
			for k := at; k < len(seen.marks) && seen.marks[k].at < to; k++ {
				known++
				if seen.marks[k].changed {
					changed++
				}
			}
			if known > 0 {
				p.notes[base+i] |= noteValue
				p.value[base+i] = share(changed, known)
			}
		}
		base += c.n
	}
	return nil
}

// lensFor returns a lens that fits a picture, and makes a lens if none fits. If there are then more than
// maxLenses lenses, lensFor drops the least recently used lens.
func (c *changes) lensFor(p *memoryPicture, l *layout) *lens {
	from, to, cell := p.ranges[0].from, p.ranges[0].to, p.ranges[0].to-p.ranges[0].from
	for _, r := range p.ranges {
		from, to = min(from, r.from), max(to, r.to)
		cell = min(cell, max(1, (r.to-r.from)/r.n))
	}
	// If the picture has a single range, and cells of equal size that are smaller than a page, each cell is a
	// unit. Otherwise the size of units is a power of two, so that several pictures can share a lens. If
	// there would be too many units in either case, unitFor chooses larger units.
	finest, phase := cell, 0
	if one := p.ranges[0]; len(p.ranges) > 1 || (one.to-one.from)%one.n != 0 || cell >= vm.PageSize() {
		finest = 1 << (bits.Len(uint(cell)) - 1)
	} else {
		phase = from % cell
	}
	unit := finest
	if coarse := unitFor(l.committed(from, to)); coarse > finest {
		unit, phase = coarse, 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, have := range c.lenses {
		// A lens with units of twice the size also fits. Otherwise a small decrease of the committed memory
		// could require a new lens.
		if have.from <= from && to <= have.to && (have.from%have.unit == phase%have.unit &&
			have.unit == unit || have.unit == 2*unit && unit > finest) {
			copy(c.lenses[1:i+1], c.lenses[:i])
			c.lenses[0] = have
			return have
		}
	}
	// The new lens reaches beyond the picture on both sides, so that a small move of the picture needs no new
	// lens. If the wider range would need larger units, the lens has the range of the picture.
	half := (to - from) / 2
	wide := &lens{from: from - min(from-phase, half)/unit*unit, to: min(l.bytes, to+half), unit: unit}
	if unitFor(l.committed(wide.from, wide.to)) > unit {
		wide.from, wide.to = from, to
	}
	if phase == 0 {
		wide.from = wide.from / unit * unit
	}
	c.lenses = slices.Insert(c.lenses, 0, wide)
	c.lenses = c.lenses[:min(len(c.lenses), maxLenses)]
	return wide
}

// unitFor returns the size of units for a range of n bytes: a power of two for which the range has at most
// maxMarks units.
func unitFor(n int) int { return 1 << bits.Len(uint(n/maxMarks)) }

// committed returns the number of committed bytes of the areas in the places [from, to).
func (l *layout) committed(from, to int) int {
	n := 0
	for i := l.at(from); i < len(l.areas) && l.areas[i].From < to; i++ {
		a := &l.areas[i]
		n += max(0, min(to, a.UsedFrom+a.Committed)-max(from, a.UsedFrom))
	}
	return n
}

// passNow returns the last pass of a lens. If a new pass is due and no other request is making one, passNow
// makes the new pass and returns it.
func (in *Inspector) passNow(ctx context.Context, view *lens, l *layout) (pass, error) {
	c := &in.memory.changes
	seen := func() pass {
		c.mu.Lock()
		defer c.mu.Unlock()
		return view.seen
	}
	if time.Since(seen().at) < passInterval || !view.passing.TryLock() {
		return seen(), nil
	}
	defer view.passing.Unlock()
	next, err := in.makePass(ctx, view, l, seen())
	if err != nil {
		return pass{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	view.seen = next
	return next, nil
}

// pageReader hashes resident memory, a part in each look (see Inspector.look).
type pageReader struct {
	layout *layout
	origin int // place of the first unit
	unit   int
	lines  int     // number of cache lines to read in each unit
	runs   []cells // resident memory, in order; a run lies in one reservation
	run    int     // index of the run that is being read
	place  int     // next place to read
	marks  []mark
}

// makePass reads the memory that a lens covers, and compares it with the previous pass.
func (in *Inspector) makePass(ctx context.Context, view *lens, l *layout, before pass) (pass, error) {
	r := &pageReader{layout: l, origin: view.from, unit: view.unit}
	units, err := r.find(ctx, view)
	if err != nil {
		return pass{}, err
	}
	r.marks = make([]mark, 0, min(units, 4*maxMarks)) // growing would take time in a look
	r.lines = max(1, min(maxLines/max(units, 1), view.unit/lineBytes))
	if err := in.look(ctx, r.read); err != nil {
		return pass{}, err
	}
	next := pass{at: time.Now(), sampled: r.lines*lineBytes < view.unit, marks: r.marks}
	if before.at.IsZero() || next.at.Sub(before.at) > passStale {
		return next, nil
	}
	next.seconds = next.at.Sub(before.at).Seconds()
	old := before.marks
	for i := range next.marks {
		m := &next.marks[i]
		for len(old) > 0 && old[0].at < m.at {
			old = old[1:]
		}
		// A unit that was not resident before counts as changed.
		m.changed = len(old) == 0 || old[0].at != m.at || old[0].hash != m.hash
	}
	return next, nil
}

// find fills r.runs with the resident memory that the lens covers. It returns an upper bound of the number of
// units in the runs.
func (r *pageReader) find(ctx context.Context, view *lens) (units int, err error) {
	for _, res := range r.layout.reservations {
		lo, hi := max(view.from, res.From), min(view.to, res.From+res.Bytes)
		begun := len(r.runs)
		err := r.layout.eachPages(ctx, lo, hi, func(from, to int, s vm.PageState) {
			k := len(r.runs)
			switch {
			case s&vm.PageResident == 0 || s&vm.PageZero != 0:
				return
			case k > begun && r.runs[k-1].to == from:
				r.runs[k-1].to = to
			case k < maxMarks:
				r.runs = append(r.runs, cells{from: from, to: to})
			default:
				return // leaves out these pages, because there are too many runs
			}
			units += (to-from)/r.unit + 2 // the first and the last unit may be only partly in the run
		})
		if err != nil {
			return units, err
		}
	}
	if len(r.runs) > 0 {
		r.place = r.runs[0].from
	}
	return units, nil
}

// read hashes the next units until memoryLookTime is over. It reports whether the pass is complete. Call read
// only in a look.
func (r *pageReader) read() (done bool) {
	begun := time.Now()
	for r.run < len(r.runs) && len(r.marks) < 4*maxMarks {
		if time.Since(begun) > memoryLookTime {
			return false
		}
		run := r.runs[r.run]
		end := min(run.to, r.unitAt(r.place)+max(1, linesAtOnce/r.lines)*r.unit)
		res := r.reservation()
		res.r.Look(r.place-res.From, end-r.place, func(off int, b []byte) { r.readUnits(off+res.From, b) })
		if r.place = end; end == run.to {
			if r.run++; r.run < len(r.runs) {
				r.place = r.runs[r.run].from
			}
		}
	}
	return true
}

// reservation returns the reservation that holds the next place to read.
func (r *pageReader) reservation() *reservation {
	i, found := slices.BinarySearchFunc(r.layout.reservations, r.place,
		func(one reservation, place int) int { return one.From - place })
	if !found {
		i--
	}
	return &r.layout.reservations[i]
}

// unitAt returns the first place of the unit that holds a place.
func (r *pageReader) unitAt(place int) int { return place - (place-r.origin)%r.unit }

// readUnits hashes the bytes b, which begin at a place. The first and the last unit may be only partly in b.
func (r *pageReader) readUnits(place int, b []byte) {
	for len(b) > 0 {
		at := r.unitAt(place)
		n := min(at+r.unit-place, len(b))
		hash := hashOf(b[:n], r.lines, uint64(at/r.unit))
		if k := len(r.marks); k > 0 && r.marks[k-1].at == at {
			r.marks[k-1].hash ^= bits.RotateLeft32(hash, 1) // b continues the last unit
		} else {
			r.marks = append(r.marks, mark{at: at, hash: hash})
		}
		place, b = place+n, b[n:]
	}
}

// hashOf cuts b into equal parts, and hashes lineBytes bytes of each part. The argument lines is the number
// of parts. If a part is not longer than lineBytes, hashOf hashes all of b. The seed shifts the hashed bytes
// in their parts. Each unit has its own seed, so the hashed bytes of different units cover different fields
// of an element.
func hashOf(b []byte, lines int, seed uint64) uint32 {
	const prime = 0x9E3779B97F4A7C15
	step := len(b) / lines
	h := uint64(len(b))
	if step <= lineBytes {
		return uint32(hashWords(h, b) >> 32)
	}
	for i := range lines {
		at := i * step
		at += int((seed+uint64(i))*prime>>40) % (step - lineBytes + 1) &^ 7
		h = hashWords(h, b[at:at+lineBytes])
	}
	return uint32(h >> 32)
}

// hashWords returns a multiplicative hash of the 8-byte words of b and then of the remaining bytes.
func hashWords(h uint64, b []byte) uint64 {
	const prime = 0xD6E8FEB86659FD93
	for ; len(b) >= 8; b = b[8:] {
		h = (h ^ binary.LittleEndian.Uint64(b)) * prime
		h ^= h >> 32
	}
	for _, c := range b {
		h = (h ^ uint64(c)) * prime
		h ^= h >> 32
	}
	return h * prime
}
