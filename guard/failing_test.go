package guard

import (
	"errors"
	"testing"
	"unsafe"

	"github.com/vastgo/vast/bulk"
	injected "github.com/vastgo/vast/internal/fault"
	"github.com/vastgo/vast/internal/faulttest"
	"github.com/vastgo/vast/vm"
)

// closeTwiceIfFailed closes a container whose Close may fail once. It returns the error of the first Close.
func closeTwiceIfFailed(t *testing.T, c interface{ Close() error }) (err error) {
	if err = c.Close(); err != nil {
		if again := c.Close(); again != nil {
			t.Errorf("the second Close: %v", again)
		}
	}
	return err
}

// attempt returns the *vm.Error that f panics with, or nil.
func attempt(f func()) error {
	if _, e := caught(f); e != nil {
		return e
	}
	return nil
}

func TestAllocatorWhereEachCallFails(t *testing.T) {
	calls := faulttest.EachCall(t, func() error {
		a, err := NewAllocator(Options{Addresses: 9 * vm.PageSize()})
		if err != nil {
			return err
		}
		var all []error
		for round := range 3 {
			p, err := a.Alloc(100, 1)
			if all = append(all, err); err != nil {
				if p, err = a.Alloc(100, 1); err != nil {
					t.Errorf("round %d: the second Alloc: %v", round, err)
				}
			}
			*(*byte)(p) = 1
			s := []int(nil)
			if err := attempt(func() { s = MakeSlice[int](a, 700, 700) }); err != nil {
				all = append(all, err)
				s = MakeSlice[int](a, 700, 700)
			}
			s[699] = round
			if a.Len() != 2 {
				t.Errorf("round %d: %d blocks", round, a.Len())
			}
			if err := attempt(func() { a.Free(p) }); err != nil {
				if all = append(all, err); a.Len() != 2 || *(*byte)(p) != 1 {
					t.Errorf("round %d: a block that could not be freed has changed", round)
				}
				a.Free(p)
			}
			if err := attempt(func() { FreeSlice(a, s) }); err != nil {
				if all = append(all, err); a.Len() != 1 || s[699] != round {
					t.Errorf("round %d: a slice that could not be freed has changed", round)
				}
				FreeSlice(a, s)
			}
			a.checkInvariants()
		}
		return errors.Join(append(all, closeTwiceIfFailed(t, a))...)
	})
	if least := 1 + 3*4 + 1; calls < least {
		t.Errorf("%d calls, want at least %d", calls, least)
	}
}

func TestPoolsWhereEachCallFails(t *testing.T) {
	for kind := range 3 {
		calls := faulttest.EachCall(t, func() (err error) {
			a, err := NewAllocator(Options{Addresses: 40 * vm.PageSize()})
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, closeTwiceIfFailed(t, a)) }()
			p, err := pools[record](a, 1)[1+kind](bulk.Options{Capacity: 10})
			if err != nil {
				return err
			}
			all := usePool(t, p)
			return errors.Join(append(all, closeTwiceIfFailed(t, p))...)
		})
		if calls < 15 {
			t.Errorf("pool of kind %d: %d memory calls, want at least 15", kind, calls)
		}
	}
}

// usePool calls the methods of a pool. After the failure of a method other than Clear, it checks that the
// elements are unchanged. It returns the errors.
func usePool(t *testing.T, p exchangeable[record]) (all []error) {
	var handles []bulk.Handle[record]
	unchanged := func(err error) {
		if err == nil {
			return
		}
		all = append(all, err)
		if p.Len() != len(handles) {
			t.Errorf("after %v: %d elements, want %d", err, p.Len(), len(handles))
		}
		for i, h := range handles {
			if e := p.Get(h); e == nil || *e != numbered(i) {
				t.Errorf("after %v: element %d is lost", err, i)
			}
		}
	}
	if err := p.Grow(2); err != nil {
		unchanged(err)
		if err := p.Grow(2); err != nil {
			t.Errorf("the second Grow: %v", err)
		}
	}
	for i := range 5 {
		insert := func() {
			h, _ := p.Insert(numbered(i))
			handles = append(handles, h)
		}
		if err := attempt(insert); err != nil {
			unchanged(err)
			insert()
		}
	}
	for len(handles) > 3 {
		last := handles[len(handles)-1]
		if err := attempt(func() { p.Remove(last) }); err != nil {
			unchanged(err)
			p.Remove(last)
		}
		handles = handles[:len(handles)-1]
	}
	if err := p.Trim(); err != nil {
		unchanged(err)
	}
	if _, err := p.Resident(); err != nil {
		unchanged(err)
	}
	if err := attempt(func() { p.Clear(nil) }); err != nil {
		all = append(all, err)
		p.Clear(nil)
	}
	if p.Len() != 0 {
		t.Errorf("%d elements after Clear", p.Len())
	}
	return all
}

func TestDamageOutlivesAFailingClose(t *testing.T) {
	for kind := range 3 {
		refused := 0
		for allowed := 0; closeDamaged(t, kind, allowed); allowed++ {
			refused++
		}
		// Close gives back the memory of the blocks, and that of Pool.cells. Each of the two may fail.
		if refused < 2 {
			t.Errorf("pool of kind %d: Close can fail at %d calls, want at least 2", kind, refused)
		}
	}
}

// closeDamaged closes a damaged pool. In the first Close, the given number of calls that give memory back
// succeed, and later ones fail. In the second Close, all calls succeed. closeDamaged checks that the first
// Close without a failed call returns the damage. It reports whether a call failed in the first Close.
func closeDamaged(t *testing.T, kind, allowed int) (refused bool) {
	closing, calls := false, 0
	stop := injected.Inject(func(op string) error {
		if !closing || op != "reset" && op != "decommit" {
			return nil
		}
		if calls++; calls > allowed {
			return faulttest.Err
		}
		return nil
	})
	defer stop()
	a, err := NewAllocator(Options{Addresses: 40 * vm.PageSize()})
	if err != nil {
		t.Fatal(err)
	}
	p, err := pools[record](a, 1)[1+kind](bulk.Options{Capacity: 10})
	if err != nil {
		t.Fatal(err)
	}
	var overwritten *record
	for i := range 3 {
		if _, e := p.Insert(numbered(i)); i == 0 {
			overwritten = e
		}
	}
	*(*byte)(unsafe.Add(unsafe.Pointer(overwritten), -1)) = 1
	closing = true
	first := p.Close()
	closing = false
	refused = errors.Is(first, faulttest.Err)
	second := p.Close()
	damage := first
	if refused {
		damage = second
	}
	if f := (*Fault)(nil); !errors.As(damage, &f) || f.Kind != Overwritten || !refused && second != nil {
		t.Errorf("pool of kind %d, call %d refused: Close returned %v, then %v", kind, allowed+1, first,
			second)
	}
	if err := p.Close(); err != nil || p.Reserved() != 0 {
		t.Errorf("pool of kind %d: the last Close: %v", kind, err)
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	return refused
}
