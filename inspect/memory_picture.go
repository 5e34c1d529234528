package inspect

import (
	"context"
	"encoding/binary"
	"math"
	"math/bits"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/probe"
	"github.com/vastgo/vast/vm"
)

const (
	maxMemoryCells = 1 << 16
	maxRanges      = 1 << 10
)

// cells is a range of a picture: the places [from, to) (see layout), divided into n cells of almost equal
// size.
type cells struct{ from, to, n int }

// border returns the place at which cell i begins.
func (c cells) border(i int) int { return c.from + scale(i, c.to-c.from, c.n) }

// holding returns the index of the cell that holds a place.
func (c cells) holding(place int) int {
	i := scale(place-c.from, c.n, c.to-c.from)
	if i+1 < c.n && c.border(i+1) <= place {
		i++
	}
	return i
}

// scale returns i × factor / divisor, rounded down, for 0 ≤ i ≤ divisor and factor ≥ 0. The product may
// exceed the range of an int.
func scale(i, factor, divisor int) int {
	hi, lo := bits.Mul64(uint64(i), uint64(factor))
	q, _ := bits.Div64(hi, lo, uint64(divisor))
	return int(q)
}

// memoryPicture is memory drawn as cells.
type memoryPicture struct {
	by     string
	ranges []cells
	total  int // number of cells in all ranges
	words  int // largest number of words read for densities; a picture of more words is sampled

	// One element for each cell:
	committed, resident, huge []int   // numbers of bytes
	notes                     []uint8 // bits such as noteSwapped
	value                     []uint8 // density or change, in 255ths
	area, archetype           []uint16

	sampled bool    // whether the densities or the changes are samples
	seconds float64 // time between the two compared passes (see pass); 0 if nothing was compared
}

// Notes about a cell.
const (
	noteDecommitted = 1 << iota // some bytes have been decommitted
	noteSwapped                 // some bytes are swapped out
	noteZero                    // some bytes are the system's page of zeros
	noteValue                   // the value is known
	noteArchetypes              // the cell holds slots of several archetypes
	noteAreas                   // the cell holds bytes of several areas
)

// nothing stands for no area or no archetype.
const nothing = math.MaxUint16

var memoryModes = []string{"state", "column", "archetype", "density", "change"}

// serveMemoryPicture answers with a picture: as JSON with format=json, otherwise in binary (see encode).
func (in *Inspector) serveMemoryPicture(w http.ResponseWriter, r *http.Request) error {
	p, err := parseMemoryPicture(r.URL.Query())
	if err != nil {
		return err
	}
	if err := in.draw(r.Context(), p); err != nil {
		return err
	}
	extend(w)
	if r.URL.Query().Get("format") == "json" {
		answer(w, http.StatusOK, p.asJSON())
		return nil
	}
	body := p.encode()
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body)
	return nil
}

// parseMemoryPicture reads the parameters of a picture: by, format, and ranges=from-to-cells,…. The
// parameters from, to and cells stand for a single range.
func parseMemoryPicture(q map[string][]string) (*memoryPicture, error) {
	get := func(name string) string {
		if v := q[name]; len(v) > 0 {
			return v[0]
		}
		return ""
	}
	p := &memoryPicture{by: get("by"), words: densityWords}
	if p.by == "" {
		p.by = "state"
	}
	if !slices.Contains(memoryModes, p.by) {
		return nil, badRequest("by must be one of %s", strings.Join(memoryModes, ", "))
	}
	if f := get("format"); f != "" && f != "json" && f != "binary" {
		return nil, badRequest("format must be json or binary")
	}
	texts := strings.Split(get("ranges"), ",")
	if get("ranges") == "" {
		n := get("cells")
		if n == "" {
			n = "4096"
		}
		texts = []string{get("from") + "-" + get("to") + "-" + n}
		if get("from") == "" && get("to") == "" {
			texts = []string{"0-0-" + n} // all memory
		}
	}
	if len(texts) > maxRanges {
		return nil, badRequest("a picture has at most %d ranges", maxRanges)
	}
	for _, text := range texts {
		c, err := parseCells(text)
		if err != nil {
			return nil, err
		}
		p.ranges = append(p.ranges, c)
		if p.total += c.n; p.total > maxMemoryCells {
			return nil, badRequest("a picture has at most %d cells", maxMemoryCells)
		}
	}
	return p, nil
}

