package vast

import (
	"fmt"
	"reflect"
	"unsafe"
)

// A copying makes n copies of each original. If original a refers to original b, copy number i of a refers to
// copy number i of b. In the same world, all other references stay unchanged. In another world, stale
// references become zero, and other references to entities that are no originals are errors: see leadsOut.

// ownedKey is the key of a value in copying.owned. visited is the memory on the Go heap to which originals
// lead. The copies with number i own the value, which is their copy of this memory.
type ownedKey struct {
	visited
	i int
}

// translateIn translates the references in a column of the copies of a group.
func (k *copying) translateIn(g *copyGroup, c *column, r *references) {
	for i := range k.n {
		for _, e := range k.copies[i*len(k.originals)+g.first:][:g.count] {
			if s, ok := c.store.(*sharedStore); ok {
				s.edit(e.slot, func(v unsafe.Pointer) bool { k.translate(v, r, i); return true })
				continue
			}
			k.translate(c.at(e.slot), r, i)
		}
	}
}

// translate translates the references in the value at p, which belongs to copy number i. It replaces memory
// on the Go heap that leads to references by a copy of this memory. It reports whether a reference in the
// value itself, not behind pointers, became zero.
func (k *copying) translate(p unsafe.Pointer, r *references, i int) (lost bool) {
	for _, a := range r.at {
		for j := range a.n {
			e := (*Entity)(unsafe.Add(p, a.offset+uintptr(j)*bytesEntity))
			if row := k.row(e.slot); row >= 0 && k.originals[row] == *e {
				*e = k.copies[i*len(k.originals)+row]
			} else if k.from != k.to {
				lost = lost || !e.IsZero()
				*e = Entity{}
			}
		}
	}
	for _, b := range r.behind {
		v := reflect.NewAt(b.typ, unsafe.Add(p, b.offset)).Elem()
		if !v.IsNil() {
			v.Set(k.own(v, i))
		}
	}
	return lost
}

// own returns a copy of a slice, a map or a pointer, and of the memory to which it leads, for copy number i.
// Values of the same address, type and length share the copy of the memory.
func (k *copying) own(v reflect.Value, i int) reflect.Value {
	t := v.Type()
	key := ownedKey{visited{p: v.UnsafePointer(), typ: t}, i}
	if t.Kind() == reflect.Slice {
		key.n = v.Len()
	}
	if known, ok := k.owned[key]; ok {
		return known
	}
	if k.owned == nil {
		k.owned = make(map[ownedKey]reflect.Value)
	}
	var owned reflect.Value
	switch t.Kind() {
	case reflect.Map:
		owned = reflect.MakeMapWithSize(t, v.Len())
		k.owned[key] = owned
		k.ownEntries(owned, v, i)
		return owned
	case reflect.Slice:
		owned = reflect.MakeSlice(t, v.Len(), v.Len())
		reflect.Copy(owned, v)
	default:
		owned = reflect.New(t.Elem())
		owned.Elem().Set(v.Elem())
	}
	k.owned[key] = owned
	n, r := 1, referencesIn(t.Elem())
	if t.Kind() == reflect.Slice {
		n = v.Len()
	}
	for j := range n {
		k.translate(unsafe.Add(owned.UnsafePointer(), uintptr(j)*t.Elem().Size()), r, i)
	}
	return owned
}

// ownEntries copies the entries of a map. It leaves out entries whose keys lose a reference.
func (k *copying) ownEntries(to, from reflect.Value, i int) {
	t := from.Type()
	keys, elems := referencesIn(t.Key()), referencesIn(t.Elem())
	for it := from.MapRange(); it.Next(); {
		key, elem := reflect.New(t.Key()).Elem(), reflect.New(t.Elem()).Elem()
		key.Set(it.Key())
		elem.Set(it.Value())
		if keys != nil && k.translate(key.Addr().UnsafePointer(), keys, i) {
			continue
		}
		if elems != nil {
			k.translate(elem.Addr().UnsafePointer(), elems, i)
		}
		to.SetMapIndex(key, elem)
	}
}

// leadsOut returns an error if the value at p, which belongs to the original e, refers to a living entity
// that is no original.
func (k *copying) leadsOut(p unsafe.Pointer, r *references, e Entity, c *column) (err error) {
	seen := make(map[visited]bool)
	var visit func(p unsafe.Pointer, r *references)
	visit = func(p unsafe.Pointer, r *references) {
		if r == nil {
			return
		}
		for _, a := range r.at {
			for i := range a.n {
				other := *(*Entity)(unsafe.Add(p, a.offset+uintptr(i)*bytesEntity))
				if k.from.Alive(other) && k.row(other.slot) < 0 {
					err = fmt.Errorf("entity %v: %s refers to entity %v, which is not copied: copy it, too, "+
						"or clear the reference first", e, c.name, other)
				}
			}
		}
		for _, b := range r.behind {
			eachBehind(reflect.NewAt(b.typ, unsafe.Add(p, b.offset)).Elem(), seen, visit)
		}
	}
	visit(p, r)
	return err
}

// eachBehind calls f for each element of a slice, each key and element of a map, or the element of a pointer.
// If v is nil, or seen has the slice, the map or the pointer, eachBehind does nothing.
func eachBehind(v reflect.Value, seen map[visited]bool, f func(unsafe.Pointer, *references)) {
	t := v.Type()
	at := visited{p: v.UnsafePointer(), typ: t}
	if t.Kind() == reflect.Slice {
		at.n = v.Len()
	}
	if v.IsNil() || seen[at] {
		return
	}
	seen[at] = true
	switch t.Kind() {
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			for _, part := range []reflect.Value{it.Key(), it.Value()} {
				one := reflect.New(part.Type())
				one.Elem().Set(part)
				f(one.UnsafePointer(), referencesIn(part.Type()))
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			f(unsafe.Add(at.p, uintptr(i)*t.Elem().Size()), referencesIn(t.Elem()))
		}
	default:
		f(at.p, referencesIn(t.Elem()))
	}
}
