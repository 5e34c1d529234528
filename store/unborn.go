package store

import (
	"reflect"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/probe"
	"github.com/vastgo/vast/vm"
)

// unborn lists references to entities that are not made yet. The references lie in decoded values. Each
// reference holds a stand-in, which fill replaces by the entity.
type unborn struct {
	places []place
	maps   []refilled
}

// place says where a reference lies, and to which entity it will refer.
type place struct {
	at  *vast.Entity
	row int // the index of the entity in the argument of fill
}

// refilled is a map whose keys or values hold references.
type refilled struct {
	m          reflect.Value
	keys, elem []reflect.Value
}

// standIn returns the stand-in for a row: an Entity that no world has, and that no other row has.
func standIn(row int) vast.Entity { return vast.EntityOf(uint64(row) + 1) }

func (u *unborn) refer(at *vast.Entity, row int) {
	*at = standIn(row)
	u.places = append(u.places, place{at, row})
}

func (u *unborn) len() int {
	if u == nil {
		return 0
	}
	return len(u.places)
}

// fill replaces the stand-ins by entities. entities has an entity for each row.
func (u *unborn) fill(entities []vast.Entity) {
	for _, p := range u.places {
		*p.at = entities[p.row]
	}
	for _, m := range u.maps { // a map in a value of another map comes before the other map
		m.m.Clear()
		for i, key := range m.keys {
			m.m.SetMapIndex(key, m.elem[i])
		}
	}
}

// wholeOrNot calls f, which makes entities and stores them in the slice entities. If f returns an error or
// panics, wholeOrNot deletes these entities. A panic with a [*vm.Error] becomes the returned error.
func wholeOrNot(w *vast.World, entities []vast.Entity, f func() error) (err error) {
	whole := false
	defer func() {
		if whole {
			return
		}
		v := recover()
		w.DeleteAll(probe.All(w.Query()).Among(entities))
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
