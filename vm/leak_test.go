package vm

import (
	"runtime"
	"strings"
	"testing"
	"time"
	"unsafe"
)

// TestLeak: a dropped region is reported once, with the line that made it, and keeps its memory.
func TestLeak(t *testing.T) {
	p := PageSize()
	eachBackend(t, func(t *testing.T, backend backend) {
		purpose := t.Name()
		reports := make(chan Leak, 100)
		OnLeak(func(l Leak) {
			if l.Purpose == purpose {
				reports <- l
			}
		})
		defer OnLeak(nil)

		base, dropped := dropRegion(t, backend, purpose)
		var leak Leak
		for deadline := time.Now().Add(20 * time.Second); leak.Purpose == ""; {
			runtime.GC()
			select {
			case leak = <-reports:
			case <-time.After(time.Millisecond):
				if time.Now().After(deadline) {
					t.Fatal("the dropped region was not reported")
				}
			}
		}
		if leak.Reserved != 8*p || leak.Committed != 2*p {
			t.Errorf("reported %d reserved and %d committed bytes, want %d and %d", leak.Reserved,
				leak.Committed, 8*p, 2*p)
		}
		if !strings.Contains(leak.Made, "leak_test.go:") {
			t.Errorf("reported as made at %q", leak.Made)
		}
		b := unsafe.Slice((*byte)(base), 2*p)
		if b[p] != 42 {
			t.Errorf("the leaked memory holds %d, want 42", b[p])
		}
		b[0] = 1 // must not fault
		if s := find(t, purpose, false); s.Regions != 1 || s.Leaked != 8*p || s.Reserved != 8*p ||
			s.Committed != 2*p {
			t.Errorf("counted as %+v", s)
		}
		// A closed region is not reported, and the leaked region is not reported again.
		open(t, backend, p, Options{Name: purpose}).Close()
		for range 3 {
			runtime.GC()
			time.Sleep(time.Millisecond)
		}
		select {
		case l := <-reports:
			t.Errorf("reported again: %+v", l)
		default:
		}
		must(t, (&Region{dropped}).Close())
	})
}

// dropRegion makes a region and drops it. It is a separate function, so that no variable of the test keeps
// the region alive.
//
//go:noinline
func dropRegion(t *testing.T, backend backend, purpose string) (base unsafe.Pointer, m *mapping) {
	var made origin
	made.record()
	r, err := reserveOn(backend, 8*PageSize(), Options{Name: purpose}, made)
	must(t, err)
	must(t, r.Commit(0, 2*PageSize()))
	view(r)[PageSize()] = 42
	return r.Base(), r.m
}

func TestSpanKeepsRegion(t *testing.T) {
	var reported bool
	OnLeak(func(l Leak) { reported = reported || l.Purpose == t.Name() })
	s, err := openWithoutCleanup(t, 8*PageSize()).Carve(PageSize(), 0)
	must(t, err)
	for range 3 {
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
	must(t, s.CommitTo(1, 0))
	OnLeak(nil)
	if reported {
		t.Error("a region with a live span was reported as dropped")
	}
	must(t, s.Region().Close())
}

// openWithoutCleanup reserves a region. It does not call t.Cleanup, which would keep the region alive.
func openWithoutCleanup(t *testing.T, bytes int) *Region {
	r, err := Reserve(bytes, Options{Name: t.Name()})
	must(t, err)
	return r
}

func TestMadeNamesTheCaller(t *testing.T) {
	r := openWithoutCleanup(t, 1)
	defer r.Close()
	if first, _, _ := strings.Cut(r.m.made.String(), " < "); !strings.Contains(first, "leak_test.go:") {
		t.Errorf("made at %q, want the caller of Reserve first", r.m.made.String())
	}
}
