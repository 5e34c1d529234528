package clone

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/state"
	"github.com/vastgo/vast/probe"
)

// match finds the column of the world `to` that corresponds to each column of the world `from`, and stores it
// at the column's number in counterparts. A column without a counterpart gets nil. Without drop, such a
// column is an error. Private columns and the column of the names get nil without an error.
func match(counterparts []any, from, to *vast.World, columns, others []state.Column, drop bool) error {
	var errs []error
	handles, otherHandles := probe.Columns(from), probe.Columns(to)
	for i, c := range columns {
		if c.Private || c.Names {
			continue
		}
		reason := fmt.Sprintf("column %s has no counterpart: register it there", c.Name)
		for j, other := range others {
			if other.Private || other.Names || other.Name != c.Name {
				continue
			}
			a, b := kindOf(handles[i], c), kindOf(otherHandles[j], other)
			if a != b {
				reason = fmt.Sprintf("column %s is %s here and %s there: give it the same type", c.Name, a, b)
				continue
			}
			if counterparts[i] != nil {
				return fmt.Errorf("two columns there have the name %q: give one of them another name with "+
					"Named", c.Name)
			}
			counterparts[i] = other.Of
		}
		if counterparts[i] == nil && !drop {
			errs = append(errs, fmt.Errorf("%s, or set Options.Drop", reason))
		}
		for k := range i {
			if counterparts[i] != nil && counterparts[k] == counterparts[i] {
				return fmt.Errorf("two columns here have the name %q: give one of them another name with "+
					"Named", c.Name)
			}
		}
	}
	return errors.Join(errs...)
}

// kind is the part of a column's description that a counterpart shares.
type kind struct {
	form   string
	typ    reflect.Type // type of components or of the values of edges; nil for a tag and a relation
	cyclic bool
}

func (k kind) String() string {
	switch {
	case k.cyclic:
		return k.form + " with circles"
	case k.typ != nil:
		return k.form + " of " + k.typ.String()
	}
	return k.form
}

func kindOf(handle vast.AnyColumn, c state.Column) kind {
	if _, ok := probe.RelationOf(handle); ok {
		return kind{form: "a relation", cyclic: c.Cyclic}
	}
	if e, ok := probe.EdgesOf(handle); ok {
		return kind{form: "edges", typ: e.Type()}
	}
	if c.Type == nil {
		return kind{form: "a tag"}
	}
	return kind{form: "a column", typ: c.Type}
}
