package bulk

import "testing"

func TestArrayMemory(t *testing.T) {
	a := newArray[record](t, Options{Capacity: 100_000})
	for i := range 50_000 {
		a.Append(numbered(i))
	}
	resident, err := a.Resident()
	if err != nil {
		t.Fatal(err)
	}
	if resident < 50_000*40 || a.Committed() < 50_000*40 || a.Reserved() < 100_000*40 ||
		a.Reserved() < a.Committed() {
		t.Errorf("%d bytes are resident, %d committed, %d reserved", resident, a.Committed(), a.Reserved())
	}
	a.Truncate(0)
	if a.Committed() >= 50_000*40 && !heapStandIn() {
		t.Errorf("%d bytes are committed of an empty array", a.Committed())
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if n, err := a.Resident(); n != 0 || err != nil || a.Committed() != 0 || a.Reserved() != 0 {
		t.Errorf("a closed array has %d bytes in memory, %d committed, %d reserved: %v", n, a.Committed(),
			a.Reserved(), err)
	}
}
