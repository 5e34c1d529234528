package bench

import (
	"runtime"

	"github.com/vastgo/vast/bulk"
)

// denseWorks returns the works of the family dense. Except in dense-iterate, they compare the library with
// packed slices whose elements are found by ids.
func denseWorks() []work {
	return []work{
		{"dense-insert", bytesElements, denseInsertions},
		{"dense-get", nil, denseGets},
		{"dense-iterate", nil, denseIterations},
		{"dense-remove", bytesElements, denseRemovals},
		{"dense-refill", bytesElements, denseRefills},
	}
}

// denseInsertions returns the sides of the work dense-insert: make a container for n elements, insert n
// elements, and keep the handles or ids. The side vast inserts whole elements. The side vast-insert-zero
// calls InsertZero, and sets one field of each element.
func denseInsertions(n int) (sides []side, done func()) {
	dense := func(name string, fill func(*bulk.Dense[element], []bulk.Handle[element])) side {
		return side{name, func(m *meter) {
			handles := make([]bulk.Handle[element], n)
			var d *bulk.Dense[element]
			m.run(func() {
				d = newDense(n)
				fill(d, handles)
			})
			mustBe(name, d.Len(), n)
			mustSucceed(d.Close())
		}}
	}
	return []side{
		dense("vast", fillDense),
		dense("vast-insert-zero", fillDenseZeroes),
		{"swap-and-pop-ids", func(m *meter) {
			ids := make([]uint32, n)
			var p *packed
			m.run(func() {
				p = newPacked(n)
				fillPacked(p, ids)
			})
			runtime.KeepAlive(p)
		}},
		{"map-and-slice", func(m *meter) {
			ids := make([]uint64, n)
			var p *mapped
			m.run(func() {
				p = newMapped(n)
				fillMapped(p, ids)
			})
			runtime.KeepAlive(p)
		}},
	}, nil
}

// denseGets returns the sides of the work dense-get: find each element by its handle or id in random order,
// and read one of the element's numbers.
func denseGets(n int) (sides []side, done func()) {
	order := randomOrder(n)
	d, handles := filledDense(n)
	handles = shuffle(handles, order)
	p, q := filledPacked(n), filledMapped(n)
	ids := make([]uint64, n)
	for i, id := range order {
		ids[i] = uint64(id)
	}
	want := sumSlice(d.Slice())
	return []side{
		reading("vast", want, func() float32 { return sumDenseGets(d, handles) }),
		reading("swap-and-pop-ids", want, func() float32 { return sumPackedGets(p, order) }),
		reading("map-and-slice", want, func() float32 { return sumMappedGets(q, ids) }),
	}, func() { mustSucceed(d.Close()) }
}

// denseIterations returns the sides of the work dense-iterate: read a number from each of n elements. Before
// the measurement, the Dense of the side vast gets 2n elements, and n of them are removed in random order.
// The side slice-loop reads a slice.
func denseIterations(n int) (sides []side, done func()) {
	d, handles := filledDense(2 * n)
	for _, i := range randomOrder(2 * n)[:n] {
		d.Remove(handles[i])
	}
	es := fillSlice(n, n)
	want := sumSlice(es)
	return []side{
		reading("vast", want, func() float32 { return sumSlice(d.Slice()) }),
		reading("slice-loop", want, func() float32 { return sumSlice(es) }),
	}, func() { mustSucceed(d.Close()) }
}

// denseRemovals returns the sides of the work dense-remove: remove n elements in random order.
func denseRemovals(n int) (sides []side, done func()) {
	order := randomOrder(n)
	return []side{
		{"vast", func(m *meter) {
			d, handles := filledDense(n)
			shuffled := shuffle(handles, order)
			m.run(func() { removeFromDense(d, shuffled) })
			mustBe("vast", d.Len(), 0)
			mustSucceed(d.Close())
		}},
		{"swap-and-pop-ids", func(m *meter) {
			p := filledPacked(n)
			m.run(func() { removeFromPacked(p, order) })
			mustBe("swap-and-pop-ids", len(p.elements), 0)
		}},
		{"map-and-slice", func(m *meter) {
			p := filledMapped(n)
			ids := make([]uint64, n)
			for i, id := range order {
				ids[i] = uint64(id)
			}
			m.run(func() { removeFromMapped(p, ids) })
			mustBe("map-and-slice", len(p.elements), 0)
		}},
	}, nil
}

// denseRefills returns the sides of the work dense-refill: insert n elements after n elements were removed in
// random order. The sides of the library are those of dense-insert.
func denseRefills(n int) (sides []side, done func()) {
	order := randomOrder(n)
	dense := func(name string, fill func(*bulk.Dense[element], []bulk.Handle[element])) side {
		return side{name, func(m *meter) {
			d, handles := filledDense(n)
			removeFromDense(d, shuffle(handles, order))
			m.run(func() { fill(d, handles) })
			mustBe(name, d.Len(), n)
			mustSucceed(d.Close())
		}}
	}
	return []side{
		dense("vast", fillDense),
		dense("vast-insert-zero", fillDenseZeroes),
		{"swap-and-pop-ids", func(m *meter) {
			p := filledPacked(n)
			removeFromPacked(p, order)
			ids := make([]uint32, n)
			m.run(func() { fillPacked(p, ids) })
			runtime.KeepAlive(p)
		}},
	}, nil
}

func newDense(n int) *bulk.Dense[element] {
	return made(bulk.NewDense[element](bulk.Options{Name: "bench", Capacity: n}))
}

func filledDense(n int) (*bulk.Dense[element], []bulk.Handle[element]) {
	d, handles := newDense(n), make([]bulk.Handle[element], n)
	fillDense(d, handles)
	return d, handles
}

//go:noinline
func fillDense(d *bulk.Dense[element], handles []bulk.Handle[element]) {
	for i := range handles {
		handles[i], _ = d.Insert(numbered(i))
	}
}

//go:noinline
func fillDenseZeroes(d *bulk.Dense[element], handles []bulk.Handle[element]) {
	for i := range handles {
		h, e := d.InsertZero()
		e.position = vector{float32(i), 1, 2}
		handles[i] = h
	}
}

//go:noinline
func fillPacked(p *packed, ids []uint32) {
	for i := range ids {
		ids[i] = p.insert(numbered(i))
	}
}

//go:noinline
func fillMapped(m *mapped, ids []uint64) {
	for i := range ids {
		ids[i] = m.insert(numbered(i))
	}
}

//go:noinline
func sumDenseGets(d *bulk.Dense[element], handles []bulk.Handle[element]) (sum float32) {
	for _, h := range handles {
		sum += d.Get(h).position.y
	}
	return sum
}

//go:noinline
func sumPackedGets(p *packed, ids []uint32) (sum float32) {
	for _, id := range ids {
		sum += p.get(id).position.y
	}
	return sum
}

//go:noinline
func sumMappedGets(m *mapped, ids []uint64) (sum float32) {
	for _, id := range ids {
		sum += m.get(id).position.y
	}
	return sum
}

//go:noinline
func removeFromDense(d *bulk.Dense[element], handles []bulk.Handle[element]) {
	for _, h := range handles {
		d.Remove(h)
	}
}

//go:noinline
func removeFromMapped(m *mapped, ids []uint64) {
	for _, id := range ids {
		m.remove(id)
	}
}
