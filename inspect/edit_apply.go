package inspect

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"reflect"
	"strings"
	"sync"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/inspect/internal/value"
	"github.com/vastgo/vast/probe"
)

// verb is the kind of an edit.
type verb string

const (
	verbSet    verb = "set"
	verbAdd    verb = "add"
	verbRemove verb = "remove"
	verbDelete verb = "delete"
)

// edit is the decoded form of an edit that Options.Edit gets. The program may record the encoded edit and
// replay it in another process, because an edit holds the ID of each entity that the client's request names.
type edit struct {
	Number uint64          `json:"number"` // random number that identifies the edit
	Do     verb            `json:"do"`
	Entity string          `json:"entity"`
	Column string          `json:"column,omitempty"`
	Among  int             `json:"among,omitempty"` // index of the column among the columns with its name
	Path   string          `json:"path,omitempty"`
	Value  json.RawMessage `json:"value,omitempty"`
	Found  []found         `json:"found,omitempty"`
}

// found is an entity that the value of an edit refers to.
type found struct {
	Reference value.Reference `json:"reference"`
	Entity    string          `json:"entity"`
}

type outcome struct {
	deleted int // number of deleted entities
	err     error
}

// pending holds the requests that wait for the outcome of an edit.
var pending struct {
	mu    sync.Mutex
	edits map[request]chan outcome
}

// request identifies an edit for which an HTTP request waits. It includes the world, because other worlds of
// the process may replay the edit.
type request struct {
	world  *vast.World
	number uint64
}

// Apply carries out an encoded edit that the inspector has passed to Options.Edit. Call Apply on the
// goroutine that owns the world, at a point where the structure may change. If a client of this process waits
// for the edit, Apply answers the client. A program may call Apply again in another process, for example in a
// replay: the same edits of the same world give the same world.
//
// An edit that does not fit the world changes nothing, for example if its entity has died. Apply returns the
// error, and the client gets it, too. If there was no memory for the edit, errors.As finds a *vm.Error in the
// error. In this case, a program that keeps the world in a store must call store.Store.Changed, because the
// replay may get the memory and make a different world. If a callback of the program panics, Apply recovers
// the panic and returns an error. Then the changes before the panic remain.
func Apply(w *vast.World, encoded []byte) error {
	var e edit
	if err := json.Unmarshal(encoded, &e); err != nil {
		return fmt.Errorf("inspect: Apply: the input is not an encoded edit: %w", err)
	}
	o := (&change{edit: e, world: w}).apply()
	pending.mu.Lock()
	defer pending.mu.Unlock()
	if c := pending.edits[request{w, e.Number}]; c != nil {
		select {
		case c <- o:
		default: // an earlier call of Apply has answered
		}
	}
	if o.err != nil {
		return fmt.Errorf("inspect: %w", o.err)
	}
	return nil
}

// carryOut carries out an edit between two ticks. If Options.Edit is set, the program carries out the edit.
func (one edited) carryOut(ctx context.Context, asked editRequest, do verb) (deleted int, err error) {
	c := change{edit: edit{Number: rand.Uint64(), Do: do, Entity: one.id, Path: asked.Path,
		Value: asked.Value}, world: one.in.world, column: one.column}
	if do != verbDelete {
		c.Column = one.column.Name
	}
	if err := c.prepare(); err != nil {
		return 0, err
	}
	if err := one.visit(ctx, func(vast.Entity) error { return c.resolve(one.in) }); err != nil {
		return 0, err
	}
	if one.in.options.Edit == nil {
		var o outcome
		err := one.visit(ctx, func(vast.Entity) error {
			o = c.apply()
			return o.err
		})
		return o.deleted, err
	}
	encoded, err := json.Marshal(c.edit)
	if err != nil {
		return 0, err
	}
	result, key := make(chan outcome, 1), request{one.in.world, c.Number}
	pending.mu.Lock()
	if pending.edits == nil {
		pending.edits = make(map[request]chan outcome)
	}
	pending.edits[key] = result
	pending.mu.Unlock()
	defer func() {
		pending.mu.Lock()
		delete(pending.edits, key)
		pending.mu.Unlock()
	}()
	ctx, cancel := context.WithTimeoutCause(ctx, one.in.options.Patience, errImpatient)
	defer cancel()
	if err := one.in.options.Edit(ctx, encoded); err != nil {
		return 0, one.unsure(ctx, err)
	}
	select {
	case o := <-result:
		return o.deleted, o.err
	case <-ctx.Done():
		return 0, one.unsure(ctx, ctx.Err())
	}
}

// unsure returns err, except if ctx has ended because of Options.Patience. Then it returns a problem, which
// says that the program may still carry out the edit.
func (one edited) unsure(ctx context.Context, err error) error {
	if context.Cause(ctx) != errImpatient {
		return err
	}
	return &problem{Status: http.StatusServiceUnavailable, Code: "notAdmitted",
		Message: "the program did not carry out the edit within " + one.in.options.Patience.String() +
			", but may carry it out later: check that the program makes ticks and calls inspect.Apply with " +
			"the edit"}
}

type change struct {
	edit
	world  *vast.World
	column *column     // nil for the deletion of an entity
	value  *value.Edit // nil if the edit has no value
}

