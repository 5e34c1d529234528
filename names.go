package vast

import (
	"fmt"
	"maps"
)

// Names is an index from names to entities: an entity has one name at most, and a name belongs to one entity at most. Make
// it with [World.Names].
//
// It is a column as well, so that queries find the entities that have a name; no entity is born with one.
// Names lie on the Go heap. A deleted entity's name vanishes with it and may be given again. What [World]
// says of goroutines holds: Set and Remove change the structure.
type Names struct {
	texts  HeapColumn[string]
	byName map[string]Entity // holds names of the deleted too, until they are swept out
	sweep  int               // entries at which the next sweep is due
}

// NameTaken is the error of a name that another living entity has.
type NameTaken struct {
	Name  string
	Owner Entity
}

func (e *NameTaken) Error() string {
	return fmt.Sprintf("vast: the name %q belongs to entity %v: remove it there first, or choose another", e.Name, e.Owner)
}

// Names returns the world's names. A world has one such index. The first call makes it, as [NewHeapColumn] makes a column.
func (w *World) Names() *Names {
	w.mustBeOpen("World.Names")
	if w.names == nil {
		w.names = &Names{
			texts:  NewHeapColumn[string](w).Named("Name"),
			byName: make(map[string]Entity),
			sweep:  64,
		}
	}
	return w.names
}

// Name returns the column's name in statistics and messages; for that of an entity see [Names.Of].
func (n *Names) Name() string { return n.made().texts.Name() }

func (n *Names) column() *column {
	if n == nil {
		return nil
	}
	return n.texts.c
}

// namedBy reports whether a column is that of the world's names.
func (w *World) namedBy(c *column) bool { return w.names != nil && w.names.texts.c == c }

// made returns the names. It panics where there are none.
func (n *Names) made() *Names {
	if n == nil || n.texts.c == nil {
		panic("vast: there are no Names: make them with World.Names")
	}
	return n
}

// Len returns the number of entities that have a name. Complexity: as [Column.Len].
func (n *Names) Len() int { return n.made().texts.Len() }

// Set gives e a name in place of the one that it has, and reports whether e is alive. The empty name is none: it takes e's
// away. The error is a [*NameTaken] where
// another living entity has the name; then nothing has changed. It panics when the world is closed, and as [Column.Add]
// does where memory is needed and cannot be had. Complexity: that of a map, and now and then one step for each name.
func (n *Names) Set(e Entity, name string) (bool, error) {
	w := n.made().texts.c.world
	if !w.Alive(e) {
		w.mustBeOpen("Names.Set")
		return false, nil
	}
	if name == "" {
		n.Remove(e)
		return true, nil
	}
	if owner, taken := n.Find(name); taken {
		if owner == e {
			return true, nil
		}
		return true, &NameTaken{Name: name, Owner: owner}
	}
	w.mustNotBeInCallback(opName)
	if p := n.texts.Edit(e); p != nil {
		delete(n.byName, *p)
		*p = name
		w.changed(opName, 1) // the index is
	} else {
		n.texts.Add(e, name)
	}
	n.byName[name] = e
	if len(n.byName) >= n.sweep {
		n.forget()
	}
	return true, nil
}

// forget sweeps out the names whose entities were deleted. It runs when the entries have doubled, so that it costs each
// name a constant.
func (n *Names) forget() {
	maps.DeleteFunc(n.byName, func(name string, _ Entity) bool {
		_, ok := n.Find(name)
		return !ok
	})
	n.sweep = max(64, 2*len(n.byName))
}

// trim is forget into a new map: a map keeps the memory of what is deleted from it.
func (n *Names) trim() {
	n.forget()
	kept := make(map[string]Entity, len(n.byName))
	maps.Copy(kept, n.byName)
	n.byName = kept
}

// Find returns the living entity that has the name, and whether there is one. Complexity: that of a map.
func (n *Names) Find(name string) (Entity, bool) {
	e, ok := n.made().byName[name]
	if !ok {
		return Entity{}, false
	}
	// The entity may have lost its name to a deletion, which does not look here.
	if p := n.texts.Get(e); p == nil || *p != name {
		return Entity{}, false
	}
	return e, true
}

// Of returns e's name, and whether e is alive and has one. Complexity: as [HeapColumn.Get].
func (n *Names) Of(e Entity) (string, bool) {
	if p := n.made().texts.Get(e); p != nil {
		return *p, true
	}
	return "", false
}

// Remove takes e's name and reports whether e had one. Complexity: that of a map.
func (n *Names) Remove(e Entity) bool {
	name, had := n.Of(e)
	if had {
		n.texts.Remove(e)
		delete(n.byName, name)
	}
	return had
}
