package useafter

import (
	"go/token"
	"maps"
	"strconv"
	"strings"
)

// origin is where a variable's value was handed out.
type origin struct {
	owner place
	part  bool      // of the owner, rather than memory
	by    string    // the function
	at    token.Pos // of a mark, where it was set
	marks string    // where the marks were set that memory came behind: positions in ascending order, each between commas
	key   place     // what the memory belongs to: a handle, a list or an entity
}

const mark = "arena.Arena.Mark"

// behind reports whether memory came behind the mark set at a position.
func (o origin) behind(at token.Pos) bool { return strings.Contains(o.marks, comma(at)) }

func comma(at token.Pos) string { return "," + strconv.Itoa(int(at)) + "," }

// meet returns what holds of both origins; nothing where they are of different owners or functions.
func (o origin) meet(p origin) origin {
	if o.key != p.key {
		o.key, p.key = place{}, place{}
	}
	if o.marks != p.marks {
		both := ""
		for at := range strings.FieldsFuncSeq(o.marks, func(r rune) bool { return r == ',' }) {
			if at = "," + at + ","; strings.Contains(p.marks, at) {
				both += at
			}
		}
		o.marks, p.marks = both, both
	}
	if o != p {
		return origin{}
	}
	return o
}

// ending is what ends where an error is nil.
type ending struct {
	of    place
	why   string
	freed bool // memory, rather than a container
}

// state is what holds on all ways that lead to a point of a function.
type state struct {
	closed map[place]string // what ended its use, in words
	bad    map[place]string // memory that must not be touched, and why
	from   map[place]origin
	ends   map[place]ending // by the error that says whether it did
}

func newState() *state {
	return &state{map[place]string{}, map[place]string{}, map[place]origin{}, map[place]ending{}}
}

func (s *state) clone() *state {
	return &state{maps.Clone(s.closed), maps.Clone(s.bad), maps.Clone(s.from), maps.Clone(s.ends)}
}

// meet keeps what holds in both states, and reports whether the first one has lost something.
func (s *state) meet(t *state) bool {
	closed, bad, ends := keep(s.closed, t.closed), keep(s.bad, t.bad), keep(s.ends, t.ends)
	changed := closed || bad || ends
	for p, o := range s.from {
		both := o.meet(t.from[p])
		switch {
		case both == o:
			continue
		case both.owner == o.owner:
			s.from[p] = both
		default:
			delete(s.from, p)
		}
		changed = true
	}
	return changed
}

// keep removes from a what b has not, or has otherwise. Why something ended may differ.
func keep[V comparable](a, b map[place]V) (changed bool) {
	for p, v := range a {
		w, ok := b[p]
		if _, why := any(v).(string); !ok || !why && w != v {
			delete(a, p)
			changed = true
		}
	}
	return changed
}

// assign forgets what was known of a place that gets a value.
func (s *state) assign(p place) { s.forget(func(q place) bool { return q.below(p) }) }

// overwrite forgets what was known of what lies where a pointer leads to. The pointer stays what it is.
func (s *state) overwrite(p place) {
	from, known := s.from[p]
	why, bad := s.bad[p]
	s.assign(p)
	if known {
		s.from[p] = from
	}
	if bad {
		s.bad[p] = why
	}
}

// forget forgets what is known of some places.
func (s *state) forget(of func(place) bool) {
	drop(s.closed, of)
	drop(s.bad, of)
	drop(s.from, of)
	drop(s.ends, of)
	for p, o := range s.from {
		switch {
		case of(o.owner):
			delete(s.from, p)
		case of(o.key):
			o.key = place{}
			s.from[p] = o
		}
	}
	for p, e := range s.ends {
		if of(e.of) {
			delete(s.ends, p)
		}
	}
}

func drop[V any](m map[place]V, of func(place) bool) {
	for p := range m {
		if of(p) {
			delete(m, p)
		}
	}
}

// remark forgets the mark that was set at a position before: the next one is set there.
func (s *state) remark(at token.Pos) {
	for p, o := range s.from {
		if o.behind(at) {
			o.marks = strings.Replace(o.marks, comma(at), "", 1)
			s.from[p] = o
		}
	}
}

// close notes that the use of a place, and of all that was made from it, has ended.
func (s *state) close(p place, why string) {
	s.closed[p] = why
	for q, o := range s.from {
		if o.owner == p {
			if o.part {
				if _, already := s.closed[q]; !already {
					s.close(q, why)
				}
			} else {
				s.bad[q] = why
			}
		}
	}
}

// empty notes that the memory that came from a place, or from a part of it, must not be touched any more, as far as which
// says.
func (s *state) empty(p place, why string, which func(origin) bool) {
	for q, o := range s.from {
		if o.owner == p {
			switch {
			case o.part && o.by != mark:
				s.empty(q, why, which)
			case !which(o):
			case o.part:
				s.closed[q] = why
			default:
				s.bad[q] = why
			}
		}
	}
}

// settle notes what ended because an error is nil.
func (s *state) settle(e ending) {
	if e.freed {
		s.bad[e.of] = e.why
	} else {
		s.close(e.of, e.why)
	}
}
