package inspect

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"time"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/inspect/internal/value"
	"github.com/vastgo/vast/probe"
)

const (
	lookTime   = 150 * time.Microsecond // time after which a visit ends; the next visit continues the work
	maxShown   = 4000                   // approximate limit of the shown fields of an entity
	heapFields = 300                    // limit of the shown fields of a component with Go pointers
	maxEnds    = 50                     // limit of the listed edges of one column in one direction
)

func (in *Inspector) entityRoutes() []route {
	return []route{
		{method: "GET", pattern: "entities/{id}", answer: in.showEntity},
		{method: "DELETE", pattern: "entities/{id}", write: true, answer: in.deleteEntity},
		{method: "PATCH", pattern: "entities/{id}/components/{column}", write: true,
			answer: in.editComponent},
		{method: "POST", pattern: "entities/{id}/components/{column}", write: true, answer: in.addComponent},
		{method: "DELETE", pattern: "entities/{id}/components/{column}", write: true,
			answer: in.removeComponent},
		{method: "GET", pattern: "entities/{id}/children", answer: in.listChildren},
		{method: "GET", pattern: "names", answer: in.suggestNames},
	}
}

// entityTopics returns the topic of streams about one entity, such as entity:17.3.
func (in *Inspector) entityTopics() []topic {
	return []topic{{name: "entity", every: time.Second / 4,
		make: func(ctx context.Context, id string) (any, error) {
			return in.readEntity(ctx, id)
		}}}
}

type entityAnswer struct {
	ID         string      `json:"id"`
	Alive      bool        `json:"alive"` // always true: the answer for a dead entity is an error
	Name       string      `json:"name"`
	Slot       int         `json:"slot"`
	Generation uint32      `json:"generation"`
	Archetype  []string    `json:"archetype"`  // names of the components of the entity's archetype
	DisabledBy []string    `json:"disabledBy"` // names of the tags that switch the entity off
	Components []component `json:"components"`
	Links      []linkList  `json:"links"`
	Address    address     `json:"address"`
}

// component is an entity's component. For relations and edges, linkList replaces component.
type component struct {
	Column   string `json:"column"`
	ID       int    `json:"id"` // number of the column
	Type     string `json:"type"`
	Storage  string `json:"storage"`
	Size     int    `json:"size"` // size in bytes
	Editable bool   `json:"editable"`
	// DisabledBy are the names of the tags that switch the component off.
	DisabledBy []string                  `json:"disabledBy"`
	Place      *place                    `json:"place"`   // null if no bytes lie in a reservation
	Value      *value.Field              `json:"value"`   // null for a tag
	Choices    map[string][]value.Choice `json:"choices"` // named values of the component's enums, by type
}

// linkList lists an entity's links of one relation, or its edges, in one direction.
type linkList struct {
	Column    string `json:"column"`
	ID        int    `json:"id"`        // number of the column
	Kind      string `json:"kind"`      // relation or edges
	Direction string `json:"direction"` // out or in
	Total     int    `json:"total"`     // number of links
	// first maxEnds ends; empty for the sources of a relation, which listChildren lists
	Ends []linkEnd `json:"ends"`
}

// linkEnd is the entity at the other end of a link.
type linkEnd struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Value string `json:"value"` // text of the edge's value; empty if the link has no value
}

// stale returns the error for an ID without a living entity.
func stale(id string) error {
	if _, _, ok := parseID(id); !ok {
		return badRequest("an entity ID is a slot and a generation, such as 17.3, not %.40q", id)
	}
	return &problem{Status: http.StatusGone, Code: "stale",
		Message: fmt.Sprintf("entity %s is no longer alive", id)}
}

func (in *Inspector) showEntity(r *http.Request) (any, error) {
	return in.readEntity(r.Context(), r.PathValue("id"))
}

// readEntity reads an entity in one or several visits of the world.
func (in *Inspector) readEntity(ctx context.Context, id string) (*entityAnswer, error) {
	k := entityReader{in: in, id: id, left: maxShown}
	if err := in.look(ctx, k.look); err != nil {
		return nil, err
	}
	if k.gone {
		return nil, stale(id)
	}
	k.build()
	if err := in.resolve(ctx, k.links); err != nil {
		return nil, err
	}
	return &k.answer, nil
}

// entityReader reads an entity. It copies components in visits, and afterwards builds trees from the copies.
type entityReader struct {
	in     *Inspector
	id     string
	answer entityAnswer
	gone   bool
	next   int // next column to read
	// copy of each component in answer; invalid if the component's Value is already set, or stays null
	values []reflect.Value
	left   int // number of fields that may still be shown
	links  []*value.Link
}

