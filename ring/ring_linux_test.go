package ring

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"github.com/vastgo/vast/internal/longtest"
	"github.com/vastgo/vast/vm"
)

// smaps returns the sum of a field of /proc/self/smaps, in bytes, over the mappings in [base, base+n).
func smaps(t *testing.T, base unsafe.Pointer, n int, field string) (bytes int) {
	t.Helper()
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lo, inside := uintptr(base), false
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var from, to uintptr
		if c := lines.Text()[0]; c < 'A' || c > 'Z' { // this line begins a mapping
			if k, _ := fmt.Sscanf(lines.Text(), "%x-%x ", &from, &to); k != 2 {
				t.Fatalf("not a mapping: %s", lines.Text())
			}
			inside = from < lo+uintptr(n) && lo < to
		} else if rest, ok := strings.CutPrefix(lines.Text(), field+":"); ok && inside {
			kib, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(rest), " kB"))
			if err != nil {
				t.Fatal(err)
			}
			bytes += kib << 10
		}
	}
	return bytes
}

func TestRingMemory(t *testing.T) {
	if vm.HeapStandIn() {
		t.Skip("regions are Go heap memory in this build")
	}
	const size = 1 << 20
	r := newRing(t, Options{Capacity: size})
	if err := r.Refused(); err != nil {
		t.Skip(err)
	}
	if n := smaps(t, r.base, 2*size, "Rss"); n != 0 {
		t.Errorf("an unused ring has %d bytes in memory", n)
	}
	for range 5 {
		b, err := r.Reserve(size - 100)
		if err != nil {
			t.Fatal(err)
		}
		for i := range b {
			b[i] = 1
		}
		r.Commit(len(b))
		r.Discard(len(b))
	}
	if n := smaps(t, r.base, 2*size, "Pss"); n != size {
		t.Errorf("a ring of %d bytes takes %d bytes of memory", size, n)
	}
	b := r.bytes(0, r.size)
	other := unsafe.Slice((*byte)(unsafe.Add(r.base, r.size)), r.size)
	for i := 0; i < r.size; i += 777 {
		if b[i] = byte(i); other[i] != byte(i) {
			t.Fatalf("byte %d is %d in the other half", i, other[i])
		}
	}
	base := r.base
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if n := smaps(t, base, 2*size, "Rss"); n != 0 {
		t.Errorf("a closed ring has %d bytes in memory", n)
	}
}

func TestEndlessMemory(t *testing.T) {
	if vm.HeapStandIn() {
		t.Skip("regions are Go heap memory in this build")
	}
	for _, o := range []EndlessOptions{
		{Capacity: 4 << 20, Step: 256 << 10},
		{Capacity: 4 << 20, Step: 256 << 10, Pages: vm.PagesSmall},
		{Capacity: 64 << 20}, // huge pages
	} {
		streamThrough(t, o)
	}
}

func streamThrough(t *testing.T, o EndlessOptions) {
	const window = 1 << 20
	o.Limit = vm.NewLimit(o.Capacity)
	e := newEndless(t, o)
	step := e.step
	if want := 8*o.Capacity + vm.PageSize(); e.region.Size() != want {
		t.Errorf("%d bytes of addresses, want %d", e.region.Size(), want)
	}
	block := make([]byte, 10_000)
	for i := range block {
		block[i] = 1
	}
	most, every := 0, 200
	if !longtest.Enabled() {
		every = 1000
	}
	for i := 0; e.End() < int64(10*o.Capacity); i++ {
		if _, err := e.Append(block); err != nil {
			t.Fatal(err)
		}
		if err := e.Release(max(e.Start(), e.End()-window)); err != nil {
			t.Fatal(err)
		}
		if i%every == 0 {
			most = max(most, smaps(t, e.region.Base(), e.region.Size(), "Rss"))
		}
	}
	// The stream alternates between two ranges of addresses. In each range, only the kept bytes and at most
	// one step on each side of them are in memory.
	if most < window || most > 2*window+4*step {
		t.Errorf("for %d kept bytes, %d bytes were in memory", window, most)
	}
	if err := e.Release(e.End()); err != nil {
		t.Fatal(err)
	}
	if n := smaps(t, e.region.Base(), e.region.Size(), "Rss"); n > 2*step {
		t.Errorf("after everything is released, %d bytes are in memory", n)
	}
	if used := o.Limit.Used(); used > 2*step {
		t.Errorf("after everything is released, %d bytes are committed", used)
	}
}