func parseCells(text string) (cells, error) {
	parts := strings.Split(text, "-")
	var c cells
	for i, to := range []*int{&c.from, &c.to, &c.n} {
		if len(parts) != 3 {
			break
		}
		n, err := strconv.ParseUint(parts[i], 10, 62)
		if err != nil || n > math.MaxInt/4 {
			parts = nil
			break
		}
		*to = int(n)
	}
	if len(parts) != 3 || c.n < 1 || c.n > maxMemoryCells || c.to != 0 && c.to-c.from < c.n || c.to == 0 &&
		c.from != 0 {
		return cells{}, badRequest("a range must be from-to-cells, with 1 to %d cells of at least one byte, "+
			"not %.40q", maxMemoryCells, text)
	}
	return c, nil
}

// fit sets the end of ranges without an end, and checks that all ranges lie in the world's memory.
func (p *memoryPicture) fit(l *layout) error {
	for i := range p.ranges {
		c := &p.ranges[i]
		if c.to == 0 {
			c.to = max(l.bytes, c.n)
		}
		if c.to > max(l.bytes, c.n) {
			return badRequest("the world's memory ends at place %d", l.bytes)
		}
	}
	return nil
}

func (in *Inspector) draw(ctx context.Context, p *memoryPicture) error {
	l, extents, err := in.lookAtMemory(ctx, p.by == "archetype")
	if err != nil {
		return err
	}
	if err := p.fit(l); err != nil {
		return err
	}
	n := p.total
	numbers, small, words := make([]int, 3*n), make([]uint8, 2*n), make([]uint16, 2*n)
	p.committed, p.resident, p.huge = numbers[:n], numbers[n:2*n], numbers[2*n:]
	p.notes, p.value = small[:n], small[n:]
	p.area, p.archetype = words[:n], words[n:]
	if err := p.drawPages(ctx, l); err != nil {
		return err
	}
	p.drawAreas(l)
	for i := range p.archetype {
		p.archetype[i] = nothing
	}
	switch p.by {
	case "archetype":
		p.drawArchetypes(l, extents)
	case "density":
		return in.drawDensity(ctx, p, l)
	case "change":
		return in.drawChange(ctx, p, l)
	}
	return nil
}

// drawPages counts the committed, resident and huge bytes of each cell, and notes its other page states.
func (p *memoryPicture) drawPages(ctx context.Context, l *layout) error {
	base := 0
	for _, c := range p.ranges {
		err := l.eachPages(ctx, c.from, c.to, func(from, to int, s vm.PageState) {
			if s == 0 {
				return
			}
			for i := c.holding(from); i < c.n && from < to; i++ {
				end := min(to, c.border(i+1))
				p.count(base+i, end-from, s)
				from = end
			}
		})
		if err != nil {
			return err
		}
		base += c.n
	}
	return nil
}

func (p *memoryPicture) count(i, n int, s vm.PageState) {
	if s&vm.PageCommitted != 0 {
		p.committed[i] += n
	}
	if s&vm.PageResident != 0 {
		p.resident[i] += n
	}
	if s&vm.PageHuge != 0 {
		p.huge[i] += n
	}
	if s&vm.PageDecommitted != 0 {
		p.notes[i] |= noteDecommitted
	}
	if s&vm.PageSwapped != 0 {
		p.notes[i] |= noteSwapped
	}
	if s&vm.PageZero != 0 {
		p.notes[i] |= noteZero
	}
}

