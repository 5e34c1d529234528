package useafter

import (
	"go/token"
	"maps"
	"strconv"
	"strings"
)

// origin describes the call that returned the value of a variable.
type origin struct {
	owner place
	part  bool      // whether the value is a part of the owner; otherwise the value is memory
	by    string    // the function that returned the value
	at    token.Pos // for a mark, the position of the call of Mark
	marks string    // positions of the marks older than the memory, ascending, each between two commas
	key   place     // the handle, list or entity that the memory belongs to
}

const mark = "arena.Arena.Mark"

// behind reports whether memory is newer than the mark that was set at a position.
func (o origin) behind(at token.Pos) bool { return strings.Contains(o.marks, comma(at)) }

func comma(at token.Pos) string { return "," + strconv.Itoa(int(at)) + "," }

// meet returns the facts that both origins have in common. It returns the zero origin if the origins differ
// in more than marks and key.
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

// ending describes a call that closes a container or frees memory if its error is nil.
type ending struct {
	of    place  // the container or memory
	why   string // the call, for messages
	freed bool   // whether the call frees memory
}

// state holds the facts that are true on all paths to a point of a function.
type state struct {
	closed  map[place]string // closed containers and marks, and the call that closed each
	bad     map[place]string // memory that must not be touched, and the call that released it
	origins map[place]origin // origins of values, by variable
	ends    map[place]ending // endings that are not yet certain, by the variable of their error
}

func newState() *state {
	return &state{map[place]string{}, map[place]string{}, map[place]origin{}, map[place]ending{}}
}

func (s *state) clone() *state {
	return &state{maps.Clone(s.closed), maps.Clone(s.bad), maps.Clone(s.origins), maps.Clone(s.ends)}
}

// meet keeps the facts of s that are also true in t, and reports whether s has changed.
func (s *state) meet(t *state) bool {
	anyReason := func(string, string) bool { return true }
	closed, bad := keep(s.closed, t.closed, anyReason), keep(s.bad, t.bad, anyReason)
	ends := keep(s.ends, t.ends, func(a, b ending) bool { return a == b })
	changed := closed || bad || ends
	for p, o := range s.origins {
		both := o.meet(t.origins[p])
		switch {
		case both == o:
			continue
		case both.owner == o.owner:
			s.origins[p] = both
		default:
			delete(s.origins, p)
		}
		changed = true
	}
	return changed
}

// keep removes the entries of a that b does not have, or for which same returns false.
func keep[V any](a, b map[place]V, same func(V, V) bool) (changed bool) {
	for p, v := range a {
		if w, ok := b[p]; !ok || !same(v, w) {
			delete(a, p)
			changed = true
		}
	}
	return changed
}

// assign forgets the facts about a place and its parts.
func (s *state) assign(p place) { s.forget(func(q place) bool { return q.below(p) }) }

// overwrite forgets the facts about the target of a pointer, but keeps the facts about the pointer.
func (s *state) overwrite(p place) {
	o, known := s.origins[p]
	why, bad := s.bad[p]
	s.assign(p)
	if known {
		s.origins[p] = o
	}
	if bad {
		s.bad[p] = why
	}
}

// forget forgets the facts that mention a place for which match returns true.
func (s *state) forget(match func(place) bool) {
	drop(s.closed, match)
	drop(s.bad, match)
	drop(s.origins, match)
	drop(s.ends, match)
	for p, o := range s.origins {
		switch {
		case match(o.owner):
			delete(s.origins, p)
		case match(o.key):
			o.key = place{}
			s.origins[p] = o
		}
	}
	for p, e := range s.ends {
		if match(e.of) {
			delete(s.ends, p)
		}
	}
}

func drop[V any](m map[place]V, match func(place) bool) {
	for p := range m {
		if match(p) {
			delete(m, p)
		}
	}
}

// remark forgets the mark that a call of Mark set in an earlier iteration of a loop. at is the position of
// the call.
func (s *state) remark(at token.Pos) {
	for p, o := range s.origins {
		if o.behind(at) {
			o.marks = strings.Replace(o.marks, comma(at), "", 1)
			s.origins[p] = o
		}
	}
}

// close records that a place and its parts are closed, and that their memory is bad.
func (s *state) close(p place, why string) {
	s.closed[p] = why
	for q, o := range s.origins {
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

// empty records that the memory of a place and of its parts is bad, and that their marks are closed. It skips
// memory and marks for whose origin match returns false.
func (s *state) empty(p place, why string, match func(origin) bool) {
	for q, o := range s.origins {
		if o.owner == p {
			switch {
			case o.part && o.by != mark:
				s.empty(q, why, match)
			case !match(o):
			case o.part:
				s.closed[q] = why
			default:
				s.bad[q] = why
			}
		}
	}
}

// settle applies an ending whose error is nil.
func (s *state) settle(e ending) {
	if e.freed {
		s.bad[e.of] = e.why
	} else {
		s.close(e.of, e.why)
	}
}
