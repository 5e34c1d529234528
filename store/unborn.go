package store

import (
	"reflect"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/vm"
)

// unborn are references to entities that do not exist yet: values are decoded before the entities are made.
// A reference gets a stand-in meanwhile.
type unborn struct {
	places []place
	maps   []refilled
}

// place is the place of a reference. The row is the number of the entity that it refers to.
type place struct {
	at  *vast.Entity
	row int
}

// refilled is a map whose keys or values hold references.
type refilled struct {
	m          reflect.Value
	keys, elem []reflect.Value
}

// standIn returns an entity of no world, another one for each row.
func standIn(row int) vast.Entity { return vast.EntityOf(uint64(row) + 1) }

// refer puts a stand-in into the place of a reference.
func (u *unborn) refer(at *vast.Entity, row int) {
	*at = standIn(row)
	u.places = append(u.places, place{at, row})
}

// len returns the number of references.
func (u *unborn) len() int {
	if u == nil {
		return 0
	}
	return len(u.places)
}

// fill puts the entities of all rows in their places.
func (u *unborn) fill(entities []vast.Entity) {
	for _, p := range u.places {
		*p.at = entities[p.row]
	}
	for _, m := range u.maps { // a map comes after the maps in its values
		m.m.Clear()
		for i, key := range m.keys {
			m.m.SetMapIndex(key, m.elem[i])
		}
	}
}

// wholeOrNot calls f, which makes entities and notes them. If f fails or panics, wholeOrNot deletes those
// that exist.
func wholeOrNot(w *vast.World, entities []vast.Entity, f func() error) (err error) {
	whole := false
	defer func() {
		if whole {
			return
		}
		v := recover()
		w.DeleteAll(w.Query().Among(entities))
		if refused, ok := v.(*vm.Error); ok {
			err = refused
		} else if v != nil {
			panic(v)
		}
	}()
	err = f()
	whole = err == nil
	return err
}
