package vast

import (
	"math/bits"
	"reflect"
	"slices"
	"sync"
	"unsafe"
)

// references are the places of Entities in the values of one type. Entities in interfaces, channels and
// functions are left out.
type references struct {
	at     []entityArray // Entities inside the value
	behind []indirection // slices, maps and pointers that lead to Entities
}

// entityArray is the place of n consecutive Entities.
type entityArray struct {
	offset uintptr // in the value
	n      int
}

// indirection is a slice, a map or a pointer that leads to Entities.
type indirection struct {
	offset uintptr
	typ    reflect.Type
}

var (
	typeEntity      = reflect.TypeFor[Entity]()
	bytesEntity     = typeEntity.Size()
	knownReferences sync.Map // reflect.Type → *references
)

// referencesIn returns where the Entities lie in values of type t. It returns nil if the values hold no
// Entities.
func referencesIn(t reflect.Type) *references {
	if t == nil {
		return nil
	}
	known, ok := knownReferences.Load(t)
	if !ok {
		found := new(references)
		if found.find(t, 0); len(found.at)+len(found.behind) == 0 {
			found = nil
		}
		known, _ = knownReferences.LoadOrStore(t, found)
	}
	return known.(*references)
}

// find appends the references of a value of type t that lies at the offset.
func (r *references) find(t reflect.Type, offset uintptr) {
	switch {
	case !leadsToEntity(t, nil):
	case t == typeEntity:
		if k := len(r.at) - 1; k >= 0 && r.at[k].offset+uintptr(r.at[k].n)*bytesEntity == offset {
			r.at[k].n++
		} else {
			r.at = append(r.at, entityArray{offset, 1})
		}
	case t.Kind() == reflect.Struct:
		for i := range t.NumField() {
			r.find(t.Field(i).Type, offset+t.Field(i).Offset)
		}
	case t.Kind() == reflect.Array:
		for i := range t.Len() {
			r.find(t.Elem(), offset+uintptr(i)*t.Elem().Size())
		}
	default:
		r.behind = append(r.behind, indirection{offset, t})
	}
}

// leadsToEntity reports whether values of type t hold Entities or lead to Entities. It does not search the
// enclosing types again, because a type may contain itself.
func leadsToEntity(t reflect.Type, enclosing []reflect.Type) bool {
	if t == typeEntity {
		return true
	}
	if slices.Contains(enclosing, t) || slices.Contains(ownTypes, t) || t.PkgPath() == pathOfBulk {
		return false
	}
	enclosing = append(enclosing, t)
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			if leadsToEntity(t.Field(i).Type, enclosing) {
				return true
			}
		}
	case reflect.Array, reflect.Slice, reflect.Pointer:
		return leadsToEntity(t.Elem(), enclosing)
	case reflect.Map:
		return leadsToEntity(t.Key(), enclosing) || leadsToEntity(t.Elem(), enclosing)
	}
	return false
}

// The renewal of references skips values of these types and of package bulk. A world renews its own parts in
// other ways. Queries and containers of the program keep their old references.
var (
	ownTypes = []reflect.Type{reflect.TypeFor[World](), reflect.TypeFor[query](), reflect.TypeFor[Commands](),
		reflect.TypeFor[Names](), reflect.TypeFor[Moves]()}
	pathOfBulk = typeEntity.PkgPath() + "/bulk"
)

// renewal replaces the old references of moved entities by the new references.
type renewal struct {
	Moves
	seen    map[visited]bool // renewed values behind slices and pointers
	batch   [64]*Entity      // Entities that flush will renew
	batched int              // number of Entities in batch
}

// visited is a value behind a slice or a pointer.
type visited struct {
	p   unsafe.Pointer
	n   int
	typ reflect.Type
}

// entity renews *e and reports whether *e was the old reference of a moved entity.
func (n *renewal) entity(e *Entity) bool {
	if m := n.find(e.slot); m != nil && m.old.generation == e.generation {
		*e = m.new
		return true
	}
	return false
}

// later defers the renewal of an Entity to the next flush, which renews many Entities together. A renewal
// takes two loads from distant addresses. The processor overlaps the loads of several Entities if it
// mispredicts no branch that depends on these loads. So flush tests the mask without a branch. The branches
// that stay nearly always go the same way.
func (n *renewal) later(e *Entity) {
	if n.batched == len(n.batch) {
		n.flush()
	}
	n.batch[n.batched] = e
	n.batched++
}

func (n *renewal) flush() {
	var pairs [len(n.batch)]uint32
	k := 0
	for _, e := range n.batch[:n.batched] {
		if i := e.slot/64 - n.first; i < uint32(len(n.words)) {
			w := &n.words[i]
			n.batch[k], pairs[k] = e, w.at+uint32(bits.OnesCount64(w.mask&(1<<(e.slot%64)-1)))
			k += int(w.mask >> (e.slot % 64) & 1)
		}
	}
	for j, e := range n.batch[:k] {
		if m := &n.pairs[pairs[j]]; m.old.generation == e.generation {
			*e = m.new
		}
	}
	n.batched = 0
}

