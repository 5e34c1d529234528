package vast

// The types in this file implement modelColumn for SparseColumn, HeapColumn and Tag.

type numberedSparse struct {
	SparseColumn[[3]uint64]
}

func newNumberedSparse(w *World, name string) numberedSparse {
	return numberedSparse{NewSparseColumn[[3]uint64](w).Named(name)}
}

func (c numberedSparse) cut(v uint64) uint64 { return v }

func (c numberedSparse) get(e Entity) (uint64, bool) {
	p := c.Get(e)
	switch {
	case p == nil:
		return 0, false
	case p[0] != p[1] || p[0] != p[2]:
		return mixed, true
	}
	return p[0], true
}

func (c numberedSparse) add(e Entity, v uint64) bool {
	p := c.Add(e, [3]uint64{v, v, v})
	return p != nil && p == c.Get(e)
}

func (c numberedSparse) set(e Entity, v uint64) bool  { return c.Set(e, [3]uint64{v, v, v}) }
func (c numberedSparse) addAll(q Query, v uint64) int { return c.AddAll(q, [3]uint64{v, v, v}) }
func (c numberedSparse) setAll(q Query, v uint64) int { return c.SetAll(q, [3]uint64{v, v, v}) }
func (c numberedSparse) put(e Entity, v uint64) bool  { return c.set(e, v) }
func (c numberedSparse) read(r Run) []uint64          { return readEach(c, r) }
func (c numberedSparse) write(r Run, v func(int) uint64) {
	writeEach(c, r, v)
}

func (c numberedSparse) hook(add, remove func(Entity)) {
	c.OnAdd(func(e Entity, _ *[3]uint64) { add(e) })
	c.OnRemove(func(e Entity, _ *[3]uint64) { remove(e) })
}

type numberedHeap struct {
	HeapColumn[boxed]
}

func newNumberedHeap(w *World, name string) numberedHeap {
	return numberedHeap{NewHeapColumn[boxed](w).Named(name)}
}

func (c numberedHeap) cut(v uint64) uint64 { return v }

func (c numberedHeap) get(e Entity) (uint64, bool) {
	p := c.Get(e)
	switch {
	case p == nil:
		return 0, false
	case p.N == nil:
		return 0, true
	}
	return *p.N, true
}

func (c numberedHeap) add(e Entity, v uint64) bool {
	p := c.Add(e, boxed{&v})
	return p != nil && p == c.Get(e)
}

func (c numberedHeap) set(e Entity, v uint64) bool  { return c.Set(e, boxed{&v}) }
func (c numberedHeap) addAll(q Query, v uint64) int { return c.AddAll(q, boxed{&v}) }
func (c numberedHeap) setAll(q Query, v uint64) int { return c.SetAll(q, boxed{&v}) }
func (c numberedHeap) put(e Entity, v uint64) bool  { return c.set(e, v) }
func (c numberedHeap) read(r Run) []uint64          { return readEach(c, r) }
func (c numberedHeap) write(r Run, v func(int) uint64) {
	writeEach(c, r, v)
}

func (c numberedHeap) hook(add, remove func(Entity)) {
	c.OnAdd(func(e Entity, _ *boxed) { add(e) })
	c.OnRemove(func(e Entity, _ *boxed) { remove(e) })
}

type numberedTag struct{ Tag }

func (c numberedTag) cut(uint64) uint64           { return 0 }
func (c numberedTag) get(e Entity) (uint64, bool) { return 0, c.Has(e) }
func (c numberedTag) add(e Entity, _ uint64) bool { return c.Add(e) }
func (c numberedTag) set(e Entity, _ uint64) bool { return c.Has(e) }
func (c numberedTag) addAll(q Query, _ uint64) int {
	return c.AddAll(q)
}

// setAll only counts the entities, because a tag has no value.
func (c numberedTag) setAll(q Query, _ uint64) (n int) {
	for e := range q.All() {
		if c.Has(e) {
			n++
		}
	}
	return n
}

func (c numberedTag) put(e Entity, _ uint64) bool     { return c.Has(e) }
func (c numberedTag) read(r Run) []uint64             { return readEach(c, r) }
func (c numberedTag) write(r Run, _ func(int) uint64) {}

func (c numberedTag) hook(add, remove func(Entity)) {
	c.OnAdd(add)
	c.OnRemove(remove)
}

func (c numbered[T]) hook(add, remove func(Entity)) {
	c.typed.OnAdd(func(e Entity, _ *T) { add(e) })
	c.typed.OnRemove(func(e Entity, _ *T) { remove(e) })
}

// readEach returns the components of a run. For a missing component it returns the constant mixed.
func readEach(c modelColumn, r Run) (vs []uint64) {
	for i := range r.Len() {
		v, has := c.get(r.Entity(i))
		if !has {
			v = mixed
		}
		vs = append(vs, v)
	}
	return vs
}

func writeEach(c modelColumn, r Run, v func(int) uint64) {
	for i := range r.Len() {
		c.put(r.Entity(i), v(i))
	}
}
