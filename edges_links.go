package vast

import (
	"reflect"
	"unsafe"

	"github.com/vastgo/vast/bulk"
	"github.com/vastgo/vast/internal/rooms"
	"github.com/vastgo/vast/internal/state"
)

func (s *edges[T]) room(from, to uint32) error {
	return s.reach(from+1, to+1, 1)
}

// reach makes room for n more edges whose sources lie below the slot sourceEnd, and whose targets lie below
// the slot targetEnd. On failure nothing has changed.
func (s *edges[T]) reach(sourceEnd, targetEnd uint32, n int) error {
	if sourceEnd <= s.sources.slots && targetEnd <= s.targets.slots {
		return s.pool.Grow(n)
	}
	return s.world.try([]*column{s.sources, s.targets}, func() error {
		if err := s.sources.grow(sourceEnd); err != nil {
			return err
		}
		if err := s.targets.grow(targetEnd); err != nil {
			return err
		}
		return s.pool.Grow(n)
	})
}

// enter makes an edge and appends it to the list of its source and the list of its target. The caller must
// have made room. If the target has no other edge, enter gives the target its presence bit. The caller gives
// the source its presence bit.
func (s *edges[T]) enter(one edge[T]) *edge[T] {
	t, bit := s.targets, uint64(1)<<(one.to%64)
	out, in := s.ends(s.sources, one.from), s.ends(t, one.to)
	if !s.sources.set.Test(uint(one.from)) {
		*out = ends[T]{}
	}
	if !t.set.Test(uint(one.to)) {
		*in = ends[T]{}
		t.giveIn(one.to/64, bit)
		t.tell(t.onAdd, "OnAdd", one.to/64, bit)
	}
	one.prevOut, one.prevIn = out.last, in.last
	h, p := s.pool.Insert(one)
	if out.count++; out.count == 1 {
		out.first = h
	} else {
		s.pool.Get(out.last).nextOut = h
	}
	if in.count++; in.count == 1 {
		in.first = h
	} else {
		s.pool.Get(in.last).nextIn = h
	}
	out.last, in.last = h, h
	return p
}

// unlink removes an edge. If the source has no other edge, the source keeps its presence bit. If the target
// has no other edge, the target loses its presence bit.
func (s *edges[T]) unlink(h bulk.Handle[edge[T]]) {
	one := s.pool.Get(h)
	out, in := s.ends(s.sources, one.from), s.ends(s.targets, one.to)
	if one.prevOut.IsZero() {
		out.first = one.nextOut
	} else {
		s.pool.Get(one.prevOut).nextOut = one.nextOut
	}
	if one.nextOut.IsZero() {
		out.last = one.prevOut
	} else {
		s.pool.Get(one.nextOut).prevOut = one.prevOut
	}
	if one.prevIn.IsZero() {
		in.first = one.nextIn
	} else {
		s.pool.Get(one.prevIn).nextIn = one.nextIn
	}
	if one.nextIn.IsZero() {
		in.last = one.prevIn
	} else {
		s.pool.Get(one.nextIn).prevIn = one.prevIn
	}
	out.count--
	if in.count--; in.count == 0 {
		t := s.targets
		t.tell(t.onRemove, "OnRemove", one.to/64, 1<<(one.to%64))
		t.lose(one.to/64, 1<<(one.to%64))
	}
	s.pool.Remove(h)
}

// written tells trackers that edges out of a source were made, written or removed.
func (s *edges[T]) written(source uint32) {
	if s.sources.tracked {
		s.sources.wrote(source)
	}
}

func (s *edges[T]) dropOut(slot uint32) {
	for out := s.ends(s.sources, slot); out.count > 0; {
		s.unlink(out.first)
	}
}

// edgeStore is the store of the column of sources. It makes neither room nor edges. Edges.Add, and copies of
// entities (see enterCopy), make both before they add the source to the column.
type edgeStore[T any] struct {
	inPlace
	e *edges[T]
}

