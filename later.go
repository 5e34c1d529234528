package vast

import "unsafe"

// later does at Apply what was recorded for a column, and reports whether it came to something. The value is at v; an
// Entity in it that may be a placeholder is to be resolved by c. Where memory is wanting it panics with a [*vm.Error] and
// has changed nothing.
type later func(c *Commands, kind commandKind, e Entity, v unsafe.Pointer) bool

// AddLater records that e shall be given the component with the value v, as [Column.Add] does.
func (c Column[T]) AddLater(cs *Commands, e Entity, v T) {
	*(*T)(cs.recordFor(c.c, commandAdd, e, unsafe.Sizeof(v))) = v
}

// SetLater records that e's component shall be overwritten, as [Column.Set] does.
func (c Column[T]) SetLater(cs *Commands, e Entity, v T) {
	*(*T)(cs.recordFor(c.c, commandSet, e, unsafe.Sizeof(v))) = v
}

// RemoveLater records that the component shall be taken from e, as [Column.Remove] does.
func (c Column[T]) RemoveLater(cs *Commands, e Entity) { cs.recordFor(c.c, commandRemove, e, 0) }

func (c Column[T]) later(_ *Commands, kind commandKind, e Entity, v unsafe.Pointer) bool {
	switch kind {
	case commandAdd:
		return c.Add(e, *(*T)(v)) != nil
	case commandSet:
		return c.Set(e, *(*T)(v))
	}
	return c.c.remove(e)
}

// AddLater records that e shall be given the component with the value v, as [SparseColumn.Add] does.
func (c SparseColumn[T]) AddLater(cs *Commands, e Entity, v T) {
	*(*T)(cs.recordFor(c.c, commandAdd, e, unsafe.Sizeof(v))) = v
}

// SetLater records that e's component shall be overwritten, as [SparseColumn.Set] does.
func (c SparseColumn[T]) SetLater(cs *Commands, e Entity, v T) {
	*(*T)(cs.recordFor(c.c, commandSet, e, unsafe.Sizeof(v))) = v
}

// RemoveLater records that the component shall be taken from e, as [SparseColumn.Remove] does.
func (c SparseColumn[T]) RemoveLater(cs *Commands, e Entity) { cs.recordFor(c.c, commandRemove, e, 0) }

func (c SparseColumn[T]) later(_ *Commands, kind commandKind, e Entity, v unsafe.Pointer) bool {
	switch kind {
	case commandAdd:
		return c.Add(e, *(*T)(v)) != nil
	case commandSet:
		return c.Set(e, *(*T)(v))
	}
	return c.c.remove(e)
}

// AddLater records that e shall be given the component with the value v, as [HeapColumn.Add] does. The value waits on the
// Go heap.
func (c HeapColumn[T]) AddLater(cs *Commands, e Entity, v T) { c.record(cs, commandAdd, e, v) }

// SetLater records that e's component shall be overwritten, as [HeapColumn.Set] does. The value waits on the Go heap.
func (c HeapColumn[T]) SetLater(cs *Commands, e Entity, v T) { c.record(cs, commandSet, e, v) }

// RemoveLater records that the component shall be taken from e, as [HeapColumn.Remove] does.
func (c HeapColumn[T]) RemoveLater(cs *Commands, e Entity) { cs.recordFor(c.c, commandRemove, e, 0) }

// record puts the value into the list that the Commands keep for the column, and its index into the command.
func (c HeapColumn[T]) record(cs *Commands, kind commandKind, e Entity, v T) {
	index := (*uint64)(cs.recordFor(c.c, kind, e, 8))
	if n := int(c.c.id) + 1; n > len(cs.lists) {
		cs.lists = append(cs.lists, make([]list, n-len(cs.lists))...)
	}
	l, _ := cs.lists[c.c.id].(*listOf[T])
	if l == nil {
		l = new(listOf[T])
		cs.lists[c.c.id] = l
	}
	*index = uint64(len(l.values))
	l.values = append(l.values, v)
}

func (c HeapColumn[T]) later(cs *Commands, kind commandKind, e Entity, v unsafe.Pointer) bool {
	if kind == commandRemove {
		return c.c.remove(e)
	}
	value := cs.lists[c.c.id].(*listOf[T]).values[*(*uint64)(v)]
	if kind == commandAdd {
		return c.Add(e, value) != nil
	}
	return c.Set(e, value)
}

// AddLater records that e shall be given the tag, as [Tag.Add] does.
func (t Tag) AddLater(cs *Commands, e Entity) { cs.recordFor(t.c, commandAdd, e, 0) }

// RemoveLater records that the tag shall be taken from e, as [Tag.Remove] does.
func (t Tag) RemoveLater(cs *Commands, e Entity) { cs.recordFor(t.c, commandRemove, e, 0) }

func (t Tag) later(_ *Commands, kind commandKind, e Entity, _ unsafe.Pointer) bool {
	if kind == commandAdd {
		return t.Add(e)
	}
	return t.c.remove(e)
}

// SetLater records that target shall be made source's target, as [Relation.Set] does. Both may be placeholders. A link that
// would close a circle panics when it is applied.
func (r Relation) SetLater(cs *Commands, source, target Entity) {
	*(*Entity)(cs.recordFor(r.made().sources, commandSet, source, unsafe.Sizeof(target))) = target
}

// RemoveLater records that its target shall be taken from source, as [Relation.Remove] does.
func (r Relation) RemoveLater(cs *Commands, source Entity) {
	cs.recordFor(r.made().sources, commandRemove, source, 0)
}

func (k *relation) later(cs *Commands, kind commandKind, source Entity, v unsafe.Pointer) bool {
	if kind == commandRemove {
		return k.sources.remove(source)
	}
	return Relation{k}.Set(source, cs.resolve(*(*Entity)(v)))
}

// laterEdge is what is recorded of an edge.
type laterEdge[T any] struct {
	to    Entity
	value T
}

// AddLater records that an edge shall be made, or overwritten, as [Edges.Add] does. Both entities may be placeholders.
func (e Edges[T]) AddLater(cs *Commands, from, to Entity, v T) {
	one := laterEdge[T]{to, v}
	*(*laterEdge[T])(cs.recordFor(e.made().sources, commandAdd, from, unsafe.Sizeof(one))) = one
}

// RemoveLater records that an edge shall be taken away, as [Edges.Remove] does.
func (e Edges[T]) RemoveLater(cs *Commands, from, to Entity) {
	*(*Entity)(cs.recordFor(e.made().sources, commandRemove, from, unsafe.Sizeof(to))) = to
}

func (s *edges[T]) later(cs *Commands, kind commandKind, from Entity, v unsafe.Pointer) bool {
	to := cs.resolve(*(*Entity)(v))
	if kind == commandRemove {
		return Edges[T]{s}.Remove(from, to)
	}
	return Edges[T]{s}.Add(from, to, (*laterEdge[T])(v).value) != nil
}
