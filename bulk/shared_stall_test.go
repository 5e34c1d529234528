package bulk

import (
	"errors"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"github.com/vastgo/vast/internal/modeltest"
	"github.com/vastgo/vast/vm"
)

// TestSharedPoolOwnerThatStalls owns a line for a long time, like a goroutine that is interrupted during an
// insertion.
func TestSharedPoolOwnerThatStalls(t *testing.T) {
	const capacity = 4 * slotsPerLine
	for stalled := range uint(4) {
		p := newSharedPool[uint64](t, Options{Capacity: capacity})
		var handles []Handle[uint64]
		for i := range capacity {
			h, _ := p.Insert(uint64(i))
			handles = append(handles, h)
		}
		holes := 0
		for i, h := range handles {
			if uint(h.Slot())/slotsPerLine != stalled && i%3 == 0 {
				p.Remove(h)
				holes++
			}
		}
		line := &p.chunk(0).lines[stalled]
		if !line.owned.CompareAndSwap(0, 1) {
			t.Fatal("the line has an owner")
		}
		var inLine []Handle[uint64]
		for i, h := range handles {
			if uint(h.Slot())/slotsPerLine != stalled {
				continue
			}
			if v, ok := p.Load(h); !ok || v != uint64(i) || *p.Get(h) != v {
				t.Fatalf("while the owner stalls, element %d is %d, %t", i, v, ok)
			}
			if len(inLine) < 40 {
				if !p.Remove(h) || p.Remove(h) || p.Valid(h) {
					t.Fatalf("while the owner stalls, Remove of element %d does not succeed exactly once", i)
				}
				inLine = append(inLine, h)
			}
		}
		before := p.Len()
		in := p.Inserter()
		for i := range holes {
			insert := p.Insert
			if i%2 == 0 {
				insert = in.Insert
			}
			if h, _ := insert(uint64(i)); uint(h.Slot())/slotsPerLine == stalled {
				t.Fatalf("slot %d of a line that another goroutine owns is taken", h.Slot())
			}
			if i == holes/2 {
				in.Close()
				in = p.Inserter()
			}
			if i > holes*3/4 {
				in.Close() // an open inserter would keep slots that the next Insert needs
			}
		}
		if p.Len() != before+holes || p.Grow(len(inLine)) != nil || p.Grow(len(inLine)+1) == nil {
			t.Fatalf("Len is %d, want %d; or Grow does not count the %d free slots of the owned line",
				p.Len(), before+holes, len(inLine))
		}
		got := make(chan Handle[uint64])
		go func() {
			insert := p.Insert
			if stalled%2 == 0 {
				in := p.Inserter()
				insert = func(v uint64) (Handle[uint64], *uint64) {
					defer in.Close()
					return in.Insert(v)
				}
			}
			h, _ := insert(7)
			got <- h
		}()
		for range 1000 {
			runtime.Gosched()
		}
		select {
		case h := <-got:
			t.Fatalf("slot %d of a line that another goroutine owns is taken", h.Slot())
		default:
		}
		line.owned.Store(0)
		if h := <-got; uint(h.Slot())/slotsPerLine != stalled || *p.Get(h) != 7 {
			t.Errorf("Insert takes slot %d, want a slot of line %d", h.Slot(), stalled)
		}
		for range len(inLine) - 1 {
			p.Insert(1)
		}
		if e := exhausted(func() { p.Insert(1) }); !errors.Is(e, vm.ErrCapacity) || p.Len() != capacity {
			t.Errorf("Insert into a pool of %d elements with the capacity %d: %v", p.Len(), capacity, e)
		}
		p.checkInvariants()
	}
}

