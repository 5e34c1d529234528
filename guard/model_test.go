package guard

import (
	"bytes"
	"errors"
	"slices"
	"testing"
	"unsafe"

	"github.com/vastgo/vast/bulk"
	"github.com/vastgo/vast/internal/modeltest"
	"github.com/vastgo/vast/vm"
)

// caught returns the *Fault or the *vm.Error that f panics with.
func caught(f func()) (fault *Fault, e *vm.Error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case *Fault:
			fault = r
		case *vm.Error:
			e = r
		default:
			panic(r)
		}
	}()
	f()
	return nil, nil
}

// liveBlock is the model of a live block.
type liveBlock struct {
	p     unsafe.Pointer
	bytes []byte // the block's memory
	want  []byte // the expected content of bytes
}

// playAllocator applies the operations that data encodes to an allocator and to a model, and fails if the two
// differ.
func playAllocator(t *testing.T, o Options, data []byte) {
	const capacity, pages = 20, 60
	page := vm.PageSize()
	o.Capacity, o.Addresses, o.Name = capacity, pages*page, "model"
	a, err := NewAllocator(o)
	if err != nil {
		t.Fatal(err)
	}
	var blocks []liveBlock
	var gone []unsafe.Pointer
	taken := make([]bool, pages) // by page: a live block or its guard page
	taken[0] = true
	mark := func(p unsafe.Pointer, size int, used bool) {
		first := int(uintptr(p)-uintptr(a.base)) / page
		last := (int(uintptr(p)-uintptr(a.base)) + max(1, size) - 1) / page
		for i := first; i <= last+1; i++ {
			if taken[i] == used {
				t.Fatalf("page %d of a block of %d bytes belongs to another block", i, size)
			}
			taken[i] = used
		}
	}
	forget := func(i int) {
		mark(blocks[i].p, len(blocks[i].bytes), false)
		gone = append(gone, blocks[i].p)
		blocks = slices.Delete(blocks, i, i+1)
	}
	intact := func(b liveBlock) {
		if !bytes.Equal(b.bytes, b.want) {
			t.Fatalf("a block of %d bytes holds %x, want %x", len(b.bytes), b.bytes, b.want)
		}
	}
	for in := modeltest.NewStream(data); in.More(); {
		switch in.Byte() % 8 {
		case 0, 1, 2:
			size, align := in.Below(300), 1<<in.Below(5)
			if in.Byte()%4 == 0 {
				size = in.Below(5 * page)
			}
			p, err := a.Alloc(size, align)
			if err != nil {
				if !errors.Is(err, vm.ErrCapacity) || p != nil {
					t.Fatal(err)
				}
				// Alloc may fail at the capacity, or if no gap between live blocks is long enough.
				n := pagesOf(roundedSize(size, align)) + 1
				gap := 0
				for _, used := range taken {
					if gap++; used {
						gap = 0
					}
					if gap >= n && len(blocks) < capacity {
						t.Fatalf("%d adjacent pages are free, but Alloc fails: %v", n, err)
					}
				}
				break
			}
			if len(blocks) == capacity {
				t.Fatalf("there are more than %d blocks", capacity)
			}
			b := liveBlock{p, unsafe.Slice((*byte)(p), size), make([]byte, size)}
			intact(b)
			start := uintptr(p)
			if start%uintptr(align) != 0 || o.AtStart && start%uintptr(page) != 0 ||
				!o.AtStart && -(start+uintptr(max(1, size)))%uintptr(page) >= uintptr(align) {
				t.Fatalf("a block of %d bytes aligned to %d begins at %#x", size, align, start)
			}
			mark(p, size, true)
			blocks = append(blocks, b)
		case 3:
			if len(blocks) > 0 {
				i := in.Below(len(blocks))
				intact(blocks[i])
				a.Free(blocks[i].p)
				forget(i)
			}
		case 4:
			if len(blocks) > 0 {
				b := blocks[in.Below(len(blocks))]
				for i := range b.bytes {
					b.bytes[i] = byte(i + in.Byte())
					b.want[i] = b.bytes[i]
				}
			}
		case 5: // overwrite a byte of the slack of a block
			if len(blocks) > 0 {
				i := in.Below(len(blocks))
				before, after := a.slack(a.blockAt(uintptr(blocks[i].p)))
				slack, offset := before, -len(before)
				if in.Byte()%2 == 0 {
					slack, offset = after, len(blocks[i].bytes)
				}
				if len(slack) == 0 {
					break
				}
				at := in.Below(len(slack))
				slack[at] ^= byte(1 + in.Below(255))
				if f, ok := a.Check().(*Fault); !ok || f.Kind != Overwritten || f.Offset != offset+at {
					t.Fatalf("Check does not find byte %d of a block of %d bytes: %+v", offset+at,
						len(blocks[i].bytes), f)
				}
				if f, _ := caught(func() { a.Free(blocks[i].p) }); f == nil || f.Kind != Overwritten ||
					f.Offset != offset+at {
					t.Fatalf("Free does not find byte %d of a block of %d bytes: %+v", offset+at,
						len(blocks[i].bytes), f)
				}
				forget(i)
			}
		case 6:
			if len(gone) > 0 {
				p := gone[in.Below(len(gone))]
				if f, ok := Describe(uintptr(p)); !ok || f.Kind == Nothing &&
					!taken[int(uintptr(p)-uintptr(a.base))/page] {
					t.Fatalf("a freed block is described as %+v", f)
				}
				if !slices.ContainsFunc(blocks, func(b liveBlock) bool { return b.p == p }) {
					if f, _ := caught(func() { a.Free(p) }); f == nil || f.Kind < DoubleFree {
						t.Fatalf("Free of a freed block reports %+v", f)
					}
				}
			}
		case 7:
			if err := a.Check(); err != nil {
				t.Fatal(err)
			}
		}
		if a.Len() != len(blocks) {
			t.Fatalf("Len() = %d, want %d", a.Len(), len(blocks))
		}
	}
	for _, b := range blocks {
		intact(b)
	}
	a.mu.Lock()
	a.checkInvariants()
	a.mu.Unlock()
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
}