// drawAreas finds the main area of each cell. The main area has the most committed bytes in the cell. If
// several areas have equally many committed bytes, the main area has the most bytes in the cell among them.
func (p *memoryPicture) drawAreas(l *layout) {
	base := 0
	for _, c := range p.ranges {
		at := l.at(c.from)
		for i := range c.n {
			from, to := c.border(i), c.border(i+1)
			for at < len(l.areas) && l.areas[at].From+l.areas[at].Bytes <= from {
				at++
			}
			best, maxUsed, most, met := nothing, 0, 0, 0
			for k := at; k < min(len(l.areas), nothing) && l.areas[k].From < to; k++ {
				a := &l.areas[k]
				n := min(to, a.From+a.Bytes) - max(from, a.From)
				used := max(0, min(to, a.UsedFrom+a.Committed)-max(from, a.UsedFrom))
				met++
				if used > maxUsed || used == maxUsed && n > most {
					best, maxUsed, most = k, used, n
				}
			}
			p.area[base+i] = uint16(best)
			if met > 1 {
				p.notes[base+i] |= noteAreas
			}
		}
		base += c.n
	}
}

// slotsOf returns the main area of a cell, and the slots of this area whose data lies in the cell. It leaves
// out the slots behind the last slot that an archetype owns.
func (p *memoryPicture) slotsOf(l *layout, c cells, base, i int) (a *area, lo, hi int) {
	k := p.area[base+i]
	if k == nothing {
		return nil, 0, 0
	}
	a = &l.areas[k]
	from, to := max(c.border(i), a.From), min(c.border(i+1), a.From+a.Bytes)
	lo, hi = a.slots(from, to)
	return a, min(lo, l.slots), min(hi, l.slots)
}

// drawArchetypes finds the archetype that owns the most slots in each cell.
func (p *memoryPicture) drawArchetypes(l *layout, extents []probe.Extent) {
	base := 0
	owned := make(map[int]int)
	for _, c := range p.ranges {
		for i := range c.n {
			_, lo, hi := p.slotsOf(l, c, base, i)
			if lo == hi {
				continue
			}
			at, _ := slices.BinarySearchFunc(extents, lo, func(x probe.Extent, slot int) int {
				if x.First+x.Slots <= slot {
					return -1
				}
				return 1
			})
			if at < len(extents) && extents[at].First <= lo && hi <= extents[at].First+extents[at].Slots {
				p.archetype[base+i] = uint16(min(probe.NumberOf(extents[at].Archetype), nothing-1))
				continue
			}
			clear(owned)
			best, most := nothing, 0
			for ; at < len(extents) && extents[at].First < hi; at++ {
				x := extents[at]
				number := min(probe.NumberOf(x.Archetype), nothing-1)
				owned[number] += min(hi, x.First+x.Slots) - max(lo, x.First)
				if owned[number] > most {
					best, most = number, owned[number]
				}
			}
			p.archetype[base+i] = uint16(best)
			if len(owned) > 1 {
				p.notes[base+i] |= noteArchetypes
			}
		}
		base += c.n
	}
}

const (
	// densityWords bounds the number of words of 64 slots that are read for a picture.
	densityWords = 1 << 22
	// densityStep is the number of slots counted between two checks of the time. Counting them takes at most
	// about ten microseconds.
	densityStep = 1 << 17
)

// drawDensity counts the used slots of each cell.
func (in *Inspector) drawDensity(ctx context.Context, p *memoryPicture, l *layout) error {
	type part struct {
		cell, lo, hi int
		col          vast.AnyColumn
	}
	var parts []part
	slots, base := 0, 0
	for _, c := range p.ranges {
		for i := range c.n {
			a, lo, hi := p.slotsOf(l, c, base, i)
			if lo == hi || p.committed[base+i] == 0 {
				continue
			}
			if col, ok := a.density(); ok {
				parts = append(parts, part{base + i, lo, hi, col})
				slots += hi - lo
			}
		}
		base += c.n
	}
	// In each step of slots, only the first perStep slots are counted.
	step, perStep := densityStep, densityStep
	if slots > p.words*64 {
		perStep = max(64, densityStep/(slots/(p.words*64)+1)&^63)
		p.sampled = true
	}
	at, from, seen, live := 0, 0, 0, 0
	return in.look(ctx, func() bool {
		begun, done := time.Now(), 0
		for at < len(parts) {
			q := &parts[at]
			if from == 0 {
				from = q.lo
			}
			end := min(q.hi, from+step)
			counted := min(end, from+perStep)
			live += probe.Occupied(in.world, q.col, from, counted)
			seen += counted - from
			if done += counted - from + 64; end == q.hi {
				p.value[q.cell] = share(live, seen)
				p.notes[q.cell] |= noteValue
				at, from, seen, live = at+1, 0, 0, 0
			} else {
				from = end
			}
			if done >= densityStep {
				if done = 0; time.Since(begun) > memoryLookTime {
					return false
				}
			}
		}
		return true
	})
}

