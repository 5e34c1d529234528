package vm

import "testing"

func TestLargestReservation(t *testing.T) {
	onlyOS(t)
	before := ReadUsage()
	if heapByDefault {
		if n := LargestReservation(maxReserve); n != maxHeapRegion {
			t.Errorf("the stand-in may reserve %d, want %d", n, maxHeapRegion)
		}
		return
	}
	if n := LargestReservation(1 << 30); n != 1<<30 {
		t.Errorf("a gigabyte is not available: %d", n)
	}
	if n := LargestReservation(0); n != 0 {
		t.Errorf("LargestReservation(0) = %d", n)
	}
	hugeReservations(t)
	n := LargestReservation(maxReserve)
	if n <= 1<<30 || n >= maxReserve {
		t.Errorf("the largest reservation is %s", Bytes(n))
	}
	if kept := ReadUsage().AddressSpace - before.AddressSpace; kept > 1<<28 {
		t.Errorf("the calls have kept %s of addresses", Bytes(kept))
	}
}
