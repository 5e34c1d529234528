package inspect

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/probe"
	"github.com/vastgo/vast/vm"
)

const (
	extentsAtOnce  = 1 << 10                // number of extents read between two checks of the time
	maxExtents     = 1 << 18                // largest number of extents read; further extents are left out
	maxArchetypes  = 512                    // largest number of listed archetypes; smaller ones are left out
	memoryLookTime = 200 * time.Microsecond // time after which a look (see Inspector.look) should end
)

// memory is the state that the inspector keeps for the memory page.
type memory struct {
	changes changes

	mu       sync.Mutex // guards the following fields
	limits   limits
	limitsAt time.Time              // time when limits was read
	numbers  map[vast.AnyColumn]int // number of each column
}

// layout describes a world's reservations and the areas in them at one moment.
//
// The world's reservations, laid end to end, form one range of bytes. A place is the number of a byte in this
// range. Places, and indices into areas, stay valid while the world lives, because reservations and areas are
// only added.
type layout struct {
	reservations []reservation
	bytes        int // size of all reservations
	areas        []area
	own          []area // areas outside of the reservations
	slots        int    // end of the slots that archetypes own
	maxEntities  int

	read    []probe.Area // input of arrange; nil after arrange
	columns []column
}

// reservation is one of the world's reservations.
type reservation struct {
	From      int    `json:"from"` // place of the first byte
	Bytes     int    `json:"bytes"`
	Committed int    `json:"committed"`
	Address   string `json:"address"`

	r probe.Reservation
}

// area is a range of memory that holds one array.
type area struct {
	Kind      string `json:"kind"`
	Column    int    `json:"column"` // number of the column; -1 for data of the world itself
	Name      string `json:"name"`   // name of the column; empty for data of the world itself
	Number    int    `json:"number"` // number that tells areas of one kind and column apart
	From      int    `json:"from"`   // place of the first byte; -1 outside of the reservations
	Bytes     int    `json:"bytes"`
	UsedFrom  int    `json:"usedFrom"` // place of the first committed byte; -1 outside of the reservations
	Committed int    `json:"committed"`
	// Place of the data of the first Share slots; -1 outside of the reservations.
	First int `json:"first"`
	// Distance in bytes to the data of the next Share slots. Negative if the area grows downwards; 0 if the
	// area holds no data of slots.
	Stride int `json:"stride"`
	Share  int `json:"share"` // number of slots that share bytes, such as 64 in words of bits

	// Numbers of bytes in pages of each state:
	Resident    int `json:"resident"`
	Huge        int `json:"huge"`
	Swapped     int `json:"swapped"`
	Decommitted int `json:"decommitted"`

	a probe.Area
}

// slots returns the slots whose data lies in the places [from, to), which must be in the area.
func (a *area) slots(from, to int) (lo, hi int) {
	shift := a.From - a.a.Offset
	return a.a.Slots(from-shift, to-from)
}

// place returns the place of the first byte of a slot's data, and the number of bytes.
func (a *area) place(slot int) (from, n int) {
	off, n := a.a.Place(slot)
	return off + a.From - a.a.Offset, n
}

// density returns the column whose presence bits mark the slots in use. A nil column stands for the live
// bits. ok is false if the area holds no data of slots.
func (a *area) density() (col vast.AnyColumn, ok bool) { return a.a.Column, a.Stride != 0 }

// lookAtMemory returns the layout and, if extents is set, the archetypes' extents in the order of slots.
func (in *Inspector) lookAtMemory(ctx context.Context, extents bool) (*layout, []probe.Extent, error) {
	var l *layout
	var parts [][]probe.Extent // in parts, because growing a slice would take time in a look
	next := 0
	err := in.look(ctx, func() bool {
		if l == nil {
			l = in.newLayout()
			return !extents
		}
		begun := time.Now()
		for x := range probe.Extents(in.world, next) {
			k := len(parts)
			if k == 0 || len(parts[k-1]) == extentsAtOnce {
				if k == maxExtents/extentsAtOnce {
					return true
				}
				if time.Since(begun) > memoryLookTime {
					return false
				}
				parts = append(parts, make([]probe.Extent, 0, extentsAtOnce))
				k++
			}
			parts[k-1] = append(parts[k-1], x)
			next = x.First + x.Slots
		}
		return true
	})
	if err != nil {
		return nil, nil, err
	}
	l.arrange(&in.memory)
	return l, slices.Concat(parts...), nil
}