// share returns n / all in 255ths. A share between none and all is at least 1 and at most 254.
func share(n, all int) uint8 {
	switch {
	case n <= 0 || all <= 0:
		return 0
	case n >= all:
		return math.MaxUint8
	}
	return uint8(1 + scale(n, 254, all))
}

// encode returns the picture in little-endian numbers. The head has 24 bytes:
//
//   - the letters VPIC
//   - a uint32: the version, 1
//   - a uint32: the number of cells
//   - a uint32: 1 if densities or changes are sampled, otherwise 0
//   - a float64: the seconds between the two compared passes (see pass), 0 if nothing was compared
//
// Arrays with one element for each cell follow, each padded to a multiple of 4 bytes:
//
//   - the shares that are committed, resident and huge, in 255ths
//   - the notes
//   - the value, in 255ths
//   - the area and the archetype as 16-bit numbers, 65535 for none
func (p *memoryPicture) encode() []byte {
	padded := (p.total + 3) &^ 3
	b := make([]byte, 0, 24+5*padded+2*(2*p.total+3))
	b = append(b, "VPIC"...)
	flags := uint32(0)
	if p.sampled {
		flags |= 1
	}
	for _, v := range []uint32{1, uint32(p.total), flags} {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(p.seconds))
	pad := func() {
		for len(b)%4 != 0 {
			b = append(b, 0)
		}
	}
	for _, bytes := range [][]int{p.committed, p.resident, p.huge} {
		i := 0
		for _, c := range p.ranges {
			for k := range c.n {
				b = append(b, share(bytes[i], c.border(k+1)-c.border(k)))
				i++
			}
		}
		pad()
	}
	for _, plane := range [][]uint8{p.notes, p.value} {
		b = append(b, plane...)
		pad()
	}
	for _, plane := range [][]uint16{p.area, p.archetype} {
		for _, v := range plane {
			b = binary.LittleEndian.AppendUint16(b, v)
		}
		pad()
	}
	return b
}

// memoryPictureJSON is a picture as JSON. Area and archetype are -1 for none. The value is 0 to 255, or -1 if
// unknown.
type memoryPictureJSON struct {
	By      string   `json:"by"`
	Sampled bool     `json:"sampled"`
	Seconds float64  `json:"seconds"`
	Cells   [][8]int `json:"cells"` // from, bytes, committed, resident, huge, area, archetype, value
}

func (p *memoryPicture) asJSON() memoryPictureJSON {
	picture := memoryPictureJSON{By: p.by, Sampled: p.sampled, Seconds: p.seconds, Cells: [][8]int{}}
	orMinusOne := func(v uint16) int {
		if v == nothing {
			return -1
		}
		return int(v)
	}
	i := 0
	for _, c := range p.ranges {
		for k := range c.n {
			value := -1
			if p.notes[i]&noteValue != 0 {
				value = int(p.value[i])
			}
			picture.Cells = append(picture.Cells, [8]int{c.border(k), c.border(k+1) - c.border(k),
				p.committed[i], p.resident[i], p.huge[i],
				orMinusOne(p.area[i]), orMinusOne(p.archetype[i]), value})
			i++
		}
	}
	return picture
}