// spoil overwrites a byte of the slack of the block at p. It reports false if the block has no slack.
func spoil(a *Allocator, p uintptr, in *modeltest.Stream) bool {
	slack, after := a.slack(a.blockAt(p))
	if len(slack) == 0 {
		slack = after
	}
	if len(slack) == 0 {
		return false
	}
	slack[in.Below(len(slack))] ^= byte(1 + in.Below(255))
	return true
}

type makePool[T any] func(bulk.Options) (exchangeable[T], error)

// playPool applies the operations that data encodes to a pool and to a map, and fails if the two differ. With
// inOrder, each insertion must take the lowest free slot.
func playPool[T comparable](t *testing.T, pool makePool[T], o bulk.Options, data []byte, inOrder bool,
	element func(int) T) {
	const capacity = 100
	o.Capacity = capacity
	p, err := pool(o)
	if err != nil {
		t.Fatal(err)
	}
	live := map[bulk.Handle[T]]T{}
	seen := map[bulk.Handle[T]]bool{}
	slots := make([]bool, capacity)
	var known []bulk.Handle[T]
	insert := func(v T) {
		var h bulk.Handle[T]
		var at *T
		_, e := caught(func() {
			if len(known)%2 == 0 {
				h, at = p.Insert(v)
				return
			}
			var zero T
			if h, at = p.InsertZero(); *at != zero {
				t.Fatalf("InsertZero returned the element %v", *at)
			}
			*at = v
		})
		if e != nil {
			if !errors.Is(e, vm.ErrCapacity) || e.Op != "insert" || len(live) < capacity {
				t.Fatalf("Insert into a pool with %d of %d elements: %v", len(live), capacity, e)
			}
			return
		}
		if want := slices.Index(slots, false); inOrder && int(h.Slot()) != want {
			t.Fatalf("Insert took slot %d, but slot %d is the lowest free one", h.Slot(), want)
		}
		if *at != v || p.Get(h) != at || !p.Valid(h) || seen[h] {
			t.Fatalf("Get of %v does not return the address from Insert, or the handle is not new", h)
		}
		live[h], seen[h] = v, true
		if inOrder {
			slots[h.Slot()] = true
		}
		known = append(known, h)
	}
	remove := func(h bulk.Handle[T]) {
		_, want := live[h]
		if got := p.Remove(h); got != want || p.Valid(h) || p.Get(h) != nil {
			t.Fatalf("Remove(%v) = %t, want %t", h, got, want)
		}
		if delete(live, h); want && inOrder {
			slots[h.Slot()] = false
		}
	}
	compare := func() {
		n, last := 0, int64(-1)
		for h, e := range p.All() {
			if v, ok := live[h]; !ok || v != *e || p.Get(h) != e || int64(h.Slot()) <= last {
				t.Fatalf("All yields %v after slot %d", h, last)
			}
			last = int64(h.Slot())
			n++
		}
		runs := 0
		for _, run := range p.Runs() {
			runs += len(run)
		}
		if n != len(live) || runs != len(live) || p.Len() != len(live) {
			t.Fatalf("All yields %d elements, Runs yields %d and Len() = %d, want %d", n, runs, p.Len(),
				len(live))
		}
	}
	number := 0
	for in := modeltest.NewStream(data); in.More(); number++ {
		switch in.Byte() % 9 {
		case 0, 1:
			insert(element(number))
		case 2:
			for i := range in.Below(30) {
				insert(element(number + i))
			}
		case 3, 4:
			if len(known) > 0 {
				remove(known[in.Below(len(known))])
			}
		case 5:
			for _, h := range known[:in.Below(len(known)+1)] {
				if _, ok := live[h]; ok {
					*p.Get(h), live[h] = element(^number), element(^number)
				}
			}
		case 6:
			if n := in.Below(2 * capacity); inOrder {
				if err := p.Grow(n); (err == nil) != (len(live)+n <= capacity) {
					t.Fatalf("Grow(%d) of a pool with %d of %d elements: %v", n, len(live), capacity, err)
				}
			}
			id := uint64(in.Below(2*capacity)) | uint64(in.Byte())<<32 | uint64(in.Byte())<<56
			h := bulk.HandleOf[T](id)
			if _, want := live[h]; p.Valid(h) != want || (p.Get(h) != nil) != want {
				t.Fatalf("Valid or Get is wrong for handle %v", h)
			}
		case 7:
			if in.Byte()%4 == 0 {
				calls := 0
				p.Clear(func(h bulk.Handle[T], e *T) {
					if v, ok := live[h]; !ok || v != *e {
						t.Fatalf("Clear passes %v", h)
					}
					calls++
				})
				if calls != len(live) {
					t.Fatalf("Clear passed %d of %d elements", calls, len(live))
				}
				clear(live)
				clear(slots)
			}
			compare()
		case 8: // overwrite a byte next to an element
			g, guarded := p.(*Pool[T])
			if !guarded || len(known) == 0 {
				break
			}
			h := known[in.Below(len(known))]
			if e := p.Get(h); e != nil && spoil(g.a, uintptr(unsafe.Pointer(e)), in) {
				if f, ok := g.Check().(*Fault); !ok || f.Kind != Overwritten {
					t.Fatalf("Check finds nothing: %v", f)
				}
				if f, _ := caught(func() { p.Remove(h) }); f == nil || f.Kind != Overwritten {
					t.Fatalf("Remove finds nothing: %v", f)
				}
				if p.Valid(h) {
					t.Fatal("an element with damage around it was not removed")
				}
				delete(live, h)
				slots[h.Slot()] = false
			}
		}
	}
	compare()
	if err := p.Close(); err != nil || p.Close() != nil {
		t.Fatal(err)
	}
	if p.Len() != 0 || p.Reserved() != 0 || p.Committed() != 0 {
		t.Fatalf("after Close: %d elements, %d bytes reserved, %d committed", p.Len(), p.Reserved(),
			p.Committed())
	}
}