// newLayout reads the layout. Call newLayout in a look, and arrange after the look.
func (in *Inspector) newLayout() *layout {
	w := in.world
	l := &layout{slots: w.Slots(), maxEntities: w.Options().MaxEntities, read: probe.Areas(w),
		columns: in.model.look()}
	for _, r := range probe.Reservations(w) {
		l.reservations = append(l.reservations, reservation{From: l.bytes, Bytes: r.Bytes(),
			Committed: r.Committed(), r: r})
		l.bytes += r.Bytes()
	}
	return l
}

// arrange computes the places of the areas. Call arrange after the look, because arrange takes time: each
// column has several areas.
func (l *layout) arrange(m *memory) {
	numbers := m.numbersOf(l.columns)
	for i := range l.reservations {
		l.reservations[i].Address = fmt.Sprintf("%#x", l.reservations[i].r.Address())
	}
	l.areas, l.own = make([]area, 0, len(l.read)), []area{}
	for _, a := range l.read {
		one := area{Kind: a.Kind.String(), Column: -1, Number: a.Number, From: -1, Bytes: a.Bytes,
			UsedFrom: -1, Committed: a.Committed,
			First: -1, Stride: a.Stride, Share: a.Share, a: a}
		if a.Column != nil {
			one.Column, one.Name = numbers[a.Column], a.Column.Name()
		}
		if a.Reservation < 0 {
			l.own = append(l.own, one)
			continue
		}
		from := l.reservations[a.Reservation].From
		one.From, one.UsedFrom, one.First = from+a.Offset, from+a.CommittedAt, from+a.First
		l.areas = append(l.areas, one)
	}
	l.read = nil
}

// numbersOf returns the number of each column. The caller must not change the result.
func (m *memory) numbersOf(columns []column) map[vast.AnyColumn]int {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.numbers) != len(columns) {
		m.numbers = make(map[vast.AnyColumn]int, len(columns))
		for _, c := range columns {
			m.numbers[c.col] = c.ID
		}
	}
	return m.numbers
}

// at returns the index of the area that holds a place, or of the next area if no area holds the place.
func (l *layout) at(place int) int {
	i, _ := slices.BinarySearchFunc(l.areas, place, func(a area, place int) int {
		if a.From+a.Bytes <= place {
			return -1
		}
		return 1
	})
	return i
}

// bytesAtOnce is the largest number of bytes whose page states one call of Reservation.Pages reads. This
// limit bounds the number of runs that a call returns.
const bytesAtOnce = 256 << 20

// eachPages calls f with the states of the pages in the places [from, to), in order.
func (l *layout) eachPages(ctx context.Context, from, to int, f func(from, to int, s vm.PageState)) error {
	var runs []vm.PageRun
	for _, r := range l.reservations {
		lo, hi := max(from, r.From)-r.From, min(to, r.From+r.Bytes)-r.From
		for at := lo; at < hi; {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			end := min(hi, at+bytesAtOnce)
			var err error
			if runs, err = r.r.Pages(at, end-at, runs[:0]); err != nil {
				return err
			}
			for _, run := range runs {
				f(r.From+max(run.Offset, at), r.From+min(run.Offset+run.Bytes, end), run.State)
			}
			at = end
		}
	}
	return nil
}

// memoryAnswer describes the memory of the world as a whole.
type memoryAnswer struct {
	Bytes        int           `json:"bytes"` // size of the reservations; all places are smaller
	PageSize     int           `json:"pageSize"`
	Slots        int           `json:"slots"`
	MaxEntities  int           `json:"maxEntities"`
	Reservations []reservation `json:"reservations"`
	Areas        []area        `json:"areas"`
	Own          []area        `json:"own"`
	Archetypes   []archetype   `json:"archetypes"`
	Purposes     []purpose     `json:"purposes"` // memory of the whole program
	Limits       limits        `json:"limits"`
}

type archetype struct {
	Number   int      `json:"number"`
	Columns  []string `json:"columns"`
	Extents  int      `json:"extents"`
	Slots    int      `json:"slots"`
	Entities int      `json:"entities"`

	a *vast.Archetype
}

type purpose struct {
	Purpose   string `json:"purpose"`
	Regions   int    `json:"regions"`
	Reserved  int    `json:"reserved"`
	Committed int    `json:"committed"`
	Resident  int    `json:"resident"`
}

