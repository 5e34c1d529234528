package bitset

import (
	"math/rand/v2"
	"sync"
	"testing"
	"unsafe"
)

func TestMarkAgainstFill(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for range 20 {
		got, want := newSet(t, capacityTest), newSet(t, capacityTest)
		n := uint(got.Len())
		for range 1 + r.IntN(60) {
			switch r.IntN(3) {
			case 0:
				word, mask := r.UintN(n/64), r.Uint64()&r.Uint64()
				got.Mark(word, mask)
				want.Or(word, mask)
			case 1:
				word := r.UintN(n / 64)
				got.Mark(word, ones)
				want.Or(word, ones)
			case 2:
				lo := r.UintN(n)
				hi := lo + r.UintN(min(n-lo, 3*BlockBits)+1)
				got.MarkRange(lo, hi)
				want.Fill(lo, hi)
			}
		}
		sameSets(t, got, want)
		got.Reset()
		sameSets(t, got, newSet(t, capacityTest))
	}
}

func sameSets(t *testing.T, got, want *Set) {
	t.Helper()
	got.CheckInvariants()
	if got.Count() != want.Count() {
		t.Fatalf("%d slots are set, want %d", got.Count(), want.Count())
	}
	for i := range uint(want.Len() / 64) {
		if got.Word(i) != want.Word(i) {
			t.Fatalf("word %d is %x, want %x", i, got.Word(i), want.Word(i))
		}
	}
}

// TestMarksOfSeveralGoroutines fills a set from four goroutines, which mark slots of the same words, blocks
// and groups.
func TestMarksOfSeveralGoroutines(t *testing.T) {
	for round := range 8 {
		s := newSet(t, capacityTest)
		n := uint(s.Len())
		var wg sync.WaitGroup
		for k := range uint(4) {
			wg.Go(func() {
				for lo := uint(0); lo < n; lo += 64 {
					switch {
					case round%2 == 0:
						s.Mark(lo/64, 0x1111111111111111<<k)
					case lo%BlockBits == 0 && lo/BlockBits%4 == k:
						s.MarkRange(lo, min(lo+BlockBits, n))
					default:
						s.Mark(lo/64, 1<<((lo/64+k*7)%64))
					}
				}
			})
		}
		wg.Wait()
		s.CheckInvariants()
		if s.Count() != int(n) {
			t.Fatalf("%d slots are set, want %d", s.Count(), n)
		}
		if s.NextClear(0) != n {
			t.Fatalf("NextClear(0) is %d in a full set, want %d", s.NextClear(0), n)
		}
	}
}

// TestAlignment: wherever a Set lies in a struct, Set.first is aligned to 8 bytes, because Mark changes this
// field atomically. Atomic operations on 32-bit ARM processors need this alignment.
func TestAlignment(t *testing.T) {
	var holder struct {
		_   int32
		set Set
	}
	for _, at := range []uintptr{unsafe.Offsetof(holder.set), unsafe.Offsetof(holder.set.first)} {
		if at%8 != 0 {
			t.Errorf("the offset %d is not a multiple of 8", at)
		}
	}
}
