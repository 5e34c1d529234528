package vm

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/vastgo/vast/internal/modeltest"
)

func openMirror(tb testing.TB, backend backend, bytes int, o Options) *Mirror {
	tb.Helper()
	var made origin
	made.record()
	m, err := mirrorOn(backend, bytes, o, made)
	must(tb, err)
	tb.Cleanup(func() { must(tb, m.Close()) })
	return m
}

func halves(m *Mirror) (first, second []byte) {
	b := unsafe.Slice((*byte)(m.Base()), 2*m.Size())
	return b[:m.Size()], b[m.Size():]
}

// TestMirror writes ranges in both halves and across their border. It compares both halves with a plain
// slice.
func TestMirror(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	eachBackend(t, func(t *testing.T, backend backend) {
		rnd := rand.New(rand.NewPCG(seed, 0))
		m := openMirror(t, backend, 3*PageSize()+1, Options{})
		if want := roundUp(3*PageSize()+1, max(PageSize(), mirrorUnit)); m.Size() != want {
			t.Fatalf("size %d, want %d", m.Size(), want)
		}
		if (m.Refused() == nil) != backend.reuses() ||
			m.Refused() != nil && !errors.Is(m.Refused(), ErrRefused) {
			t.Errorf("refused: %v", m.Refused())
		}
		size := m.Size()
		model := make([]byte, size)
		b := unsafe.Slice((*byte)(m.Base()), 2*size)
		for i := range 300 {
			n := []int{1, 1 + rnd.IntN(100), size, rnd.IntN(size + 1), 0}[i%5]
			off := rnd.IntN(2*size - n + 1)
			for k := range n {
				v := byte(rnd.Uint32())
				b[off+k], model[(off+k)%size] = v, v
			}
			m.Written(off, n)
			if first, second := halves(m); !bytes.Equal(first, model) || !bytes.Equal(second, model) {
				t.Fatalf("the halves differ from the model after Written(%d, %d)", off, n)
			}
		}
		for _, r := range [][2]int{{-1, 1}, {0, size + 1}, {2 * size, 1}, {0, -1},
			{math.MaxInt, math.MaxInt}} {
			text := modeltest.PanicText(func() { m.Written(r[0], r[1]) })
			if m.Refused() != nil && !strings.Contains(text, "reaches outside a mirror") {
				t.Errorf("Written(%d, %d) panics with %q", r[0], r[1], text)
			}
		}
	})
}

func TestMirrorSizes(t *testing.T) {
	eachBackend(t, func(t *testing.T, backend backend) {
		for _, n := range []int{0, -1, math.MinInt, math.MaxInt, maxMirror + 1} {
			if _, err := mirrorOn(backend, n, Options{}, origin{}); !errors.Is(err, ErrSize) {
				t.Errorf("%d bytes: %v", n, err)
			}
		}
		if m := openMirror(t, backend, 1, Options{}); m.Size() != max(PageSize(), mirrorUnit) {
			t.Errorf("a mirror of 1 byte has %d bytes", m.Size())
		}
		// 32-bit systems return another error.
		if math.MaxInt == math.MaxInt32 {
			return
		}
		if _, err := mirrorOn(backend, maxMirror, Options{Name: "huge"}, origin{}); !errors.Is(err,
			ErrAddressSpace) {
			t.Errorf("got %v", err)
		}
	})
}

func TestMirrorIsCounted(t *testing.T) {
	eachBackend(t, func(t *testing.T, backend backend) {
		purpose := t.Name()
		limit := NewLimit(8 * mirrorBytes())
		m := openMirror(t, backend, mirrorBytes(), Options{Name: purpose, Limit: limit})
		memory := m.Size()
		if m.Refused() != nil {
			memory *= 2
		}
		want := PurposeStats{Purpose: purpose, Regions: 1, Reserved: 2 * m.Size(), Committed: memory}
		if got := find(t, purpose, false); got != want || limit.Used() != memory {
			t.Errorf("counted %+v, used %d, want %+v", got, limit.Used(), want)
		}
		// A mirror beyond the limit changes nothing.
		var e *Error
		_, err := mirrorOn(backend, 8*mirrorBytes(), Options{Name: purpose, Limit: limit}, origin{})
		if !errors.Is(err, ErrLimit) || !errors.As(err, &e) || e.Purpose != purpose ||
			find(t, purpose, false) != want || limit.Used() != memory {
			t.Errorf("got %v, counted %+v, used %d", err, find(t, purpose, false), limit.Used())
		}
		must(t, m.Close())
		must(t, m.Close())
		if got := find(t, purpose, false); got != (PurposeStats{Purpose: purpose}) || limit.Used() != 0 {
			t.Errorf("after Close: %+v, used %d", got, limit.Used())
		}
	})
}

// mirrorBytes returns a size of a mirror that needs no rounding.
func mirrorBytes() int { return 4 * max(PageSize(), mirrorUnit) }

