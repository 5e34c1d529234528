package soak

import (
	"math/rand/v2"
	"slices"

	"github.com/vastgo/vast/bulk"
	"github.com/vastgo/vast/vm"
)

// sequences makes, uses and closes arrays, tables and lists.
func sequences(t *tally) churn {
	return churn{name: "sequences", round: func(r *rand.Rand) {
		pages := vm.Pages(r.IntN(4))
		useArray(r, mustReturn(bulk.NewArray[place](bulk.Options{Capacity: 20_000, Pages: pages})))
		useTable(r, bulk.NewTable(bulk.TableOptions{Layout: bulk.Layout(r.IntN(4)), Capacity: 20_000,
			Pages: pages}))
		lists := mustReturn(bulk.NewLists[uint32](bulk.Options{Capacity: 400_000, Pages: pages}))
		owners := newOwners(lists)
		owners.use(r, 4000)
		mustSucceed(lists.Close())
		t.operations.Add(14_000)
	}}
}

func useArray(r *rand.Rand, a *bulk.Array[place]) {
	for i := range int64(5000) {
		a.Append(place{i, -i})
	}
	keep := r.IntN(5000)
	a.Truncate(keep)
	for i, p := range mustReturn(a.AppendN(5000 - keep)) {
		must(p == place{}, "element %d of AppendN is %v, not zero", i, p)
	}
	for i, p := range a.Slice() {
		must(i >= keep && p == place{} || i < keep && p == place{int64(i), -int64(i)}, "element %d is %v", i,
			p)
	}
	mustSucceed(a.Close())
	mustSucceed(a.Close())
}

func useTable(r *rand.Rand, table *bulk.Table) {
	number, square := bulk.NewField[int32](table, "number"), bulk.NewField[int64](table, "square")
	model := []int32{}
	for i := range int32(5000) {
		row := table.Append()
		*number.At(row), *square.At(row) = i, int64(i)*int64(i)
		model = append(model, i)
		if r.IntN(3) == 0 {
			row := r.IntN(len(model))
			table.RemoveSwap(row)
			model[row] = model[len(model)-1]
			model = model[:len(model)-1]
		}
	}
	row := 0
	for b := range table.Blocks() {
		numbers, squares := number.Slice(b), square.Slice(b)
		for i, v := range numbers {
			must(v == model[row] && squares[i] == int64(v)*int64(v),
				"row %d has the number %d, not %d, and the square %d", row, v, model[row], squares[i])
			row++
		}
	}
	must(row == len(model), "%d rows, not %d", row, len(model))
	mustSucceed(table.Close())
}

// owners holds lists and their model: Go slices with the same values.
type owners struct {
	lists *bulk.Lists[uint32]
	owned []bulk.List[uint32]
	model [][]uint32
}

func newOwners(lists *bulk.Lists[uint32]) *owners {
	return &owners{lists, make([]bulk.List[uint32], 500), make([][]uint32, 500)}
}

func (o *owners) use(r *rand.Rand, steps int) {
	for range steps {
		i := r.IntN(len(o.owned))
		l, m := &o.owned[i], &o.model[i]
		switch r.IntN(8) {
		case 0:
			o.lists.Free(l)
			*m = nil
		case 1:
			if len(*m) > 0 {
				k := r.IntN(len(*m))
				o.lists.Remove(*l, k)
				*m = slices.Delete(*m, k, k+1)
			}
		case 2:
			k, v := r.IntN(len(*m)+1), r.Uint32()
			o.lists.Insert(l, k, v)
			*m = slices.Insert(*m, k, v)
		case 3:
			if len(*m) < 200 {
				vs := make([]uint32, r.IntN(60))
				for k := range vs {
					vs[k] = r.Uint32()
				}
				mustReturn(o.lists.AppendSlice(l, vs))
				*m = append(*m, vs...)
			}
		default:
			v := r.Uint32()
			o.lists.Append(l, v)
			*m = append(*m, v)
		}
	}
	if r.IntN(4) == 0 {
		mustSucceed(o.lists.Compact(func(yield func(*bulk.List[uint32]) bool) {
			for i := range o.owned {
				if !yield(&o.owned[i]) {
					return
				}
			}
		}))
	}
	for i, l := range o.owned {
		must(slices.Equal(o.lists.Slice(l), o.model[i]), "list %d is %v, not %v", i, o.lists.Slice(l),
			o.model[i])
	}
}

