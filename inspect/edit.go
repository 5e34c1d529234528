package inspect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/inspect/internal/value"
	"github.com/vastgo/vast/probe"
)

// editRequest is the body of an edit.
type editRequest struct {
	Path  string          `json:"path"` // of a part of the component; empty for the whole component
	Value json.RawMessage `json:"value"`
}

// conflict is the error for a request that the world's present state does not allow.
func conflict(format string, args ...any) error {
	return &problem{Status: http.StatusConflict, Code: "conflict", Message: fmt.Sprintf(format, args...)}
}

// edited is the component that a request reads or edits.
type edited struct {
	in     *Inspector
	id     string
	column *column
}

// edited returns the component that a request's path names. The entity may lack it.
func (in *Inspector) edited(r *http.Request) (edited, error) {
	one := edited{in: in, id: r.PathValue("id")}
	if _, _, ok := parseID(one.id); !ok {
		return one, stale(one.id)
	}
	var err error
	if lookErr := in.look(r.Context(), func() bool {
		one.column, err = columnNamed(in.model.look(), r.PathValue("column"), r.URL.Query().Get("by"))
		return true
	}); lookErr != nil {
		return one, lookErr
	}
	return one, err
}

// decodeEdit decodes a request's body. An empty body is a zero edit.
func decodeEdit(r *http.Request) (edit editRequest, err error) {
	if err := decodeBody(r.Body, &edit, `{"path": "At.X", "value": 1.5}`); err != io.EOF {
		return edit, err
	}
	return edit, nil
}

// editAsked returns the component that a request names, and the edit in its body.
func (in *Inspector) editAsked(r *http.Request) (one edited, asked editRequest, err error) {
	if one, err = in.edited(r); err == nil {
		asked, err = decodeEdit(r)
	}
	return one, asked, err
}

// refuse turns an error about a value into a problem.
func refuse(err error) error {
	if fault := (*value.Error)(nil); errors.As(err, &fault) {
		return &problem{Status: http.StatusBadRequest, Code: "value", Message: err.Error()}
	}
	return err
}

// change calls f with the entity in a look, as visit does, and reports the edit to the program.
func (one edited) change(ctx context.Context, f func(e vast.Entity) error) error {
	return one.visit(ctx, func(e vast.Entity) error {
		if told := one.in.options.Edited; told != nil {
			defer told() // also if a hook panics after a part of the edit
		}
		return f(e)
	})
}

// visit calls f with the entity in a look. A panic in f comes from a hook of the program, or reports that
// memory has run out. The answer reports the panic; the world is unchanged, and the program continues.
func (one edited) visit(ctx context.Context, f func(e vast.Entity) error) error {
	var err error
	if lookErr := one.in.look(ctx, func() (done bool) {
		defer func() {
			if inner := recover(); inner != nil {
				done = true
				err = &problem{Status: http.StatusInternalServerError, Code: "panic",
					Message: fmt.Sprintf("the program panicked: %.1000s", fmt.Sprint(inner))}
			}
		}()
		e, ok := one.in.entity(one.id)
		if !ok {
			err = stale(one.id)
			return true
		}
		err = f(e)
		return true
	}); lookErr != nil {
		return lookErr
	}
	return err
}

// lacks is the error for an entity without the component.
func (one edited) lacks() error {
	return notFound("entity %s has no %s", one.id, one.column.Name)
}

// editComponent sets a part of a component. It checks the value against the column's type first, and writes
// it between two ticks. The other parts keep the values that the program has written meanwhile.
func (in *Inspector) editComponent(r *http.Request) (any, error) {
	one, asked, err := in.editAsked(r)
	if err != nil {
		return nil, err
	}
	if asked.Value == nil {
		return nil, badRequest("the body must have a value")
	}
	return one.make(r.Context(), asked, false)
}

// addComponent adds a component to an entity. Without a value the component is zero.
func (in *Inspector) addComponent(r *http.Request) (any, error) {
	one, asked, err := in.editAsked(r)
	if err != nil {
		return nil, err
	}
	if asked.Path != "" {
		return nil, badRequest("a component is added as a whole: leave out path")
	}
	return one.make(r.Context(), asked, true)
}

// make applies an edit, and returns the component after the edit. If add is set, the edit adds the component
// to the entity; otherwise the entity already has it.
func (one edited) make(ctx context.Context, asked editRequest, add bool) (any, error) {
	set, err := one.setter(asked)
	if err != nil {
		return nil, err
	}
	if err := one.change(ctx, func(e vast.Entity) error { return set(e, add) }); err != nil {
		return nil, refuse(err)
	}
	return one.read(ctx)
}