func (s edgeStore[T]) drop(slot uint32)        { s.e.dropOut(slot) }
func (s edgeStore[T]) mark() (undo func())     { return undoGrowth(rooms.Of(s.e.pool)) }
func (s edgeStore[T]) empty()                  { s.e.pool.Clear(nil) } // enter resets the ends of lists
func (s edgeStore[T]) trim(int) error          { return s.e.pool.Trim() }
func (s edgeStore[T]) resident() (int, error)  { return s.e.pool.Resident() }
func (s edgeStore[T]) close() error            { return s.e.pool.Close() }
func (s edgeStore[T]) state() state.Container  { return rooms.Of(s.e.pool).(state.Container) }
func (s edgeStore[T]) memory() (int, int, int) { return s.e.pool.Reserved(), s.e.pool.Committed(), 0 }

func (s *edges[T]) roomAt(dst, src uint32) error {
	for _, c := range []*column{s.sources, s.targets} {
		if c.hasAt(src) {
			if err := c.grow(dst + 1); err != nil {
				return err
			}
		}
	}
	return nil
}

// renew replaces the slots and references of moved entities, in edges and in the values of edges.
func (s *edges[T]) renew(n *renewal) {
	r := referencesIn(reflect.TypeFor[T]())
	for _, one := range s.pool.All() {
		to := n.slot(one.to)
		renewed := to != one.to
		one.from, one.to = n.slot(one.from), to
		if r != nil && n.value(unsafe.Pointer(&one.value), r) || renewed {
			s.written(one.from)
		}
	}
}

func (s *edges[T]) columns() (sources, targets *column) { return s.sources, s.targets }
func (s *edges[T]) rule() OnDelete                      { return s.onDelete }
func (s *edges[T]) trimEnd(int) error                   { return nil } // edges lie in a pool

func (s *edges[T]) appendSources(to []uint32, slot uint32) []uint32 {
	if s.targets.set.Test(uint(slot)) {
		for h := s.ends(s.targets, slot).first; !h.IsZero(); {
			one := s.pool.Get(h)
			to = append(to, one.from)
			h = one.nextIn
		}
	}
	return to
}

func (s *edges[T]) appendTargets(to []uint32, slot uint32) []uint32 {
	if s.sources.set.Test(uint(slot)) {
		for h := s.ends(s.sources, slot).first; !h.IsZero(); {
			one := s.pool.Get(h)
			to = append(to, one.to)
			h = one.nextOut
		}
	}
	return to
}

func (s *edges[T]) unlinkSource(slot uint32) { s.dropOut(slot) }

func (s *edges[T]) unlinkTarget(slot uint32) (orphans int) {
	for in := s.ends(s.targets, slot); in.count > 0; {
		from := s.pool.Get(in.first).from
		s.unlink(in.first)
		if s.ends(s.sources, from).count > 0 {
			s.written(from)
			continue
		}
		s.sources.tell(s.sources.onRemove, "OnRemove", from/64, 1<<(from%64))
		s.sources.lose(from/64, 1<<(from%64))
		orphans++
	}
	return orphans
}

func (s *edges[T]) check(must func(bool, string, ...any)) {
	name := s.sources.name
	for _, c := range []*column{s.sources, s.targets} {
		total := 0
		for slot := uint32(c.set.Next(0)); slot < c.slots; slot = uint32(c.set.Next(uint(slot) + 1)) {
			list := s.ends(c, slot)
			if list.count == 0 {
				must(false, "%s: slot %d has an empty list", name, slot)
			}
			n, prev := uint32(0), bulk.Handle[edge[T]]{}
			for h := list.first; !h.IsZero(); n++ {
				if !s.pool.Valid(h) || n >= list.count {
					must(false, "%s: the list of slot %d is broken", name, slot)
				}
				one := s.pool.Get(h)
				own, before, next := one.from, one.prevOut, one.nextOut
				if c == s.targets {
					own, before, next = one.to, one.prevIn, one.nextIn
				}
				if own != slot || before != prev {
					must(false, "%s: an edge of slot %d is misplaced in the list of slot %d", name, own, slot)
				}
				prev, h = h, next
			}
			if n != list.count || prev != list.last {
				must(false, "%s: the list of slot %d has %d edges and counts %d, or its last edge is wrong",
					name, slot, n, list.count)
			}
			total += int(n)
		}
		if total != s.pool.Len() {
			must(false, "%s: the lists hold %d edges, and the pool holds %d", c.name, total, s.pool.Len())
		}
	}
}
