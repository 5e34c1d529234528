package vast

import (
	"errors"
	"math"
	"testing"

	"github.com/vastgo/vast/vm"
)

// TestSparseColumnWithoutAddresses: without addresses for its elements, a column is not registered, so no
// loop over all columns finds it.
func TestSparseColumnWithoutAddresses(t *testing.T) {
	if vm.HeapStandIn() {
		t.Skip("the heap stand-in takes the memory for so many slots at once")
	}
	w := NewWorld(Options{MaxEntities: math.MaxInt32, Pages: vm.PagesSmall})
	defer w.Close()
	v := panicOf(func() { NewSparseColumn[[1 << 16]byte](w) })
	if err, ok := v.(error); !ok || !(errors.Is(err, vm.ErrSize) || errors.Is(err, vm.ErrAddressSpace)) {
		t.Errorf("%v", v)
	}
	if n := len(w.columns); n != 0 {
		t.Errorf("%d columns", n)
	}
	c := NewSparseColumn[uint64](w)
	e := w.Archetype(c).New()
	if p := c.Get(e); p == nil || *p != 0 || c.c.id != 0 {
		t.Error("the column made next does not work")
	}
}