// setter returns the function that applies an edit. If its parameter add is set, the function adds the
// component to the entity; otherwise the entity already has it.
func (one edited) setter(asked editRequest) (func(e vast.Entity, add bool) error, error) {
	c, in := one.column, one.in
	if c.Edges {
		return nil, badRequest("%s holds edges, which cannot be edited here", c.Name)
	}
	if c.Relation {
		return one.relationSetter(asked)
	}
	if c.info.Type == nil && asked.Value != nil {
		return nil, badRequest("%s is a tag, which has no value", c.Name)
	}
	if c.Size > componentMost {
		return nil, badRequest("%s has %d bytes, too many to edit", c.Name, c.Size)
	}
	var edit *value.Edit
	if asked.Value != nil {
		var err error
		if edit, err = value.NewEdit(c.info.Type, asked.Path, asked.Value); err != nil {
			return nil, refuse(err)
		}
	}
	return func(e vast.Entity, add bool) error {
		v, had := probe.Value(c.col, e)
		switch {
		case add && had:
			return conflict("entity %s already has %s", one.id, c.Name)
		case !add && !had:
			return one.lacks()
		case add && c.info.Type == nil:
			v = reflect.ValueOf(struct{}{})
		case add:
			v = reflect.New(c.info.Type).Elem()
		}
		if edit != nil {
			var err error
			if v, err = edit.Apply(v, in.find); err != nil {
				return err
			}
		}
		return one.put(e, v, add)
	}, nil
}

// put overwrites a component that the entity has, or adds one.
func (one edited) put(e vast.Entity, v reflect.Value, add bool) error {
	col := one.column.col
	if names, ok := probe.NamesOf(one.in.world); ok && probe.Describe(names).ID == one.column.ID {
		if _, err := names.Set(e, v.String()); err != nil {
			return conflict("%v", err)
		}
		return nil
	}
	if add {
		probe.AddValue(col, e, v)
	} else {
		probe.SetValue(col, e, v)
	}
	return nil
}

// relationSetter is the setter of a relation. The value is the target, or null to remove the link.
func (one edited) relationSetter(asked editRequest) (func(e vast.Entity, add bool) error, error) {
	if asked.Value == nil {
		return nil, badRequest("%s needs a target: give an entity as the value", one.column.Name)
	}
	edit, err := value.NewEdit(entityType, asked.Path, asked.Value)
	if err != nil {
		return nil, refuse(err)
	}
	return func(e vast.Entity, add bool) error {
		rel, _ := probe.RelationOf(one.column.col)
		if had := rel.Has(e); add && had {
			return conflict("entity %s already has a target in %s", one.id, one.column.Name)
		} else if !add && !had {
			return one.lacks()
		}
		v, err := edit.Apply(reflect.Zero(entityType), one.in.find)
		if err != nil {
			return err
		}
		if target := v.Interface().(vast.Entity); target.IsZero() {
			rel.Remove(e)
		} else {
			return relate(rel, e, target)
		}
		return nil
	}, nil
}

// relate links two entities. A hierarchy panics if the link would close a cycle. The cycle is the user's
// mistake here, so relate turns the panic into a conflict.
func relate(rel vast.Relation, source, target vast.Entity) (err error) {
	defer func() {
		inner := recover()
		if text, ok := inner.(string); ok && strings.Contains(text, "is a circle") {
			err = conflict("%s", text)
		} else if inner != nil {
			panic(inner)
		}
	}()
	rel.Set(source, target)
	return nil
}

// read returns the component, or the links of a relation, after an edit.
func (one edited) read(ctx context.Context) (any, error) {
	k := entityReader{in: one.in, id: one.id, left: fieldsMost}
	links := []linkList{}
	err := one.visit(ctx, func(e vast.Entity) error {
		if one.column.Relation {
			links = one.in.linksOf(one.column, e)
		} else {
			k.component(one.column, e)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	k.build()
	if err := one.in.resolve(ctx, k.links); err != nil {
		return nil, err
	}
	answer := editAnswer{Links: links}
	if len(k.answer.Components) > 0 {
		answer.Component = &k.answer.Components[0]
	}
	return answer, nil
}

// editAnswer is a component after an edit.
type editAnswer struct {
	Component *component `json:"component"` // null for a relation, or if the entity lacks the component
	Links     []linkList `json:"links"`     // of a relation
}

// removeComponent removes a component from an entity.
func (in *Inspector) removeComponent(r *http.Request) (any, error) {
	one, err := in.edited(r)
	if err != nil {
		return nil, err
	}
	if err := one.change(r.Context(), func(e vast.Entity) error {
		if !probe.RemoveValue(one.column.col, e) {
			return one.lacks()
		}
		return nil
	}); err != nil {
		return nil, err
	}
	return editAnswer{Links: []linkList{}}, nil
}

// deleteEntity deletes an entity, and the entities that its relations delete with it.
func (in *Inspector) deleteEntity(r *http.Request) (any, error) {
	one := edited{in: in, id: r.PathValue("id")}
	deleted := 0
	err := one.change(r.Context(), func(e vast.Entity) error {
		before := in.world.Len()
		if !in.world.Delete(e) {
			return conflict("entity %s cannot be deleted while others link to it: a relation forbids it",
				one.id)
		}
		deleted = before - in.world.Len()
		return nil
	})
	if err != nil {
		return nil, err
	}
	return struct {
		Deleted int `json:"deleted"`
	}{deleted}, nil
}
