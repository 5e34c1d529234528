package bulk

import (
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/vastgo/vast/vm"
)

type numberedHandle struct {
	handle Handle[record]
	number int
}

// TestSharedPoolUnderChurn lets goroutines insert elements and remove each other's elements, while other
// goroutines read.
func TestSharedPoolUnderChurn(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for round, pages := range pageKinds {
		const writers, places = 4, 600
		p := newSharedPool[record](t, Options{Pages: pages, Capacity: 4000})
		var board [places]atomic.Pointer[numberedHandle] // elements that any writer may remove
		var writing, reading sync.WaitGroup
		var done atomic.Bool
		var inserted [writers][]numberedHandle
		var removed atomic.Int64
		for g := range writers {
			writing.Go(func() {
				r := rand.New(rand.NewPCG(seed, uint64(round*writers+g)))
				in := p.Inserter()
				insert, remove := in.Insert, in.Remove
				if g%2 == 0 {
					insert = p.Insert
				}
				if g == 3 {
					remove = p.Remove
				}
				for i := range some() / 2 {
					number := g<<24 | i
					h, e := insert(numbered(number))
					if *e != numbered(number) {
						t.Errorf("a new element is %v", *e)
					}
					k := &numberedHandle{h, number}
					inserted[g] = append(inserted[g], *k)
					if old := board[r.IntN(places)].Swap(k); old != nil {
						// Swap returns each element to only one goroutine, so no other goroutine removes it.
						if v, ok := p.Load(old.handle); !ok || v != numbered(old.number) {
							t.Errorf("Load of a live element: %v, %t", v, ok)
						}
						if !remove(old.handle) || remove(old.handle) || p.Valid(old.handle) ||
							p.Get(old.handle) != nil {
							t.Errorf("Remove of element %d does not succeed exactly once", old.number)
						}
						removed.Add(1)
					}
				}
				in.Close()
			})
		}
		for g := range 2 {
			reading.Go(func() {
				r := rand.New(rand.NewPCG(seed, uint64(100+g)))
				found := 0
				// If Go uses a single thread, Gosched lets the writers run.
				for ; !done.Load() || found == 0; runtime.Gosched() {
					k := board[r.IntN(places)].Load()
					if k == nil {
						continue
					}
					if v, ok := p.Load(k.handle); ok {
						found++
						if v != numbered(k.number) {
							t.Errorf("Load(%v) = %v, want number %d", k.handle, v, k.number)
							return
						}
					}
				}
			})
		}
		writing.Wait()
		done.Store(true)
		reading.Wait()
		want, seen := map[Handle[record]]int{}, map[Handle[record]]bool{}
		for i := range board {
			if k := board[i].Load(); k != nil {
				want[k.handle] = k.number
			}
		}
		total := 0
		for g := range inserted {
			total += len(inserted[g])
			for _, k := range inserted[g] {
				if seen[k.handle] {
					t.Fatalf("handle %v was returned twice", k.handle)
				}
				seen[k.handle] = true
				if _, live := want[k.handle]; p.Valid(k.handle) != live {
					t.Fatalf("handle %v is valid: %t", k.handle, !live)
				}
			}
		}
		if n := p.Len(); n != len(want) || n != total-int(removed.Load()) {
			t.Fatalf("%d elements, want %d: %d were inserted, %d removed", n, len(want), total,
				removed.Load())
		}
		for h, e := range p.All() {
			if n, ok := want[h]; !ok || *e != numbered(n) {
				t.Fatalf("All yields handle %v with element %v", h, *e)
			}
		}
		p.checkInvariants()
	}
}

// TestOneRemoverSucceeds lets several goroutines remove the same elements, and insert other elements into the
// freed slots.
func TestOneRemoverSucceeds(t *testing.T) {
	p := newSharedPool[record](t, Options{Capacity: 3000})
	const goroutines, batch = 4, 500
	for range some() / batch / 4 {
		var handles [batch]Handle[record]
		for i := range handles {
			handles[i], _ = p.Insert(numbered(i))
		}
		var succeeded [batch]atomic.Int32
		var all sync.WaitGroup
		for range goroutines {
			all.Go(func() {
				for i, h := range handles {
					if p.Remove(h) {
						succeeded[i].Add(1)
						p.Insert(numbered(-1))
					}
				}
			})
		}
		all.Wait()
		for i := range succeeded {
			if n := succeeded[i].Load(); n != 1 {
				t.Fatalf("element %d was removed %d times", i, n)
			}
		}
		if p.Len() != batch {
			t.Fatalf("%d elements, want %d", p.Len(), batch)
		}
		p.Clear(nil)
	}
}