// handled is implemented by Pool, Dense, SharedPool and the pools of package guard.
type handled interface {
	Insert(place) (bulk.Handle[place], *place)
	Remove(bulk.Handle[place]) bool
	Get(bulk.Handle[place]) *place
	Len() int
}

// holder makes the same insertions and removals in a container and in a model, which is a Go map.
type holder struct {
	container handled
	model     map[bulk.Handle[place]]place
	handles   []bulk.Handle[place] // the handles of all elements
	gone      []bulk.Handle[place] // handles of some removed elements
	maxLen    int                  // the largest number of elements
}

func newHolder(container handled, maxLen int) *holder {
	return &holder{container: container, model: map[bulk.Handle[place]]place{}, maxLen: maxLen}
}

func (o *holder) use(r *rand.Rand, steps int) {
	for range steps {
		if len(o.handles) == 0 || len(o.handles) < o.maxLen && r.IntN(2) == 0 {
			v := place{r.Int64(), r.Int64()}
			h, p := o.container.Insert(v)
			_, had := o.model[h]
			must(!had && *p == v, "the handle %v of a new element is not new, or its element is %v", h, *p)
			o.model[h] = v
			o.handles = append(o.handles, h)
			continue
		}
		i := r.IntN(len(o.handles))
		h := o.handles[i]
		must(o.container.Remove(h) && !o.container.Remove(h), "Remove of %v does not succeed exactly once", h)
		delete(o.model, h)
		o.handles[i] = o.handles[len(o.handles)-1]
		o.handles = o.handles[:len(o.handles)-1]
		if len(o.gone) < 100 {
			o.gone = append(o.gone, h)
		} else {
			o.gone[r.IntN(100)] = h
		}
	}
	must(o.container.Len() == len(o.model), "%d elements, not %d", o.container.Len(), len(o.model))
	for h, v := range o.model {
		p := o.container.Get(h)
		must(p != nil && *p == v, "the element of %v is %v, not %v", h, p, v)
	}
	for _, h := range o.gone {
		must(o.container.Get(h) == nil, "Get finds an element for the removed handle %v", h)
	}
}

// pools makes, uses, trims and closes a Pool and a Dense, and changes the Pool through a Transpose.
func pools(t *tally) churn {
	return churn{name: "pools", round: func(r *rand.Rand) {
		o := bulk.Options{Capacity: 10_000, Pages: vm.Pages(r.IntN(4))}
		pool, dense := mustReturn(bulk.NewPool[place](o)), mustReturn(bulk.NewDense[place](o))
		held := newHolder(pool, 5000)
		held.use(r, 5000)
		newHolder(dense, 5000).use(r, 5000)
		transpose := bulk.NewTranspose[place](bulk.TransposeOptions{})
		column := bulk.ColumnOf(transpose, func(p *place) *int64 { return &p.X })
		for rows := range transpose.Pool(pool) {
			values := column.Slice()
			must(len(values) == rows, "%d values in %d rows", len(values), rows)
			for i := range values {
				values[i]++
			}
		}
		for h, p := range pool.All() {
			must(p.X == held.model[h].X+1, "the element of %v is %v; its X must be one more than in %v", h, p,
				held.model[h])
		}
		dense.Clear(nil)
		mustSucceed(dense.Trim())
		mustSucceed(pool.Trim())
		mustSucceed(pool.Close())
		mustSucceed(dense.Close())
		must(pool.Len() == 0, "a closed pool has %d elements", pool.Len())
		t.operations.Add(10_000)
	}}
}
