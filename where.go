package vast

import (
	"slices"

	"github.com/vastgo/vast/internal/sharing"
)

// Where returns a copy of q with one more condition: the entity has a component of col that meets m. It is
// for the method Column.Where of package shared.
func (sharings) Where(method string, q Query, col AnyColumn, m sharing.Matcher) Query {
	made := q.clone(method)
	made.name(method, implied, col)
	made.where = append(slices.Clip(made.where), m)
	return made.compile()
}

// sifts reports whether the query has conditions that neither its filter nor its source decides: those of
// Exactly, Where and Up.
func (q *query) sifts() bool { return q.exact || len(q.where) > 0 || len(q.joins) > 0 }

// unmet returns the slots of mask whose entities do not meet the conditions of shared.Column.Where.
func (q *query) unmet(word uint32, mask uint64) uint64 {
	met := mask
	for _, m := range q.where {
		if met &= m.Match(word, met); met == 0 {
			break
		}
	}
	return mask &^ met
}

// sifted holds the last call of walk.leftOut, because a word can have many short runs.
type sifted struct {
	word   uint32
	mask   uint64 // the slots that the call examined
	others uint64 // the result: the slots of mask that the query leaves out
}

// others returns the result of walk.leftOut. If the last call of walk.leftOut was for the same word and for
// all slots of mask, others reuses the result of that call.
func (k *walk) others(word uint32, mask uint64) uint64 {
	s := &k.sifted
	if s.word != word || mask&^s.mask != 0 {
		*s = sifted{word, mask, k.leftOut(word, mask)}
	}
	return s.others & mask
}
