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
	extentsAtOnce  = 1 << 10                // between looks at the clock
	maxExtents     = 1 << 18                // that are looked at; the archetypes of slots behind them are not told
	maxArchetypes  = 512                    // that are told of by name: the largest
	memoryLookTime = 200 * time.Microsecond // that a look takes at most, but for what it is about to end
)

// memory is what the server keeps for the memory page.
type memory struct {
	changes changes
	mu      sync.Mutex
	limits  limits
	asked   time.Time // when the limits were asked for
	numbers map[vast.AnyColumn]int
}

// The world's reservations, one behind the other, are one range of addresses, in which each byte has a number, its place. It
// stays the same while the world lives: reservations are only added. Areas in reservations keep their numbers too.

// layout is what lies where in a world's reservations at one moment.
type layout struct {
	reservations []reservation
	bytes        int // of all of them
	areas        []area
	own          []area // of memory of its own
	slots        int    // where those end that archetypes own
	maxEntities  int

	read    []probe.Area // until it is arranged
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

// area is a part of memory in which one array lies.
type area struct {
	Kind      string `json:"kind"`
	Column    int    `json:"column"` // the number of the column that it belongs to; -1 for what the world keeps for itself
	Name      string `json:"name"`   // of the column
	Number    int    `json:"number"` // of several that are alike
	From      int    `json:"from"`   // place of the first byte; -1 for memory of its own
	Bytes     int    `json:"bytes"`
	UsedFrom  int    `json:"usedFrom"` // place of the first committed byte
	Committed int    `json:"committed"`
	First     int    `json:"first"`  // place of what belongs to the first slots
	Stride    int    `json:"stride"` // bytes from there to what belongs to the next; negative where the area grows downwards, 0 without slots
	Share     int    `json:"share"`  // slots that share a place

	// Found by asking the system.
	Resident    int `json:"resident"`
	Huge        int `json:"huge"`
	Swapped     int `json:"swapped"`
	Decommitted int `json:"decommitted"`

	a probe.Area
}

// slots returns the slots whose data lies in the places [from, to), which are in the area.
func (a *area) slots(from, to int) (lo, hi int) {
	shift := a.From - a.a.Offset
	return a.a.Slots(from-shift, to-from)
}

// place returns where the data of a slot lies.
func (a *area) place(slot int) (from, n int) {
	off, n := a.a.Place(slot)
	return off + a.From - a.a.Offset, n
}

// density is the column whose presence bits say which slots of the area are in use, and whether there is such: what the
// world keeps of all slots is in use where there is an entity.
func (a *area) density() (col vast.AnyColumn, ok bool) { return a.a.Column, a.Stride != 0 }

// lookAtMemory returns the layout. With extents it also returns which archetype owns which slots, in the order of slots.
func (in *Inspector) lookAtMemory(ctx context.Context, extents bool) (*layout, []probe.Extent, error) {
	var l *layout
	var parts [][]probe.Extent // none is made longer, which would take time while the world waits
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

// newLayout reads where everything lies; the caller has it arranged after the look. It is called while the
// world lets the inspector look.
func (in *Inspector) newLayout() *layout {
	w := in.world
	l := &layout{slots: w.Slots(), maxEntities: w.Options().MaxEntities, read: probe.Areas(w), columns: in.model.look()}
	for _, r := range probe.Reservations(w) {
		l.reservations = append(l.reservations, reservation{From: l.bytes, Bytes: r.Bytes(), Committed: r.Committed(), r: r})
		l.bytes += r.Bytes()
	}
	return l
}

// arrange computes the places of the areas. It is for outside of looks: each column has several areas.
func (l *layout) arrange(m *memory) {
	numbers := m.numbersOf(l.columns)
	for i := range l.reservations {
		l.reservations[i].Address = fmt.Sprintf("%#x", l.reservations[i].r.Address())
	}
	l.areas, l.own = make([]area, 0, len(l.read)), []area{}
	for _, a := range l.read {
		one := area{Kind: a.Kind.String(), Column: -1, Number: a.Number, From: -1, Bytes: a.Bytes, UsedFrom: -1, Committed: a.Committed,
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

// numbersOf returns the columns' numbers. What it returns is not to be changed.
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

// at returns the index of the area that holds a place, or of the next one behind it.
func (l *layout) at(place int) int {
	i, _ := slices.BinarySearchFunc(l.areas, place, func(a area, place int) int {
		if a.From+a.Bytes <= place {
			return -1
		}
		return 1
	})
	return i
}

// pagesAtOnce is how many bytes the system is asked about at a time, which bounds the answer.
const pagesAtOnce = 256 << 20

// eachPages tells of the states of the pages in the places [from, to), in order.
func (l *layout) eachPages(ctx context.Context, from, to int, tell func(from, to int, s vm.PageState)) error {
	var runs []vm.PageRun
	for _, r := range l.reservations {
		lo, hi := max(from, r.From)-r.From, min(to, r.From+r.Bytes)-r.From
		for at := lo; at < hi; {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			end := min(hi, at+pagesAtOnce)
			var err error
			if runs, err = r.r.Pages(at, end-at, runs[:0]); err != nil {
				return err
			}
			for _, run := range runs {
				tell(r.From+max(run.Offset, at), r.From+min(run.Offset+run.Bytes, end), run.State)
			}
			at = end
		}
	}
	return nil
}

// memoryAnswer is all that is known of the world's memory as a whole.
type memoryAnswer struct {
	Bytes        int           `json:"bytes"` // of addresses: places are numbered from 0 to here
	PageSize     int           `json:"pageSize"`
	Slots        int           `json:"slots"`
	MaxEntities  int           `json:"maxEntities"`
	Reservations []reservation `json:"reservations"`
	Areas        []area        `json:"areas"`
	Own          []area        `json:"own"`
	Archetypes   []archetype   `json:"archetypes"`
	Purposes     []purpose     `json:"purposes"` // of the whole program
	Limits       limits        `json:"limits"`
}

// archetype is an archetype's share of the slots.
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

// limits are what the system allows, and what is taken of it; 0 means unknown or without limit.
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
		Reservations: append([]reservation{}, l.reservations...), Areas: l.areas, Own: l.own, Archetypes: archetypesOf(extents), Purposes: []purpose{},
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

// count adds pages to what is known of an area.
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

// archetypesOf adds extents up; the largest archetypes come first.
func archetypesOf(extents []probe.Extent) []archetype {
	index := make(map[*vast.Archetype]int)
	all := []archetype{}
	for _, x := range extents {
		i, known := index[x.Archetype]
		if !known {
			i = len(all)
			index[x.Archetype] = i
			all = append(all, archetype{Number: probe.NumberOf(x.Archetype), Columns: []string{}, a: x.Archetype})
		}
		all[i].Extents++
		all[i].Slots += x.Slots
		all[i].Entities += x.Entities
	}
	slices.SortStableFunc(all, func(a, b archetype) int { return b.Slots - a.Slots })
	all = all[:min(len(all), maxArchetypes)]
	for i := range all {
		for _, c := range probe.ColumnsOf(all[i].a) { // never changes
			all[i].Columns = append(all[i].Columns, c.Name())
		}
	}
	return all
}

// limitsNow returns the limits, asked for now and then: the system counts mappings by listing them.
func (m *memory) limitsNow() limits {
	m.mu.Lock()
	defer m.mu.Unlock()
	if time.Since(m.asked) > 5*time.Second {
		f, u := vm.ReadFacts(), vm.ReadUsage()
		m.limits = limits{f.HugePageSize, f.HugeMode, f.OvercommitMode, f.HeapStandIn, u.Mappings, f.MaxMappings, u.AddressSpace,
			f.AddressLimit, u.Data, f.DataLimit, f.ControlGroup, f.Memory}
		m.asked = time.Now()
	}
	return m.limits
}
