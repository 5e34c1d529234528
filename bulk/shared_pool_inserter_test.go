package bulk

import (
	"errors"
	"testing"

	"github.com/vastgo/vast/internal/generation"
	"github.com/vastgo/vast/vm"
)

// churned returns a pool with an element in each 16th slot, and the handles of these elements. No slots share
// a generation: in this state, an inserter keeps the slots of the elements that it removes.
func churned(t *testing.T, capacity int) (*SharedPool[uint64], []Handle[uint64]) {
	t.Helper()
	p := newSharedPool[uint64](t, Options{Capacity: capacity})
	var all, left []Handle[uint64]
	for i := range capacity {
		h, _ := p.Insert(uint64(i))
		all = append(all, h)
	}
	for i, h := range all {
		if i%16 == 0 {
			left = append(left, h)
		} else {
			p.Remove(h)
		}
	}
	for i := uint(0); i < uint(capacity); i += slotsPerWord {
		p.chunk(i).separate(&p.chunk(i).lines[i/slotsPerLine%linesPerChunk], i)
	}
	p.checkInvariants()
	return p, left
}

func TestInserterFillsWhatItRemoved(t *testing.T) {
	p, left := churned(t, 2048)
	in := p.Inserter()
	var own []Handle[uint64]
	for i := range 64 {
		h, _ := in.Insert(uint64(i))
		own = append(own, h)
	}
	slots, words := map[uint32]bool{}, map[uint]uint64{}
	for i := range 20_000 {
		at := i * 7 % len(own)
		old := own[at]
		if !in.Remove(old) || in.Remove(old) || p.Remove(old) || p.Valid(old) || p.Get(old) != nil {
			t.Fatalf("%v was not removed exactly once", old)
		}
		if n := p.Len(); n != len(left)+len(own)-1 {
			t.Fatalf("%d elements, want %d", n, len(left)+len(own)-1)
		}
		if i%500 == 0 {
			found := 0
			for h, e := range p.All() {
				if h == old || *p.Get(h) != *e {
					t.Fatalf("All yields %v", h)
				}
				found++
			}
			for first, run := range p.Runs() {
				if at := int(old.Slot()); first <= at && at < first+len(run) {
					t.Fatalf("the removed slot %d is in the run of %d slots from slot %d", old.Slot(),
						len(run), first)
				}
				found -= len(run)
			}
			if found != 0 {
				t.Fatalf("All yields %d elements more than Runs", found)
			}
		}
		h, e := in.Insert(uint64(i))
		if v, ok := p.Load(h); !ok || v != uint64(i) || *e != v || h == old {
			t.Fatalf("Load(%v) = %v, %t", h, v, ok)
		}
		own[at] = h
		if i >= 10_000 { // the inserter has all the slots that it needs, so words stay as they are
			slots[h.Slot()] = true
			i := uint(h.Slot()) / slotsPerWord
			if w := p.chunk(0).words[i].Load(); words[i] != 0 && words[i] != w {
				t.Fatalf("word %d has changed from %#x to %#x", i, words[i], w)
			} else {
				words[i] = w
			}
		}
		if i%1000 == 0 {
			p.checkInvariants()
		}
	}
	if len(slots) > len(own)+127 {
		t.Errorf("%d elements have used %d slots, want at most %d", len(own), len(slots), len(own)+127)
	}
	kept := int(in.ready + in.waiting)
	if kept < enoughRemoved || kept > 127 {
		t.Errorf("the inserter keeps %d slots, want %d to 127", kept, enoughRemoved)
	}
	free := 2048 - len(left) - len(own)
	if err := p.Grow(free - kept + 1); !errors.Is(err, vm.ErrCapacity) {
		t.Errorf("Grow counts slots that the inserter keeps: %v", err)
	}
	in.Close()
	in.Close()
	if err := p.Grow(free); err != nil {
		t.Errorf("Close loses slots: %v", err)
	}
	for range free {
		p.Insert(1)
	}
	if p.Len() != 2048 {
		t.Errorf("%d elements, want 2048", p.Len())
	}
}

func TestInserterSparesAnnouncedSlots(t *testing.T) {
	p, left := churned(t, 512)
	in := p.Inserter()
	cell := p.announce(uint(left[3].Slot()))
	for _, h := range left {
		if !in.Remove(h) {
			t.Fatalf("Remove(%v) = false", h)
		}
	}
	for range 511 {
		if h, _ := in.Insert(1); h.Slot() == left[3].Slot() {
			t.Fatalf("slot %d is taken while a reader copies it", h.Slot())
		}
	}
	cell.Store(0)
	if h, _ := in.Insert(1); h.Slot() != left[3].Slot() {
		t.Fatalf("slot %d was taken, but only slot %d is free", h.Slot(), left[3].Slot())
	}
	if e := exhausted(func() { in.Insert(1) }); !errors.Is(e, vm.ErrCapacity) || in.ready+in.waiting != 0 {
		t.Fatalf("Insert into a full pool: %v; the inserter keeps %d slots", e, in.ready+in.waiting)
	}
}

func TestInserterRetiresSlots(t *testing.T) {
	p, left := churned(t, 32)
	in := p.Inserter()
	in.Remove(left[0])
	p.chunk(0).own(0).Store(generation.MaxCount - 1)
	in.removed[0].count = generation.MaxCount - 1
	var last Handle[uint64]
	for range 31 {
		if h, _ := in.Insert(1); h.Slot() == 0 {
			last = h
		}
	}
	if last.Generation() != generation.MaxCount || !in.Remove(last) || in.Remove(last) {
		t.Fatalf("the last handle %v has a wrong count, or was not removed exactly once", last)
	}
	if e := exhausted(func() { in.Insert(1) }); !errors.Is(e, vm.ErrCapacity) {
		t.Fatalf("a slot is taken beyond its last use: %v", e)
	}
	p.checkInvariants()
}

func TestClearLeavesParkedSlots(t *testing.T) {
	p, left := churned(t, 256)
	in := p.Inserter()
	for _, h := range left[:10] {
		in.Remove(h)
	}
	p.Clear(nil)
	seen := map[uint32]bool{}
	for i := range 256 {
		insert := in.Insert
		if i%3 == 0 && i < 200 {
			insert = p.Insert
		}
		h, _ := insert(uint64(i))
		if seen[h.Slot()] {
			t.Fatalf("slot %d is taken twice", h.Slot())
		}
		seen[h.Slot()] = true
	}
	if p.Len() != 256 {
		t.Fatalf("%d elements, want 256", p.Len())
	}
	p.checkInvariants()
}

func TestInserterRemovesForOthers(t *testing.T) {
	p, left := churned(t, 1024)
	producer, consumer := p.Inserter(), p.Inserter()
	for range 200 {
		var made []Handle[uint64]
		for i := range 300 {
			h, _ := producer.Insert(uint64(i))
			made = append(made, h)
		}
		for _, h := range made {
			if !consumer.Remove(h) || producer.Remove(h) {
				t.Fatalf("%v was not removed exactly once", h)
			}
		}
	}
	if kept := consumer.ready + consumer.waiting; kept > 127 || p.Len() != len(left) {
		t.Errorf("the consumer keeps %d slots, want at most 127, and the pool has %d elements, want %d", kept,
			p.Len(), len(left))
	}
	p.checkInvariants()
}
