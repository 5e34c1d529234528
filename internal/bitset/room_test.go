package bitset

import (
	"errors"
	"strings"
	"testing"

	"github.com/vastgo/vast/vm"
)

// TestRoomForSummaries sets the last slot in sets of many sizes. Each set must have room for all summaries.
func TestRoomForSummaries(t *testing.T) {
	for _, capacity := range []int{1, 64, 5000, 1 << 20, 1<<22 + 1, 1 << 24} {
		s := newSet(t, capacity)
		last := uint(capacity - 1)
		if s.Set(last); s.Next(0) != last || s.Count() != 1 || s.OccupiedWords() != 1 {
			t.Errorf("a set of %d slots: %d slots are set, the first is slot %d; want only the last slot",
				capacity, s.Count(), s.Next(0))
		}
		s.CheckInvariants()
	}
}

func TestNoRoom(t *testing.T) {
	r, err := vm.Reserve(Size(1000), vm.Options{Pages: vm.PagesSmall})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := New(r, 1000); err != nil {
		t.Fatal(err)
	}
	if s, err := New(r, 1000); s != nil || !errors.Is(err, vm.ErrCapacity) {
		t.Errorf("New in a full region returns %v, %v, want the error %v", s, err, vm.ErrCapacity)
	}
}

func TestHeapSetIsSmall(t *testing.T) {
	s := NewOnHeap()
	for _, n := range []int{groupBits, 3*groupBits + 1} {
		if err := s.Grow(n); err != nil {
			t.Fatal(err)
		}
	}
	if len(s.groups) != 4 || s.Memory() != nil {
		t.Errorf("a set of %d slots has %d groups, want 4; Memory() = %v, want nil", s.Len(), len(s.groups),
			s.Memory())
	}
	if n, err := s.Resident(); n != 0 || err != nil || s.Trim() != nil {
		t.Errorf("%d bytes are resident, want 0; error %v", n, err)
	}
}

// TestCheckFindsWrongSummaries breaks each level of the summaries. The panic of CheckInvariants must name the
// wrong summary.
func TestCheckFindsWrongSummaries(t *testing.T) {
	for name, c := range map[string]struct {
		spoil   func(*Set)
		message string
	}{
		"a word":  {func(s *Set) { *s.word(70) |= 4 }, "the summary of block 1 is"},
		"a block": {func(s *Set) { s.block(1).full |= 8 }, "the summary of block 1 is"},
		"a group": {func(s *Set) { s.group(0).any |= 16 }, "the summary of group 0 is"},
	} {
		s := NewOnHeap()
		if err := s.Grow(groupBits); err != nil {
			t.Fatal(err)
		}
		s.CheckInvariants()
		c.spoil(s)
		func() {
			defer func() {
				if text, _ := recover().(string); !strings.Contains(text, c.message) {
					t.Errorf("%s is wrong: CheckInvariants panics with %q, want %q", name, text, c.message)
				}
			}()
			s.CheckInvariants()
		}()
	}
}
