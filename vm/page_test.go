package vm

import (
	"os"
	"testing"
)

func TestFacts(t *testing.T) {
	f := ReadFacts()
	if f.PageSize != max(os.Getpagesize(), minPageSize) || PageSize() != f.PageSize ||
		f.HugePageSize != HugePageSize() || f.HugeMode != HugeMode() {
		t.Errorf("facts %+v, page %d, huge page %d, mode %s", f, PageSize(), HugePageSize(), HugeMode())
	}
	if f.HugePageSize != 0 && (f.HugePageSize&(f.HugePageSize-1) != 0 || f.HugePageSize <= f.PageSize) {
		t.Errorf("a huge page of %d bytes", f.HugePageSize)
	}
	if f.HeapStandIn != heapByDefault {
		t.Errorf("heap stand-in %v, want %v", f.HeapStandIn, heapByDefault)
	}
}

func TestRounding(t *testing.T) {
	for _, c := range [][3]int{{0, 0, 0}, {1, 8, 0}, {7, 8, 0}, {8, 8, 8}, {9, 16, 8},
		{maxReserve, maxReserve + 1, maxReserve - 7}} {
		if up, down := roundUp(c[0], 8), roundDown(c[0], 8); up != c[1] || down != c[2] {
			t.Errorf("%d rounds up to %d and down to %d, want %d and %d", c[0], up, down, c[1], c[2])
		}
	}
}

func TestPagesString(t *testing.T) {
	for p, want := range map[Pages]string{PagesAuto: "auto", PagesSmall: "small", PagesHuge: "huge",
		PagesHeap: "heap", 99: "unknown"} {
		if got := p.String(); got != want {
			t.Errorf("%d is %q, want %q", p, got, want)
		}
	}
}

func TestBytes(t *testing.T) {
	for n, want := range map[int]string{0: "0 B", 1023: "1023 B", 1024: "1 KiB", 1536: "1.5 KiB",
		-2048: "-2 KiB", 1 << 20: "1 MiB",
		3 << 29: "1.5 GiB", 1234567890: "1.15 GiB"} {
		if got := Bytes(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
}

func TestErrorText(t *testing.T) {
	e := &Error{Op: "commit", Purpose: "ships", Bytes: 4096, Err: ErrLimit, Detail: "raise it"}
	if got, want := e.Error(), "vm: commit 4 KiB for ships: memory limit reached: raise it"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	e = &Error{Op: "reserve", Bytes: 1, Err: ErrSize}
	if got, want := e.Error(), "vm: reserve 1 B: size out of range"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestHeapByPolicy(t *testing.T) {
	if chosen(PagesHeap).reuses() {
		t.Error("PagesHeap does not choose the heap")
	}
	if reuses := chosen(PagesAuto).reuses(); reuses == heapByDefault {
		t.Errorf("the default reuses addresses: %v; the heap is the default: %v", reuses, heapByDefault)
	}
}
