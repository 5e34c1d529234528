package useafter

import (
	"go/types"
	"maps"
	"strings"
)

// place is a variable, or a field that is reached from one.
type place struct {
	root *types.Var
	path string
}

// field reports whether a place is more than a variable.
func (p place) field() bool { return strings.Contains(p.path, ".") }

// below reports whether a place is another one or a field of it.
func (p place) below(other place) bool {
	return p.root == other.root && (p.path == other.path || strings.HasPrefix(p.path, other.path+"."))
}

// origin is where a variable's value was handed out.
type origin struct {
	owner place
	part  bool   // of the owner, rather than memory
	by    string // the function
	marks string // the places of the marks that were set before, each with a comma behind it
}

// state is what holds on all ways that lead to a point of a function.
type state struct {
	closed map[place]string // what ended its use, in words
	bad    map[place]string // memory that must not be touched, and why
	from   map[place]origin
}

func newState() *state {
	return &state{map[place]string{}, map[place]string{}, map[place]origin{}}
}

func (s *state) clone() *state {
	return &state{maps.Clone(s.closed), maps.Clone(s.bad), maps.Clone(s.from)}
}

// meet keeps what holds in both states, and reports whether the first one has lost something.
func (s *state) meet(t *state) bool {
	closed, bad, from := keep(s.closed, t.closed), keep(s.bad, t.bad), keep(s.from, t.from)
	return closed || bad || from
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
func (s *state) assign(p place) {
	forget(s.closed, p)
	forget(s.bad, p)
	forget(s.from, p)
	for q, o := range s.from {
		if o.owner.below(p) {
			delete(s.from, q)
		}
	}
}

func forget[V any](m map[place]V, p place) {
	for q := range m {
		if q.below(p) {
			delete(m, q)
		}
	}
}

// unknown forgets what a function that is not known may have changed: fields, and variables of packages.
func (s *state) unknown() {
	change := func(p place) bool { return p.field() || p.root.Pkg() != nil && p.root.Parent() == p.root.Pkg().Scope() }
	for p := range s.closed {
		if change(p) {
			delete(s.closed, p)
		}
	}
	for p := range s.bad {
		if change(p) {
			delete(s.bad, p)
		}
	}
	for p, o := range s.from {
		if change(p) || change(o.owner) {
			delete(s.from, p)
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
			case o.part && o.by != "arena.Arena.Mark":
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