func TestMirrorAddressesAreReused(t *testing.T) {
	backend := onlyOS(t)
	const size = 41 << 20 // a size that no other test uses
	m := openMirror(t, backend, size, Options{})
	base := m.Base()
	first, _ := halves(m)
	first[5] = 9
	must(t, m.Close())
	if !faults(func() { sink = first[5] }) || !faults(func() { sink = first[:size+1][size] }) {
		t.Error("a closed mirror can be read")
	}
	for range 10 {
		m := openMirror(t, backend, size, Options{})
		if first, _ := halves(m); m.Base() != base || first[5] != 0 {
			t.Fatalf("the next mirror is at %p and holds %d, the closed mirror was at %p", m.Base(),
				first[5], base)
		}
		must(t, m.Close())
	}
	if !mirrorsServeRegions {
		return
	}
	// A region at the mirror's addresses begins at the base or at the next huge page. The first regions may
	// get addresses that other tests gave back.
	for range 100 {
		r := open(t, backend, 2*size-HugePageSize(), Options{})
		if distance := address(r.Base()) - address(base); distance < 0 || distance > HugePageSize() {
			continue
		}
		must(t, r.Commit(0, r.Size()))
		view(r)[5] = 1
		if view(r)[size+5] != 0 {
			t.Errorf("byte 5 of the other half is %d, want 0", view(r)[size+5])
		}
		return
	}
	t.Error("no region lies at the mirror's addresses")
}

func TestMirrorLeak(t *testing.T) {
	eachBackend(t, func(t *testing.T, backend backend) {
		purpose := t.Name()
		reports := make(chan Leak, 1)
		OnLeak(func(l Leak) {
			if l.Purpose == purpose {
				reports <- l
			}
		})
		defer OnLeak(nil)
		dropped := dropMirror(t, backend, purpose)
		for deadline := time.Now().Add(20 * time.Second); ; {
			runtime.GC()
			select {
			case l := <-reports:
				if l.Reserved != 2*mirrorBytes() || !strings.Contains(l.Made, "mirror_test.go:") {
					t.Errorf("reported %+v", l)
				}
				must(t, (&Region{dropped}).Close())
				return
			case <-time.After(time.Millisecond):
				if time.Now().After(deadline) {
					t.Fatal("the dropped mirror was not reported")
				}
			}
		}
	})
}

//go:noinline
func dropMirror(t *testing.T, backend backend, purpose string) *mapping {
	var made origin
	made.record()
	m, err := mirrorOn(backend, mirrorBytes(), Options{Name: purpose}, made)
	must(t, err)
	return m.r.m
}

type refusing struct {
	backend
	mirrorErr, unmirrorErr error
}

func (r *refusing) mirror(n int, name string) (unsafe.Pointer, error) {
	if r.mirrorErr != nil {
		return nil, r.mirrorErr
	}
	return r.backend.mirror(n, name)
}

func (r *refusing) unmirror(p unsafe.Pointer, n int) error {
	if r.unmirrorErr != nil {
		return r.unmirrorErr
	}
	return r.backend.unmirror(p, n)
}

// TestMirrorFailures: if the system refuses to map memory twice, Written copies bytes from one half to the
// other. If a new mirror fails for another reason, the result is an error, and no memory stays in use. If
// Close fails, the mirror stays usable.
func TestMirrorFailures(t *testing.T) {
	backend := &refusing{backend: onlyOS(t)}
	limit := NewLimit(100 * mirrorBytes())
	o := Options{Name: t.Name(), Limit: limit}
	backend.mirrorErr = fmt.Errorf("the sandbox: %w", ErrRefused)
	m, err := mirrorOn(backend, mirrorBytes(), o, origin{})
	must(t, err)
	first, second := halves(m)
	first[3] = 7
	m.Written(3, 1)
	var e *Error
	if second[3] != 7 || !errors.As(m.Refused(), &e) || !strings.Contains(e.Detail, "the sandbox") ||
		limit.Used() != 2*mirrorBytes() {
		t.Errorf("the second half holds %d, refused: %v, %d bytes used", second[3], m.Refused(), limit.Used())
	}
	must(t, m.Close())
	for _, sentinel := range []error{errFaulty, ErrDescriptors} {
		backend.mirrorErr = fmt.Errorf("injected: %w", sentinel)
		if _, err := mirrorOn(backend, mirrorBytes(), o, origin{}); !errors.Is(err, sentinel) ||
			errors.Is(err, ErrRefused) || limit.Used() != 0 || find(t, t.Name(), false).Regions != 0 {
			t.Errorf("%v gave %v; %d used", backend.mirrorErr, err, limit.Used())
		}
	}
	// A failing Close changes nothing.
	backend.mirrorErr, backend.unmirrorErr = nil, errFaulty
	m, err = mirrorOn(backend, mirrorBytes(), o, origin{})
	must(t, err)
	first, second = halves(m)
	if err := m.Close(); !errors.Is(err, errFaulty) {
		t.Errorf("Close: %v", err)
	}
	if first[3] = 7; second[3] != 7 || limit.Used() != mirrorBytes() {
		t.Errorf("after a failed Close the mirror holds %d, and %d bytes are used", second[3], limit.Used())
	}
	backend.unmirrorErr = nil
	must(t, m.Close())
	if limit.Used() != 0 || !faults(func() { sink = first[3] }) {
		t.Errorf("after Close %d bytes are used", limit.Used())
	}
}
