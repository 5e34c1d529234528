package bulk

import (
	"errors"
	"testing"

	"github.com/vastgo/vast/vm"
)

func TestNoBudget(t *testing.T) {
	o := Options{Capacity: 1000, Limit: vm.NewLimit(0)}
	refused := func(name string, err error) {
		t.Helper()
		var e *vm.Error
		if !errors.Is(err, vm.ErrLimit) || !errors.As(err, &e) {
			t.Errorf("%s: error %v, want a *vm.Error that wraps vm.ErrLimit", name, err)
		}
	}
	if _, err := NewArray[uint64](o); err == nil {
		t.Error("NewArray succeeds without memory for the first element")
	} else {
		refused("Array", err)
	}
	for name, make := range map[string]func() (insert func(), closing func() error, grow error){
		"Pool": func() (insert func(), closing func() error, grow error) {
			p, err := NewPool[uint64](o)
			if err != nil {
				t.Fatal(err)
			}
			return func() { p.Insert(1) }, p.Close, p.Grow(1)
		},
		"Dense": func() (insert func(), closing func() error, grow error) {
			d, err := NewDense[uint64](o)
			if err != nil {
				t.Fatal(err)
			}
			return func() { d.Insert(1) }, d.Close, d.Grow(1)
		},
		"Lists": func() (insert func(), closing func() error, grow error) {
			ls, err := NewLists[uint64](o)
			if err != nil {
				t.Fatal(err)
			}
			var l List[uint64]
			return func() { ls.Append(&l, 1) }, ls.Close, ls.Grow(&l, 1)
		},
		"Table": func() (insert func(), closing func() error, grow error) {
			table := NewTable(TableOptions{Capacity: 1000, Limit: o.Limit})
			NewField[uint64](table, "x")
			return func() { table.Append() }, table.Close, table.Grow(1)
		},
		"HashIndex": func() (insert func(), closing func() error, grow error) {
			x, err := NewHashIndex[uint64, uint32](o)
			if err != nil {
				t.Fatal(err)
			}
			return func() { x.Add(1, 1) }, x.Close, x.Grow(1)
		},
		"OrderedIndex": func() (insert func(), closing func() error, grow error) {
			x, err := NewOrderedIndex[uint64, uint32](o)
			if err != nil {
				t.Fatal(err)
			}
			return func() { x.Add(1, 1) }, x.Close, x.Grow(1)
		},
		"SharedArray": func() (insert func(), closing func() error, grow error) {
			a, err := NewSharedArray[uint64](o)
			if err != nil {
				t.Fatal(err)
			}
			return func() { a.Append(1) }, a.Close, a.Grow(1)
		},
		"SharedPool": func() (insert func(), closing func() error, grow error) {
			p, err := NewSharedPool[uint64](o)
			if err != nil {
				t.Fatal(err)
			}
			return func() { p.Insert(1) }, p.Close, p.Grow(1)
		},
		"SharedTable": func() (insert func(), closing func() error, grow error) {
			table, err := NewSharedTable[uint64](o)
			if err != nil {
				t.Fatal(err)
			}
			w := table.Writer()
			return func() { w.Set(0, 1) }, table.Close, w.Grow(1)
		},
	} {
		insert, closing, grow := make()
		refused(name+".Grow", grow)
		if err := exhausted(insert); err == nil {
			t.Errorf("%s accepted an element without memory", name)
		} else {
			refused(name, err)
		}
		if err := closing(); err != nil {
			t.Errorf("%s: Close: %v", name, err)
		}
	}
	if used := o.Limit.Used(); used != 0 {
		t.Errorf("the limit counts %d bytes after all containers are closed", used)
	}
}
