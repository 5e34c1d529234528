package vast

import (
	"slices"

	"github.com/vastgo/vast/vm"
)

// combinedTracker holds a Tracker and the model of its state.
type combinedTracker struct {
	*Tracker
	cols    []int
	known   map[int]map[Entity]bool // by column, the entities that had a component at the last Next
	written map[int]map[Entity]bool // by column, the entities written since the last Next
}

// combinedTracked lists sets of column numbers. Each tracker observes one set.
var combinedTracked = [][]int{{0, 2, 3, 6, combinedOff}, {0, 5, 7, 12}, {1, 4, 8, 13},
	{2, 6, 9, 10, 11, combinedOff + 1}}

// wrote records in the model of each tracker that a component of an entity was added or written.
func (m *combinedModel) wrote(col int, e Entity) {
	for _, tr := range m.trackers {
		if tr != nil && tr.written[col] != nil {
			tr.written[col][e] = true
		}
	}
}

// next models Tracker.Next.
func (m *combinedModel) next(tr *combinedTracker) {
	tr.known, tr.written = map[int]map[Entity]bool{}, map[int]map[Entity]bool{}
	for _, c := range tr.cols {
		tr.known[c], tr.written[c] = map[Entity]bool{}, map[Entity]bool{}
		for _, e := range m.order {
			if m.has(e, c) {
				tr.known[c][e] = true
			}
		}
	}
}

func (m *combinedModel) applyTracker(b *byteStream) {
	m.operation = "trackers"
	k, how := b.next()%len(m.trackers), b.next()
	tr := m.trackers[k]
	switch {
	case tr == nil:
		set := combinedTracked[how%len(combinedTracked)]
		made := &combinedTracker{cols: set}
		if m.try(func() { made.Tracker = NewTracker(m.world, m.chosen(set)...) }) {
			m.next(made)
			m.trackers[k] = made
		}
	case how < 16:
		tr.Close()
		m.trackers[k] = nil
	case how < 120:
		tr.Next()
		m.next(tr)
	default:
		m.checkTracker(tr)
	}
}

// isChanged reports whether a query with Changed matches e, if e has the component.
func (tr *combinedTracker) isChanged(e Entity, col int) bool {
	return !tr.known[col][e] || tr.written[col][e]
}

func (m *combinedModel) checkTracker(tr *combinedTracker) {
	for _, c := range tr.cols {
		var added, changed, removed, either []Entity
		for _, e := range m.order {
			if !m.has(e, c) {
				continue
			}
			switch {
			case !tr.known[c][e]:
				added, either = append(added, e), append(either, e)
			case tr.written[c][e]:
				changed, either = append(changed, e), append(either, e)
			}
		}
		for e := range tr.known[c] {
			if !m.has(e, c) {
				removed = append(removed, e)
			}
		}
		col := m.columns[c]
		for _, tt := range []struct {
			what      string
			got, want []Entity
		}{
			{"added", slices.Collect(tr.Added(col)), added},
			{"changed", slices.Collect(tr.Changed(col)), changed},
			{"removed", slices.Collect(tr.Removed(col)), removed},
			{"queried", slices.Collect(
				m.world.Query().lift("Query").Changed(col, tr.Tracker).All()), either},
		} {
			slices.SortFunc(tt.want, bySlot)
			m.must(slices.Equal(tt.got, tt.want), "column %s, %s: %v, want %v", col.Name(), tt.what, tt.got,
				tt.want)
			m.note(tt.what, len(tt.got))
		}
	}
}

// squeeze leaves the world 0 to 7 further pages of the limit, or the whole limit.
func (m *combinedModel) squeeze(b *byteStream) {
	m.operation = "squeeze"
	v := b.next()
	if m.hog == nil {
		return
	}
	err := m.hog.Decommit(0, m.hog.Size())
	m.must(err == nil, "%v", err)
	if v%2 == 0 {
		return
	}
	if n := m.options.limit.Max() - m.options.limit.Used() - v/32*vm.PageSize(); n > 0 {
		err = m.hog.Commit(0, n)
		m.must(err == nil, "%v", err)
	}
}
