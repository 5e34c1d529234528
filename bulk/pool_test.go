package bulk

import (
	"testing"

	"github.com/vastgo/vast/internal/invariants"
)

// newPool returns a pool that is closed at the end of the test.
func newPool[T any](t testing.TB, o Options) *Pool[T] {
	t.Helper()
	p, err := NewPool[T](o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func TestPointersStayWhilePoolChanges(t *testing.T) {
	n := many()
	if invariants.Enabled {
		n = 300_000 // the checks take time for each slot
	}
	p := newPool[record](t, Options{})
	handles := make([]Handle[record], n)
	pointers := make([]*record, 1000)
	for i := range handles {
		h, e := p.Insert(numbered(i))
		handles[i] = h
		if i < len(pointers) {
			pointers[i] = e
		}
	}
	for i := len(pointers); i < n; i += 3 {
		if !p.Remove(handles[i]) {
			t.Fatalf("element %d cannot be removed", i)
		}
	}
	for i, e := range pointers {
		if p.Get(handles[i]) != e || *e != numbered(i) {
			t.Fatalf("element %d was at %p with %v, is at %p", i, e, *e, p.Get(handles[i]))
		}
	}
	for i, h := range handles {
		if e := p.Get(h); i >= len(pointers) && i%3 == len(pointers)%3 {
			if e != nil {
				t.Fatalf("element %d was removed and is there", i)
			}
		} else if e == nil || *e != numbered(i) {
			t.Fatalf("element %d is %v", i, e)
		}
	}
	p.checkInvariants()
}