// value renews the Entities of the value at p, which has the references r. It reports whether it has renewed
// an Entity.
func (n *renewal) value(p unsafe.Pointer, r *references) (renewed bool) {
	for _, a := range r.at {
		for i := range a.n {
			renewed = n.entity((*Entity)(unsafe.Add(p, a.offset+uintptr(i)*bytesEntity))) || renewed
		}
	}
	for _, b := range r.behind {
		renewed = n.behind(reflect.NewAt(b.typ, unsafe.Add(p, b.offset)).Elem()) || renewed
	}
	return renewed
}

// behind renews the Entities to which a slice, a map or a pointer leads. It reports whether it has renewed an
// Entity.
func (n *renewal) behind(v reflect.Value) (renewed bool) {
	if v.IsNil() {
		return false
	}
	t := v.Type()
	if t.Kind() == reflect.Map {
		return n.inMap(v)
	}
	r, count := referencesIn(t.Elem()), 1
	if t.Kind() == reflect.Slice {
		count = v.Len()
	}
	at := visited{v.UnsafePointer(), count, t}
	if n.seen[at] {
		return false
	}
	if n.seen == nil {
		n.seen = make(map[visited]bool)
	}
	n.seen[at] = true
	for i := range count {
		renewed = n.value(unsafe.Add(at.p, uintptr(i)*t.Elem().Size()), r) || renewed
	}
	return renewed
}

func (n *renewal) inMap(v reflect.Value) (renewed bool) {
	t := v.Type()
	keys, elems := referencesIn(t.Key()), referencesIn(t.Elem())
	type entry struct{ key, elem reflect.Value }
	var entries []entry
	for it := v.MapRange(); it.Next(); {
		key, elem := reflect.New(t.Key()).Elem(), reflect.New(t.Elem()).Elem()
		key.Set(it.Key())
		elem.Set(it.Value())
		if elems != nil && n.value(elem.Addr().UnsafePointer(), elems) {
			renewed = true
			v.SetMapIndex(it.Key(), elem)
		}
		if keys != nil && n.value(key.Addr().UnsafePointer(), keys) {
			entries = append(entries, entry{key, elem})
			v.SetMapIndex(it.Key(), reflect.Value{})
		}
	}
	for _, e := range entries {
		v.SetMapIndex(e.key, e.elem)
	}
	return renewed || len(entries) > 0
}

// renew renews the Entities in the column's elements. For trackers, a renewed element counts as written.
func (c *column) renew(n *renewal) {
	r := referencesIn(c.typ)
	if r == nil {
		return
	}
	if s, ok := c.store.(*sharedStore); ok {
		s.renew(n, r)
		return
	}
	if !c.tracked && len(r.behind) == 0 {
		for slot := range c.present() {
			for _, a := range r.at {
				for i := range a.n {
					n.later((*Entity)(unsafe.Add(c.at(slot), a.offset+uintptr(i)*bytesEntity)))
				}
			}
		}
		n.flush()
		return
	}
	for slot := range c.present() {
		if n.value(c.at(slot), r) && c.tracked {
			c.wrote(slot)
		}
	}
}

// renew renews the Entities in commands. The command of an applied birth holds the entity that was made, for
// [Commands.Resolve].
func (c *Commands) renew(n *renewal) {
	for at := uintptr(0); at < c.used; {
		h := c.head(at)
		n.entity(&h.entity)
		if c.trimmed {
			at += headBytes
			continue
		}
		size := uintptr(h.words) * 8
		if kind := h.kind(); kind == commandAdd || kind == commandSet || kind == commandRemove {
			c.world.columns[h.id()].renewRecorded(n, h.value(), size-headBytes)
		}
		at += size
	}
	for _, l := range c.lists {
		if l != nil {
			l.renew(n)
		}
	}
}

// renewRecorded renews the Entities in the value of a recorded command. size is the number of bytes of the
// value.
func (c *column) renewRecorded(n *renewal, p unsafe.Pointer, size uintptr) {
	r := referencesIn(c.recorded)
	if r == nil {
		return
	}
	for _, a := range r.at {
		end := min(a.offset+uintptr(a.n)*bytesEntity, size)
		for offset := a.offset; offset < end; offset += bytesEntity {
			n.entity((*Entity)(unsafe.Add(p, offset)))
		}
	}
}

func (l *listOf[T]) renew(n *renewal) {
	if r := referencesIn(reflect.TypeFor[T]()); r != nil {
		for i := range l.values {
			n.value(unsafe.Pointer(&l.values[i]), r)
		}
	}
}
