package inspect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/inspect/internal/value"
)

// editRequest is the body of an edit.
type editRequest struct {
	Path  string          `json:"path"` // path of the edited part; empty for the whole component
	Value json.RawMessage `json:"value"`
}

// conflict returns the error for a request that the world's present state does not allow.
func conflict(format string, args ...any) error {
	return &problem{Status: http.StatusConflict, Code: "conflict", Message: fmt.Sprintf(format, args...)}
}

// edited is the entity and the component that a request names. The entity may lack the component.
type edited struct {
	in     *Inspector
	id     string  // ID of the entity
	column *column // nil if the request names no component
}

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

func (in *Inspector) editAsked(r *http.Request) (one edited, asked editRequest, err error) {
	if one, err = in.edited(r); err == nil {
		asked, err = decodeEdit(r)
	}
	return one, asked, err
}

// refuse turns an error about a value into a problem. It returns all other errors unchanged.
func refuse(err error) error {
	if fault := (*value.Error)(nil); errors.As(err, &fault) {
		return &problem{Status: http.StatusBadRequest, Code: "value", Message: err.Error()}
	}
	return err
}

// visit calls f with the entity between two ticks: see Inspector.look. If a hook of the program panics or
// memory runs out, visit recovers the panic and returns it as a problem.
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

// editComponent sets a component or a part of it. It checks the value against the column's type, and then
// writes the value between two ticks. The other parts of the component stay unchanged.
func (in *Inspector) editComponent(r *http.Request) (any, error) {
	one, asked, err := in.editAsked(r)
	if err != nil {
		return nil, err
	}
	if asked.Value == nil {
		return nil, badRequest("the body must have a value")
	}
	return one.make(r.Context(), asked, verbSet)
}

// addComponent adds a component to an entity. If the body has no value, the component is zero. A relation
// needs a value: the target.
func (in *Inspector) addComponent(r *http.Request) (any, error) {
	one, asked, err := in.editAsked(r)
	if err != nil {
		return nil, err
	}
	if asked.Path != "" {
		return nil, badRequest("a component is added as a whole: leave out path")
	}
	return one.make(r.Context(), asked, verbAdd)
}

// make carries out an edit and returns the answer.
func (one edited) make(ctx context.Context, asked editRequest, do verb) (any, error) {
	if _, err := one.carryOut(ctx, asked, do); err != nil {
		return nil, refuse(err)
	}
	return one.read(ctx)
}

// read returns the component or the links after an edit.
func (one edited) read(ctx context.Context) (any, error) {
	k := entityReader{in: one.in, id: one.id, left: maxShown}
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

// editAnswer is a component, or the links of a relation, after an edit.
type editAnswer struct {
	Component *component `json:"component"` // null for a relation, or if the entity lacks the component
	Links     []linkList `json:"links"`     // links of the entity in the relation
}

func (in *Inspector) removeComponent(r *http.Request) (any, error) {
	one, err := in.edited(r)
	if err != nil {
		return nil, err
	}
	if _, err := one.carryOut(r.Context(), editRequest{}, verbRemove); err != nil {
		return nil, err
	}
	return editAnswer{Links: []linkList{}}, nil
}

// deleteEntity deletes an entity and answers with the number of deleted entities. A relation may delete
// further entities: see vast.Cascade.
func (in *Inspector) deleteEntity(r *http.Request) (any, error) {
	one := edited{in: in, id: r.PathValue("id")}
	deleted, err := one.carryOut(r.Context(), editRequest{}, verbDelete)
	if err != nil {
		return nil, err
	}
	return struct {
		Deleted int `json:"deleted"`
	}{deleted}, nil
}