// look reads components and links until lookTime has passed. It reports whether the work is done: look has
// read all columns, or the entity is gone.
func (k *entityReader) look() (done bool) {
	start := time.Now()
	w := k.in.world
	e, ok := k.in.entity(k.id)
	if !ok {
		k.gone = true
		return true
	}
	columns := k.in.model.look()
	if k.next == 0 {
		k.answer = entityAnswer{ID: e.String(), Alive: true, Name: k.in.nameOf(e), Slot: int(e.Slot()),
			Generation: e.Generation(),
			DisabledBy: disabledBy(w, columns, e), Components: []component{}, Links: []linkList{}}
		k.answer.Address, k.answer.Archetype = addressOf(w, e)
	}
	for first := k.next; k.next < len(columns); k.next++ {
		if k.next > first && time.Since(start) > lookTime {
			return false
		}
		switch c := &columns[k.next]; {
		case c.info.Private:
		case c.Relation || c.Edges:
			k.answer.Links = append(k.answer.Links, k.in.linksOf(c, e)...)
		default:
			k.component(c, e)
		}
	}
	return true
}

// component adds e's component to the answer, if e has it.
func (k *entityReader) component(c *column, e vast.Entity) {
	if c.Size > maxComponent { // too large to copy
		if has(k.in.world, c.col, e) {
			one := k.componentOf(c, e)
			one.Editable, one.Value = false, tooLarge(c)
			k.answer.Components, k.values = append(k.answer.Components, one),
				append(k.values, reflect.Value{})
		}
		return
	}
	v, ok := probe.Value(c.col, e)
	if !ok {
		return
	}
	one := k.componentOf(c, e)
	switch {
	case c.info.Type == nil:
		v = reflect.Value{}
	case !value.IsPlain(c.info.Type):
		// The value has pointers to memory of the world, which may change after this visit.
		k.tree(&one, v, min(k.left, heapFields))
		v = reflect.Value{}
	}
	k.answer.Components, k.values = append(k.answer.Components, one), append(k.values, v)
}

func (k *entityReader) build() {
	for i, v := range k.values {
		if v.IsValid() {
			k.tree(&k.answer.Components[i], v, min(k.left, maxShown/2))
		}
	}
}

func (k *entityReader) tree(one *component, v reflect.Value, fields int) {
	shown := value.Tree(v, value.Options{Editable: one.Editable, Fields: max(fields, 1)})
	one.Value = &shown.Field
	if shown.Choices != nil {
		one.Choices = shown.Choices
	}
	k.left -= shown.Fields
	k.links = append(k.links, shown.Links...)
}

// componentOf returns e's component without its value.
func (k *entityReader) componentOf(c *column, e vast.Entity) component {
	return component{
		Column: c.Name, ID: c.ID, Type: c.Type, Storage: c.Storage, Size: c.Size,
		DisabledBy: componentDisabledBy(k.in.world, k.in.model.look(), c.ID, e),
		Place:      k.in.places.place(k.in.world, c, e),
		Editable:   k.in.options.ReadWrite && c.info.Type != nil, Choices: map[string][]value.Choice{},
	}
}

func tooLarge(c *column) *value.Field {
	return &value.Field{Type: c.Type, Kind: value.Other, Exported: true, Size: c.Size,
		Text: tooManyBytes(c.Size)}
}

// resolve sets Alive and Name of the links.
func (in *Inspector) resolve(ctx context.Context, links []*value.Link) error {
	if len(links) == 0 {
		return nil
	}
	next := 0
	return in.look(ctx, func() bool {
		start := time.Now()
		for i := 0; next < len(links); i++ {
			if i%32 == 31 && time.Since(start) > lookTime {
				return false
			}
			l := links[next]
			if l.Alive = in.world.Alive(l.Of); l.Alive {
				l.Name = in.nameOf(l.Of)
			}
			next++
		}
		return true
	})
}

// linksOf returns e's links in the column of a relation or of edges.
func (in *Inspector) linksOf(c *column, e vast.Entity) (lists []linkList) {
	add := func(kind, direction string, total int, ends []linkEnd) {
		if total > 0 {
			lists = append(lists, linkList{c.Name, c.ID, kind, direction, total, ends})
		}
	}
	if r, ok := probe.RelationOf(c.col); ok {
		if target, ok := r.Target(e); ok {
			add("relation", "out", 1, []linkEnd{{ID: target.String(), Name: in.nameOf(target)}})
		}
		add("relation", "in", r.CountSources(e), []linkEnd{})
	} else if edges, ok := probe.EdgesOf(c.col); ok {
		some := func(all func(func(vast.Entity, reflect.Value) bool)) []linkEnd {
			ends := []linkEnd{}
			for other, v := range all {
				if len(ends) == maxEnds {
					break
				}
				end := linkEnd{ID: other.String(), Name: in.nameOf(other)}
				if v.Type().Size() > 0 {
					end.Value = value.Text(v, 80)
				}
				ends = append(ends, end)
			}
			return ends
		}
		add("edges", "out", edges.CountTargets(e), some(edges.Targets(e)))
		add("edges", "in", edges.CountSources(e), some(edges.Sources(e)))
	}
	return lists
}