// TestInserterThatStops checks that an inserter keeps at most 127 slots from other goroutines, and none after
// another goroutine has closed it.
func TestInserterThatStops(t *testing.T) {
	for _, fromChurned := range []bool{false, true} {
		for inserted := 0; inserted <= 70; inserted += 5 {
			for removed := 0; removed <= inserted; removed += 7 {
				what := fmt.Sprintf("pool from churned: %t, %d inserted, %d removed", fromChurned, inserted,
					removed)
				p, live := newSharedPool[uint64](t, Options{Capacity: 1024}), 0
				if fromChurned {
					var left []Handle[uint64]
					p, left = churned(t, 1024)
					live = len(left)
				}
				in := p.Inserter()
				var own []Handle[uint64]
				for i := range inserted {
					h, _ := in.Insert(uint64(i))
					own = append(own, h)
				}
				for _, h := range own[:removed] {
					if !in.Remove(h) {
						t.Fatalf("%s: Remove(%v) returns false", what, h)
					}
				}
				live += inserted - removed
				kept := int(in.ready + in.waiting)
				if in.reserved != 0 { // reserved slots that hold no element
					kept += bits.OnesCount32(in.reserved &^ in.chunk.live(in.first))
				}
				fill := func() (n int) {
					e := exhausted(func() {
						for {
							p.Insert(1)
							n++
						}
					})
					if !errors.Is(e, vm.ErrCapacity) {
						t.Fatalf("%s: %v", what, e)
					}
					return n
				}
				if n := fill(); kept > 127 || n != 1024-live-kept || p.Len() != 1024-kept {
					t.Fatalf("%s: Insert fills %d slots beside %d elements, and the inserter keeps %d slots",
						what, n, live, kept)
				}
				p.checkInvariants()
				done := make(chan bool)
				go func() { in.Close(); done <- true }()
				<-done
				if n := fill(); n != kept || p.Len() != 1024 {
					t.Fatalf("%s: after Close, Insert fills %d slots, want %d", what, n, kept)
				}
				for i, h := range own {
					if v, ok := p.Load(h); ok != (i >= removed) || ok && v != uint64(i) {
						t.Fatalf("%s: element %d is %d, %t", what, i, v, ok)
					}
				}
				p.checkInvariants()
				if err := p.Close(); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// TestSharedArrayAppenderThatStalls claims elements without writing them, while other appenders continue. Len
// and Slice must end before the first element that is not written. In half of the runs, the test then writes
// the claimed elements.
func TestSharedArrayAppenderThatStalls(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for _, pages := range pageKinds {
		for _, first := range []int{0, 1, wordBits - 1, wordBits, elementsPerChunk - 1, elementsPerChunk,
			elementsPerChunk + 100} {
			for _, resume := range []bool{true, false} {
				rnd := rand.New(rand.NewPCG(seed, uint64(first)))
				limit := vm.NewLimit(64 << 20)
				a := newSharedArray[uint64](t, Options{Capacity: 3 * elementsPerChunk, Step: 1,
					Pages: pages, Limit: limit})
				if first > 0 {
					if _, _, err := a.AppendSlice(make([]uint64, first)); err != nil {
						t.Fatal(err)
					}
				}
				stalled := map[int]int{}
				missing := map[int]bool{}
				claim := func(n int) {
					i, err := a.claim(opAppendN, n)
					if err != nil {
						t.Fatal(err)
					}
					stalled[i] = n
					for k := range n {
						missing[i+k] = true
					}
				}
				claim(1)
				seen := a.Slice()
				to := a.Appender()
				for i := range 300 {
					switch rnd.IntN(5) {
					case 0:
						claim(1 + rnd.IntN(2*wordBits))
					case 1:
						a.Append(uint64(a.claimed.Load()))
					case 2:
						to.Append(0)
						if at, added, err := to.Flush(); err != nil {
							t.Fatal(err)
						} else {
							added[0] = uint64(at)
						}
					default:
						b := make([]uint64, rnd.IntN(400))
						for k := range b {
							b[k] = uint64(a.claimed.Load()) + uint64(k)
						}
						if _, _, err := a.AppendSlice(b); err != nil {
							t.Fatal(err)
						}
					}
					if a.Len() != first || len(a.Slice()) != first || len(seen) != first {
						t.Fatalf("after %d calls the length is %d, want %d", i, a.Len(), first)
					}
				}
				for range 500 {
					i := first + rnd.IntN(int(a.claimed.Load())-first)
					text := modeltest.PanicText(func() {
						if v := *a.At(i); v != uint64(i) {
							t.Fatalf("element %d is %d", i, v)
						}
					})
					if missing[i] != strings.Contains(text, fmt.Sprintf("At(%d)", i)) || !missing[i] &&
						text != "" {
						t.Fatalf("At(%d), missing: %t, panics with %q", i, missing[i], text)
					}
				}
				if err := a.Grow(100); err != nil {
					t.Fatal(err)
				}
				if resume {
					for i, n := range stalled { // a map, so the order is random
						for k := range n {
							*after(a.base, i+k) = uint64(i + k)
							delete(missing, i+k)
						}
						a.written.add(i, n)
						want := int(a.claimed.Load())
						for m := range missing {
							want = min(want, m)
						}
						if a.Len() != want {
							t.Fatalf("%d elements, want %d", a.Len(), want)
						}
					}
					for i, v := range a.Slice() {
						if i >= first && v != uint64(i) {
							t.Fatalf("element %d is %d", i, v)
						}
					}
				}
				if err := a.Close(); err != nil || limit.Used() != 0 || a.Len() != 0 {
					t.Fatalf("Close: %v, %d bytes are in use, %d elements", err, limit.Used(), a.Len())
				}
			}
		}
	}
}

// TestSharedArrayFaults appends values from memory whose second half is not committed. AppendSlice must fault
// and leave the claimed elements zero.
func TestSharedArrayFaults(t *testing.T) {
	if vm.HeapStandIn() {
		t.Skip("nothing faults in this build")
	}
	page := vm.PageSize()
	region, err := vm.Reserve(2*page, vm.Options{Name: t.Name(), Pages: vm.PagesSmall})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = region.Close() }()
	if err := region.Commit(0, page); err != nil {
		t.Fatal(err)
	}
	values := unsafe.Slice((*uint64)(region.Base()), 2*page/8)
	for i := range values[:page/8] {
		values[i] = 42
	}
	a := newSharedArray[uint64](t, Options{Capacity: 100_000})
	a.Append(1)
	for n := range 3 {
		func() {
			defer func() {
				if e, _ := recover().(error); !errors.As(e, new(*vm.Fault)) {
					t.Errorf("AppendSlice panics with %v, want a *vm.Fault", e)
				}
			}()
			vm.Do(func() { _, _, _ = a.AppendSlice(values) })
		}()
		at, _ := a.Append(uint64(n) + 2)
		if want := (n + 1) * (1 + len(values)); at != want || a.Len() != want+1 {
			t.Fatalf("Append returns index %d, Len is %d, want index %d", at, a.Len(), want)
		}
	}
	for i, v := range a.Slice() {
		want := uint64(0)
		if i%(1+len(values)) == 0 {
			want = uint64(i/(1+len(values))) + 1
		}
		if v != want {
			t.Fatalf("element %d is %d, want %d", i, v, want)
		}
	}
}