func TestAllBesideChanges(t *testing.T) {
	p := newSharedPool[record](t, Options{Capacity: 4000})
	stay := map[Handle[record]]bool{}
	for i := range 2000 {
		h, _ := p.Insert(numbered(i))
		if i%2 == 0 {
			stay[h] = true
		} else {
			p.Remove(h)
		}
	}
	var changing sync.WaitGroup
	var done atomic.Bool
	for range 2 {
		changing.Go(func() {
			in := p.Inserter()
			for ; !done.Load(); runtime.Gosched() {
				var own []Handle[record]
				for i := range 300 {
					h, _ := in.Insert(numbered(i))
					own = append(own, h)
				}
				for _, h := range own {
					in.Remove(h)
				}
			}
		})
	}
	for range 30 {
		found, last := 0, -1
		for h := range p.All() {
			if int(h.Slot()) <= last {
				t.Fatalf("slot %d is yielded after slot %d", h.Slot(), last)
			}
			last = int(h.Slot())
			if stay[h] {
				found++
			}
		}
		if found != len(stay) {
			t.Fatalf("All yields %d of the %d elements that live throughout the loop", found, len(stay))
		}
		if n := p.Len(); n < len(stay) {
			t.Fatalf("Len() = %d, but %d elements live throughout the call", n, len(stay))
		}
	}
	done.Store(true)
	changing.Wait()
	if p.Len() != len(stay) {
		t.Fatalf("%d elements, want %d", p.Len(), len(stay))
	}
}

// TestInsertersReachTheLimit lets several goroutines fill a pool up to a limit, and later up to its capacity.
func TestInsertersReachTheLimit(t *testing.T) {
	for _, pages := range pageKinds {
		limit := vm.NewLimit(512 << 10)
		other := newArray[record](t, Options{Limit: limit, Pages: pages, Capacity: 10_000})
		if err := other.Grow(5000); err != nil {
			t.Fatal(err)
		}
		p := newSharedPool[record](t, Options{Limit: limit, Pages: pages, Capacity: 9000, Name: "ships"})
		fill := func(want error) (all []Handle[record]) {
			var goroutines sync.WaitGroup
			var mu sync.Mutex
			for g := range 4 {
				goroutines.Go(func() {
					var own []Handle[record]
					in := p.Inserter()
					e := exhausted(func() {
						for i := 0; ; i++ {
							insert := in.Insert
							if g%2 == 0 {
								insert = p.Insert
							}
							h, _ := insert(numbered(i))
							own = append(own, h)
						}
					})
					if !errors.Is(e, want) || e.Purpose != "ships" {
						t.Errorf("%v: %v, want %v", pages, e, want)
					}
					mu.Lock()
					all = append(all, own...)
					mu.Unlock()
				})
			}
			goroutines.Wait()
			return all
		}
		handles := fill(vm.ErrLimit)
		if n := p.Len(); n != len(handles) || n != int(p.room.Load()) || n < 1000 {
			t.Fatalf("%v: %d elements, want %d, one in each of the %d slots", pages, n, len(handles),
				p.room.Load())
		}
		// Scattered holes: every goroutine finds some of them.
		for i := 0; i < len(handles); i += 5 {
			p.Remove(handles[i])
		}
		holes := (len(handles) + 4) / 5
		if err := p.Grow(holes); err != nil {
			t.Fatalf("%v: Grow(%d) with %d holes: %v", pages, holes, holes, err)
		}
		if err := p.Grow(holes + 1); !errors.Is(err, vm.ErrLimit) {
			t.Fatalf("%v: Grow(%d) with %d holes: %v", pages, holes+1, holes, err)
		}
		if again := fill(vm.ErrLimit); len(again) != holes {
			t.Fatalf("%v: %d of %d holes were filled", pages, len(again), holes)
		}
		if err := other.Close(); err != nil {
			t.Fatal(err)
		}
		before := p.Len()
		if more := fill(vm.ErrCapacity); before+len(more) != 9000 || p.Len() != 9000 {
			t.Fatalf("%v: %d elements and %d more, want 9000 together", pages, before, len(more))
		}
		for i, h := range handles {
			if p.Valid(h) != (i%5 != 0) {
				t.Fatalf("%v: element %d is valid: %t", pages, i, p.Valid(h))
			}
		}
		p.checkInvariants()
		if p.Close() != nil || limit.Used() != 0 {
			t.Fatalf("%v: %d bytes stay in use after Close", pages, limit.Used())
		}
	}
}

// TestGrowIsForAllInserters lets another container use up a limit after Grow. The insertions that Grow
// promised must succeed, whichever goroutine makes them.
func TestGrowIsForAllInserters(t *testing.T) {
	limit := vm.NewLimit(1 << 20)
	p := newSharedPool[record](t, Options{Limit: limit, Capacity: 20_000, Step: 1})
	for i := range 100 { // these inserters keep slots
		in := p.Inserter()
		for range 1 + i%3 {
			h, _ := in.Insert(numbered(i))
			if i%4 == 0 {
				p.Remove(h)
			}
		}
	}
	const n = 8000
	// Two of the goroutines below insert with an Inserter, which may keep 127 free slots.
	if err := p.Grow(n + 2*127); err != nil {
		t.Fatal(err)
	}
	hog := newArray[[4096]byte](t, Options{Limit: limit, Capacity: 1000})
	for hog.Grow(1) == nil {
		if exhausted(func() { hog.Append([4096]byte{}) }) != nil {
			break
		}
	}
	before := p.Len()
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			in := p.Inserter()
			insert := in.Insert
			if g%2 == 0 {
				insert = p.Insert
			}
			if e := exhausted(func() {
				for i := range n / 4 {
					insert(numbered(i))
				}
			}); e != nil {
				t.Errorf("Grow(%d) was not enough: %v", n, e)
			}
		})
	}
	all.Wait()
	if p.Len() != before+n {
		t.Errorf("%d elements, want %d", p.Len(), before+n)
	}
}