// limits holds the system's limits and the present use. 0 means unknown or unlimited, but not in
// OvercommitMode: see vm.Facts.
type limits struct {
	HugePageSize   int    `json:"hugePageSize"`
	HugeMode       string `json:"hugeMode"`
	OvercommitMode int    `json:"overcommitMode"`
	HeapStandIn    bool   `json:"heapStandIn"`
	Mappings       int    `json:"mappings"`
	MaxMappings    int    `json:"maxMappings"`
	AddressSpace   int    `json:"addressSpace"`
	AddressLimit   int    `json:"addressLimit"`
	Data           int    `json:"data"`
	DataLimit      int    `json:"dataLimit"`
	ControlGroup   int    `json:"controlGroup"`
	Memory         int    `json:"memory"`
}

func (in *Inspector) memoryRoutes() []route {
	return []route{
		{method: "GET", pattern: "memory", answer: in.describeMemory},
		{method: "GET", pattern: "memory/picture", raw: in.serveMemoryPicture},
		{method: "GET", pattern: "memory/at", answer: in.describePlace},
		{method: "GET", pattern: "memory/word", answer: in.describeWord},
		{method: "GET", pattern: "memory/bytes", answer: in.describeBytes},
	}
}

func (in *Inspector) describeMemory(r *http.Request) (any, error) {
	l, extents, err := in.lookAtMemory(r.Context(), true)
	if err != nil {
		return nil, err
	}
	a := memoryAnswer{Bytes: l.bytes, PageSize: vm.PageSize(), Slots: l.slots, MaxEntities: l.maxEntities,
		Reservations: append([]reservation{}, l.reservations...), Areas: l.areas, Own: l.own,
		Archetypes: archetypesOf(extents), Purposes: []purpose{},
		Limits: in.memory.limitsNow()}
	at := 0
	err = l.eachPages(r.Context(), 0, l.bytes, func(from, to int, s vm.PageState) {
		for at < len(l.areas) && l.areas[at].From+l.areas[at].Bytes <= from {
			at++
		}
		for i := at; i < len(l.areas) && l.areas[i].From < to; i++ {
			l.areas[i].count(min(to, l.areas[i].From+l.areas[i].Bytes)-max(from, l.areas[i].From), s)
		}
	})
	if err != nil {
		return nil, err
	}
	for _, p := range vm.Snapshot(true).Purposes {
		a.Purposes = append(a.Purposes, purpose{p.Purpose, p.Regions, p.Reserved, p.Committed, p.Resident})
	}
	return a, nil
}

func (a *area) count(n int, s vm.PageState) {
	if s&vm.PageResident != 0 {
		a.Resident += n
	}
	if s&vm.PageHuge != 0 {
		a.Huge += n
	}
	if s&vm.PageSwapped != 0 {
		a.Swapped += n
	}
	if s&vm.PageDecommitted != 0 {
		a.Decommitted += n
	}
}

// archetypesOf sums up the extents of each archetype. It returns the largest archetypes, in descending order.
func archetypesOf(extents []probe.Extent) []archetype {
	index := make(map[*vast.Archetype]int)
	all := []archetype{}
	for _, x := range extents {
		i, known := index[x.Archetype]
		if !known {
			i = len(all)
			index[x.Archetype] = i
			all = append(all, archetype{Number: probe.NumberOf(x.Archetype), Columns: []string{},
				a: x.Archetype})
		}
		all[i].Extents++
		all[i].Slots += x.Slots
		all[i].Entities += x.Entities
	}
	slices.SortStableFunc(all, func(a, b archetype) int { return b.Slots - a.Slots })
	all = all[:min(len(all), maxArchetypes)]
	for i := range all {
		for _, c := range probe.ColumnsOf(all[i].a) { // the columns of an archetype never change
			all[i].Columns = append(all[i].Columns, c.Name())
		}
	}
	return all
}

// limitsNow returns the limits. It reads the limits at most once every five seconds, because the system has
// to list all mappings to count them.
func (m *memory) limitsNow() limits {
	m.mu.Lock()
	defer m.mu.Unlock()
	if time.Since(m.limitsAt) > 5*time.Second {
		f, u := vm.ReadFacts(), vm.ReadUsage()
		m.limits = limits{f.HugePageSize, f.HugeMode, f.OvercommitMode, f.HeapStandIn, u.Mappings,
			f.MaxMappings, u.AddressSpace,
			f.AddressLimit, u.Data, f.DataLimit, f.ControlGroup, f.Memory}
		m.limitsAt = time.Now()
	}
	return m.limits
}