func (c *change) prepare() error {
	if c.Do != verbSet && c.Do != verbAdd {
		return nil
	}
	col := c.column
	t := col.info.Type
	switch {
	case col.Edges:
		return badRequest("%s holds edges, which cannot be edited here", col.Name)
	case col.Relation && c.Value == nil:
		return badRequest("%s needs a target: give an entity as the value", col.Name)
	case col.Relation:
		t = entityType
	case t == nil && c.Value != nil:
		return badRequest("%s is a tag, which has no value", col.Name)
	case col.Size > maxComponent:
		return badRequest("%s has %d bytes, too many to edit", col.Name, col.Size)
	}
	if c.Value == nil {
		return nil
	}
	var err error
	if c.value, err = value.NewEdit(t, c.Path, c.Value); err != nil {
		return refuse(err)
	}
	return nil
}

// resolve records the entities to which the value refers, and sets c.Among. Call resolve in a visit of the
// world (see Inspector.look).
func (c *change) resolve(in *Inspector) error {
	if c.column != nil {
		for _, col := range in.model.look()[:c.column.ID] {
			if col.Name == c.Column {
				c.Among++
			}
		}
	}
	if c.value == nil {
		return nil
	}
	return c.value.Find(func(to value.Reference) (vast.Entity, error) {
		e, err := in.find(to)
		if err == nil {
			c.Found = append(c.Found, found{to, e.String()})
		}
		return e, err
	})
}

// find returns the entity that resolve has recorded for a reference.
func (c *change) find(ref value.Reference) (vast.Entity, error) {
	for _, f := range c.Found {
		if f.Reference != ref {
			continue
		}
		e, ok := entityWith(c.world, f.Entity)
		if !ok {
			return e, fmt.Errorf("entity %s is no longer alive", f.Entity)
		}
		return e, nil
	}
	return vast.Entity{}, fmt.Errorf("the edit holds no entity for the reference %+v", ref)
}

// findColumn sets the column of a decoded edit, and prepares the edit.
func (c *change) findColumn() error {
	among := c.Among
	for _, col := range probe.Columns(c.world) {
		candidate := columnOf(col)
		if candidate.Name != c.Column {
			continue
		}
		if among--; among < 0 && !candidate.info.Private {
			c.column = &candidate
			return c.prepare()
		}
	}
	return notFound("the world has no component %.80q", c.Column)
}

// apply carries out the edit. If a hook of the program panics or memory runs out, apply recovers the panic
// and returns it in the outcome.
func (c *change) apply() (o outcome) {
	defer func() {
		if inner := recover(); inner != nil {
			cause, _ := inner.(error)
			o.err = &problem{Status: http.StatusInternalServerError, Code: "panic",
				Message: fmt.Sprintf("the program panicked: %.1000s", fmt.Sprint(inner)), cause: cause}
		}
	}()
	if c.column == nil && c.Do != verbDelete {
		if err := c.findColumn(); err != nil {
			return outcome{err: err}
		}
	}
	e, ok := entityWith(c.world, c.Entity)
	if !ok {
		return outcome{err: stale(c.Entity)}
	}
	switch c.Do {
	case verbDelete:
		before := c.world.Len()
		if !c.world.Delete(e) {
			return outcome{err: conflict("entity %s cannot be deleted while other entities link to it: a "+
				"relation refuses the deletion", c.Entity)}
		}
		return outcome{deleted: before - c.world.Len()}
	case verbRemove:
		if !probe.RemoveValue(c.column.col, e) {
			return outcome{err: c.lacks()}
		}
		return outcome{}
	case verbSet, verbAdd:
		if c.column.Relation {
			return outcome{err: c.link(e)}
		}
		return outcome{err: c.put(e)}
	}
	return outcome{err: badRequest("unknown edit %q: use set, add, remove or delete", c.Do)}
}

func (c *change) lacks() error { return notFound("entity %s has no %s", c.Entity, c.column.Name) }

func (c *change) put(e vast.Entity) error {
	col := c.column.col
	v, had := probe.Value(col, e)
	switch {
	case c.Do == verbAdd && had:
		return conflict("entity %s already has %s", c.Entity, c.column.Name)
	case c.Do == verbSet && !had:
		return c.lacks()
	case c.Do == verbAdd && c.column.info.Type == nil:
		v = reflect.ValueOf(struct{}{})
	case c.Do == verbAdd:
		v = reflect.New(c.column.info.Type).Elem()
	}
	if c.value != nil {
		var err error
		if v, err = c.value.Apply(v, c.find); err != nil {
			return err
		}
	}
	if names, ok := probe.NamesOf(c.world); ok && probe.Describe(names).ID == c.column.ID {
		if _, err := names.Set(e, v.String()); err != nil {
			return conflict("%v", err)
		}
		return nil
	}
	if c.Do == verbAdd {
		probe.AddValue(col, e, v)
	} else {
		probe.SetValue(col, e, v)
	}
	return nil
}

// link gives the entity a target in a relation. If the target is the zero entity, link removes the link.
func (c *change) link(e vast.Entity) error {
	if c.value == nil {
		return badRequest("%s needs a target: give an entity as the value", c.column.Name)
	}
	rel, _ := probe.RelationOf(c.column.col)
	if had := rel.Has(e); c.Do == verbAdd && had {
		return conflict("entity %s already has a target in %s", c.Entity, c.column.Name)
	} else if c.Do == verbSet && !had {
		return c.lacks()
	}
	v, err := c.value.Apply(reflect.Zero(entityType), c.find)
	if err != nil {
		return err
	}
	if target := v.Interface().(vast.Entity); !target.IsZero() {
		return relate(rel, e, target)
	}
	rel.Remove(e)
	return nil
}

// relate links two entities. A hierarchy panics if the link would close a cycle. relate turns this panic into
// a conflict, because the cycle is a mistake of the user, not of the program.
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
