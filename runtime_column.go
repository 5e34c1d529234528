package vast

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/vastgo/vast/internal/layout"
	"github.com/vastgo/vast/internal/probing"
	"github.com/vastgo/vast/internal/sharing"
)

// NewColumn registers a component whose type is known only at run time. It panics as NewColumn, NewTag,
// NewSparseColumn and NewHeapColumn of package vast do, and as New of package shared does.
func (probes) NewColumn(w *World, name string, typ reflect.Type, s probing.Storage) AnyColumn {
	if s == probing.StorageTag {
		if typ != nil {
			panic(fmt.Sprintf("probe: NewColumn: the tag %q has the type %v: give nil", name, typ))
		}
		return NewTag(w, name)
	}
	w.mustTakeColumns("probe.NewColumn")
	if typ == nil {
		panic(fmt.Sprintf("probe: NewColumn: column %q has no type: give the type of its elements", name))
	}
	if s != probing.StorageHeap {
		layout.CheckType("probe: NewColumn", typ, "give StorageHeap")
	}
	var c *column
	var err error
	switch s {
	case probing.StorageDense:
		if c, err = w.register(name, typ); err == nil {
			c.later, c.recorded = c.laterBytes, typ
		}
	case probing.StorageSparse:
		c, err = w.registerSparse(name, typ)
	case probing.StorageShared:
		mustHaveSize("probe: NewColumn", typ)
		var of *sharedStore
		if of, err = w.registerShared(name, typ, sharing.ReflectMap(typ)); err == nil {
			c = of.c
		}
	case probing.StorageHeap:
		if c, err = w.register(name, nil); err == nil {
			c.typ = typ
			c.keep(newRuntimeHeapStore(typ))
		}
	default:
		panic(fmt.Sprintf("probe: NewColumn: the storage of column %q is %d: use one of the constants",
			name, s))
	}
	if err != nil {
		panic(err)
	}
	return columnOfAnyType{c}
}

// laterBytes applies a recorded command to a column whose elements lie in memory at c.base. v points to the
// bytes of the command's value. laterBytes reports whether the command had an effect.
func (c *column) laterBytes(_ *Commands, kind commandKind, e Entity, v unsafe.Pointer) bool {
	gained := false
	switch kind {
	case commandRemove:
		return c.remove(e)
	case commandAdd:
		var alive bool
		if alive, gained = c.add(e); !alive {
			return false
		}
	case commandSet:
		if !c.has(e) {
			return false
		}
		if c.tracked {
			c.wrote(e.slot)
		}
	}
	copy(c.element(e.slot), unsafe.Slice((*byte)(v), c.bytes))
	if gained {
		c.tellAdded(e.slot)
	}
	return true
}
