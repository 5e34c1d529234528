package vast

import (
	"fmt"
	"maps"
	"unsafe"
)

// Names is an index from names to entities. An entity has at most one name, and a name belongs to at most one
// entity. Make the index with [World.Names].
//
// In a query, Names is a column: it selects the entities that have a name. Archetypes cannot have this
// column. Names lie on the Go heap. When an entity is deleted, its name becomes free. The rules of [World]
// about goroutines hold: Set and Remove change the structure.
type Names struct {
	texts  HeapColumn[string]
	byName map[string]Entity // holds names of deleted entities until the method forget removes them
	sweep  int               // length of byName at which Set calls forget
}

// NameTaken is the error of [Names.Set] and of store.Packer.Unpack if another living entity has the name.
type NameTaken struct {
	Name  string
	Owner Entity
}

func (e *NameTaken) Error() string {
	return fmt.Sprintf("vast: the name %q belongs to entity %v: remove it there first, or choose another",
		e.Name, e.Owner)
}

// Names returns the world's index of names. The first call makes the index, with a [HeapColumn]: the rules of
// [NewHeapColumn] hold.
func (w *World) Names() *Names {
	w.mustBeOpen("World.Names")
	if w.names == nil {
		w.names = &Names{
			texts:  NewHeapColumn[string](w),
			byName: make(map[string]Entity),
			sweep:  64,
		}
		w.names.texts.c.name = "Name"
		w.names.texts.c.adding, w.names.texts.c.removing = opName, opRemoveName
		w.names.texts.c.later = w.names.later
	}
	return w.names
}

// Name returns the column's name, for statistics and messages. [Names.Text] returns the name of an entity.
func (n *Names) Name() string { return n.made().texts.Name() }

func (n *Names) column() *column {
	if n == nil {
		return nil
	}
	return n.texts.c
}

// namedBy reports whether a column belongs to the world's Names.
func (w *World) namedBy(c *column) bool { return w.names != nil && w.names.texts.c == c }

func (n *Names) made() *Names {
	if n == nil || n.texts.c == nil {
		panic("vast: there are no Names: make them with World.Names")
	}
	return n
}

// Len returns the number of entities that have a name. Complexity: as [Column.Len].
func (n *Names) Len() int { return n.made().texts.Len() }

// Set gives e a name, or replaces e's name, and reports whether e is alive. The empty name removes e's name.
// If another living entity has the name, Set changes nothing and returns a [*NameTaken]. Set panics if the
// world is closed. If Set gets no memory, it panics with the same error as [Column.Add]. Complexity: that of
// a map. The amortized cost of forgetting deleted entities is constant.
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
		w.changed(opName, 1) // because the index changes
	} else {
		n.texts.Add(e, name)
	}
	n.byName[name] = e
	if len(n.byName) >= n.sweep {
		n.forget()
	}
	return true, nil
}

// SetLater records that e gets a name, as by [Names.Set]. The empty name removes e's name. If another living
// entity has the name by then, [World.Apply] skips the command. The Commands keep the name on the Go heap.
func (n *Names) SetLater(cs *Commands, e Entity, name string) {
	n.made().texts.record(cs, commandSet, e, name)
}

func (n *Names) later(cs *Commands, _ commandKind, e Entity, v unsafe.Pointer) bool {
	alive, err := n.Set(e, *n.texts.recorded(cs, v))
	return alive && err == nil
}

// forget removes the names of deleted entities from the index. The amortized cost for each name is constant,
// because Set calls forget when the number of entries has doubled.
func (n *Names) forget() {
	maps.DeleteFunc(n.byName, func(name string, _ Entity) bool {
		_, ok := n.Find(name)
		return !ok
	})
	n.sweep = max(64, 2*len(n.byName))
}

// trim calls forget and copies the remaining entries to a new map, because a map keeps the memory of removed
// entries.
func (n *Names) trim() {
	n.forget()
	kept := make(map[string]Entity, len(n.byName))
	maps.Copy(kept, n.byName)
	n.byName = kept
}

// renew enters the new references of entities that were moved.
func (n *Names) renew(m Moves) {
	for old, now := range m.All() {
		if name, named := n.Of(now); named && n.byName[name] == old {
			n.byName[name] = now
		}
	}
}

// Find returns the living entity that has the name, and whether there is one. Complexity: that of a map.
func (n *Names) Find(name string) (Entity, bool) {
	e, ok := n.made().byName[name]
	if !ok {
		return Entity{}, false
	}
	// The entity may be deleted: deletions do not update the map.
	if p := n.texts.Get(e); p == nil || *p != name {
		return Entity{}, false
	}
	return e, true
}

// Of returns e's name, and whether e is alive and has a name. Complexity: as [HeapColumn.Get].
func (n *Names) Of(e Entity) (string, bool) {
	if p := n.made().texts.Get(e); p != nil {
		return *p, true
	}
	return "", false
}

// Text returns e's name, or an empty string if e is stale or has no name. Complexity: as [HeapColumn.Get].
func (n *Names) Text(e Entity) string {
	name, _ := n.Of(e)
	return name
}

// Remove removes e's name and reports whether e had a name. Complexity: that of a map.
func (n *Names) Remove(e Entity) bool {
	name, had := n.Of(e)
	if had {
		n.texts.Remove(e)
		delete(n.byName, name)
	}
	return had
}
