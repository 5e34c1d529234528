package bulk

import (
	"cmp"
	"slices"

	"github.com/vastgo/vast/internal/longtest"
)

type indexLife interface {
	Index[uint64, uint32]
	RemoveAll(uint64) int
	Resident() (int, error)
	Close() error
}

func liveIndex(l *life, construct func() (indexLife, error)) {
	var x indexLife
	l.try("the constructor", func() (err error) { x, err = construct(); return err })
	pairs := map[[2]uint64]bool{}
	l.check = func() {
		checkIndex(x)
		l.must(x.Len() == len(pairs), "%d pairs, want %d", x.Len(), len(pairs))
		for p := range pairs {
			l.must(x.Has(p[0], uint32(p[1])), "pair %v is lost", p)
		}
	}
	add := func(lo, hi uint64) {
		for n := lo; n < hi; n++ {
			l.do("Add", func() {
				x.Add(n%170, uint32(n))
				pairs[[2]uint64{n % 170, n}] = true
			})
		}
	}
	part := uint64(longtest.Pick(500, 1000))
	add(0, 2*part)
	l.try("Grow", func() error { return x.Grow(3 * int(part)) })
	add(2*part, 6*part)
	for n := uint64(100); n < 6*part; n++ {
		l.do("Remove", func() {
			l.must(x.Remove(n%170, uint32(n)), "there is no pair with the value %d", n)
			delete(pairs, [2]uint64{n % 170, n})
		})
	}
	l.do("RemoveAll", func() {
		x.RemoveAll(3)
		delete(pairs, [2]uint64{3, 3})
	})
	l.try("Trim", x.Trim)
	add(7*part, 9*part)
	clear(pairs)
	l.do("Clear", x.Clear)
	add(0, 500)
	l.end(x)
}

func liveIndexed(l *life) {
	var p *Pool[record]
	var byNumber *HashIndex[uint64, Handle[record]]
	var byRest *OrderedIndex[uint64, Handle[record]]
	l.try("NewPool", func() (err error) { p, err = NewPool[record](l.o); return err })
	l.try("NewHashIndex", func() (err error) {
		byNumber, err = NewHashIndex[uint64,
			Handle[record]](l.o)
		return err
	})
	l.try("NewOrderedIndex", func() (err error) {
		byRest, err = NewOrderedIndex[uint64,
			Handle[record]](l.o)
		return err
	})
	x := NewIndexed(p)
	l.try("Attach", func() error { return Attach(x, byNumber, func(v *record) uint64 { return v[0] }) })
	l.try("Attach", func() error { return Attach(x, byRest, func(v *record) uint64 { return v[0] % 10 }) })
	var all []Handle[record]
	l.check = func() {
		p.checkInvariants()
		byNumber.checkInvariants()
		byRest.tree.checkInvariants("")
		l.must(p.Len() == len(all) && byNumber.Len() == len(all) && byRest.Len() == len(all),
			"the pool has %d elements, and the indices have %d and %d, want %d in each",
			p.Len(), byNumber.Len(), byRest.Len(), len(all))
		for i, h := range all {
			l.must(*p.Get(h) == numbered(i) && byNumber.Has(uint64(i), h) && byRest.Has(uint64(i%10), h),
				"element %d is lost", i)
		}
	}
	for range 1500 {
		l.do("Insert", func() {
			h, _ := x.Insert(numbered(len(all)))
			all = append(all, h)
		})
	}
	l.try("Grow", func() error { return x.Grow(2500) })
	l.check()
	for len(all) > 40 {
		l.do("Remove", func() {
			x.Remove(all[len(all)-1])
			all = all[:len(all)-1]
		})
	}
	for _, c := range []interface {
		Resident() (int, error)
		Close() error
	}{p, byNumber, byRest} {
		l.end(c)
	}
}

func liveSharedArray(l *life) {
	var a *SharedArray[record]
	l.try("NewSharedArray", func() (err error) { a, err = NewSharedArray[record](l.o); return err })
	var want []int
	l.check = func() {
		l.must(a.Len() == len(want), "%d elements, want %d", a.Len(), len(want))
		for i, v := range a.Slice() {
			l.must(v == numbered(want[i]), "element %d is %v", i, v)
		}
	}
	for range 400 {
		l.do("Append", func() { a.Append(numbered(len(want))); want = append(want, len(want)) })
	}
	l.try("Grow", func() error { return a.Grow(3000) })
	values := slices.Repeat([]record{numbered(0)}, 4000)
	l.try("AppendSlice", func() error {
		_, _, err := a.AppendSlice(values)
		if err == nil {
			want = append(want, make([]int, len(values))...)
		}
		return err
	})
	to := a.Appender()
	var buffered []int
	for i := range 3000 {
		l.do("Appender.Append", func() {
			to.Append(numbered(i))
			buffered = append(buffered, i)
		})
		if to.Buffered() == 0 {
			want, buffered = append(want, buffered...), nil
		} else if n := len(buffered) - to.Buffered(); n > 0 {
			want, buffered = append(want, buffered[:n]...), buffered[n:]
		}
	}
	l.try("Flush", func() error { _, _, err := to.Flush(); return err })
	want = append(want, buffered...)
	l.end(a)
}

func liveSharedTable(l *life) {
	var table *SharedTable[object]
	l.try("NewSharedTable", func() (err error) { table, err = NewSharedTable[object](l.o); return err })
	w, r := table.Writer(), table.Reader()
	values := map[int]uint64{}
	l.check = func() {
		checkTable(l.t, table)
		l.must(table.Len() == len(values), "%d entries, want %d", table.Len(), len(values))
		for i, n := range values {
			v, ok := r.Load(i)
			l.must(ok && v == objectOf(n), "entry %d is %v", i, v)
		}
	}
	for i := range 2000 {
		l.do("Set", func() { w.Set(i, objectOf(uint64(i))); values[i] = uint64(i) })
		l.do("Set again", func() { w.Set(i/2, objectOf(uint64(i+1))); values[i/2] = uint64(i + 1) })
	}
	l.try("Grow", func() error { return cmp.Or(table.GrowEntries(9000), w.Grow(500)) })
	for i := range 1500 {
		l.do("Remove", func() { w.Remove(i); delete(values, i) })
	}
	for i := range 6000 {
		l.do("Set", func() { w.Set(i, objectOf(uint64(i))); values[i] = uint64(i) })
	}
	l.end(table)
}
