package guard

import (
	"slices"
	"testing"
)

func TestAddresses(t *testing.T) {
	a := addresses{total: 20, next: 1}
	take := func(n, want int) {
		t.Helper()
		page, ok := a.take(n)
		if ok != (want > 0) || ok && page != want {
			t.Fatalf("take(%d) = %d, %t, want %d", n, page, ok, want)
		}
	}
	for page := 1; page < 18; page += 3 {
		take(3, page)
	}
	take(2, 0)
	take(1, 19)
	take(1, 0)
	a.give(4, 3)
	a.give(10, 3)
	if want := []pageRange{{4, 7}, {10, 13}}; !slices.Equal(a.again, want) {
		t.Errorf("again: %v, want %v", a.again, want)
	}
	take(4, 0)
	a.give(7, 3)
	if want := []pageRange{{4, 13}}; !slices.Equal(a.again, want) {
		t.Errorf("again: %v, want %v", a.again, want)
	}
	take(8, 4)
	take(1, 12)
	take(1, 0)
	a.give(16, 3)
	a.give(19, 1)
	if a.next != 16 || len(a.again) != 0 {
		t.Errorf("next is %d and again is %v, want 16 and no ranges", a.next, a.again)
	}
	take(4, 16)
}
