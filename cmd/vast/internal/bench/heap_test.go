package bench

import (
	"testing"

	"github.com/vastgo/vast/vm"
)

func TestChunkList(t *testing.T) {
	l := &chunkList{memory: make([]byte, 1000)}
	a, b, c, d := l.alloc(100), l.alloc(50), l.alloc(100), l.alloc(10)
	l.release(a, 100)
	l.release(c, 100)
	if at := l.alloc(120); at != 260 {
		t.Errorf("120 bytes lie at %d, want 260, because no free chunk is long enough", at)
	}
	l.release(b, 50)
	if at := l.alloc(250); at != a || len(l.free) != 0 || d != 250 {
		t.Errorf("250 bytes lie at %d, want %d in the joined chunks; the free chunks are %v", at, a, l.free)
	}
}

func TestOnlyHeapReusesFreedBlocksForLargeAllocation(t *testing.T) {
	if vm.HeapStandIn() {
		t.Skip("regions are Go heap memory in this build")
	}
	if vm.PageSize() > bytesHole {
		t.Skipf("a hole is smaller than a page of %s, so the heap cannot use the memory of holes again",
			vm.Bytes(vm.PageSize()))
	}
	const n = 400_000 // 32 MB
	rows, err := measureAll(options{n: n, rounds: 1, names: []string{"fragmented"}, json: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	blocks := float64(numberOfBlocks(n)*bytesHole) / 1e6
	for _, r := range rows {
		if r.OursMB < 0.9*blocks || r.OursMB > 1.25*blocks {
			t.Errorf("vast has %.1f MB for %.1f MB of blocks, want 0.9 to 1.25 times as much", r.OursMB,
				blocks)
		}
		if r.Against == "free-list" && r.TheirsMB < 1.4*blocks {
			t.Errorf("the list of chunks has %.1f MB for %.1f MB of blocks, want at least 1.4 times as much",
				r.TheirsMB, blocks)
		}
	}
}
