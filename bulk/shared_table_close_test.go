package bulk

import (
	"errors"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/vastgo/vast/internal/fault"
	"github.com/vastgo/vast/internal/faulttest"
	"github.com/vastgo/vast/internal/longtest"
	"github.com/vastgo/vast/internal/modeltest"
	"github.com/vastgo/vast/vm"
)

func TestSharedTableUsedAfterClose(t *testing.T) {
	for _, pages := range pageKinds {
		table := openTable(t, Options{Name: "objects", Capacity: 10, Pages: pages})
		w, other := table.Writer(), table.Writer()
		r := table.Reader()
		r.Enter()
		for i := range 300 { // some replaced values wait to be freed
			w.Set(i%10, objectOf(1))
			other.Set(i%10, objectOf(1))
		}
		r.Leave()
		w.Close()
		for name, f := range map[string]func(){
			"Set":    func() { w.Set(1, objectOf(2)) },
			"Remove": func() { w.Remove(1) },
			"Update": func() { w.Update(1, func(o *object) { *o = objectOf(2) }) },
			"Grow":   func() { _ = w.Grow(1) },
		} {
			says := "a writer of objects is used after Close: make another one"
			if text := modeltest.PanicText(f); !strings.Contains(text, says) {
				t.Errorf("%v: %s on a closed writer panics with %q", pages, name, text)
			}
		}
		if v, ok := r.Load(1); !ok || v != objectOf(1) || table.Len() != 10 {
			t.Errorf("%v: after calls on a closed writer, entry 1 is %v, %t, Len is %d", pages, v, ok,
				table.Len())
		}
		checkTable(t, table)
		if err := table.Close(); err != nil {
			t.Fatal(err)
		}
		for name, f := range map[string]func(){
			"Set":    func() { other.Set(1, objectOf(2)) },
			"Remove": func() { other.Remove(1) },
			"Update": func() { other.Update(1, func(o *object) { *o = objectOf(2) }) },
			"Grow":   func() { _ = other.Grow(1) },
			"Load":   func() { r.Load(1) },
		} {
			if text := modeltest.PanicText(f); !strings.Contains(text,
				"objects is used after Close: keep it open") {
				t.Errorf("%v: %s on a closed table panics with %q", pages, name, text)
			}
		}
		other.Close()
		r.Close()
	}
}

// TestSharedTableEnterDuringClose lets a reader enter while Close gives the memory back to the operating
// system. If Close fails, the table must stay open.
func TestSharedTableEnterDuringClose(t *testing.T) {
	for _, pages := range pageKinds {
		var during func() error
		stop := fault.Inject(func(op string) error {
			if during != nil {
				return during()
			}
			return nil
		})
		table := openTable(t, Options{Name: "objects", Capacity: 10, Pages: pages})
		w, r := table.Writer(), table.Reader()
		w.Set(3, objectOf(1))
		for _, refuse := range []error{faulttest.Err, nil} {
			asked := false
			during = func() error {
				asked = true
				r.Enter()
				var got *object
				text := modeltest.PanicText(func() { got = r.Get(3) })
				if got != nil || !strings.Contains(text, "objects is used after Close") {
					t.Errorf("%v: a reader that enters during Close gets %v, and panics with %q", pages,
						got, text)
				}
				r.Leave()
				return refuse
			}
			err := table.Close()
			during = nil
			if asked && !errors.Is(err, refuse) {
				t.Errorf("%v: Close: %v, want %v", pages, err, refuse)
			}
			if err == nil {
				break
			}
			//vastvet:ignore useafter: Close was refused
			if v, ok := r.Load(3); !ok || v != objectOf(1) || table.Len() != 1 {
				t.Errorf("%v: after a failed Close, entry 3 is %v, %t", pages, v, ok)
			}
			w.Set(4, objectOf(2)) //vastvet:ignore useafter: Close was refused
			w.Remove(4)           //vastvet:ignore useafter: Close was refused
		}
		stop()
		text := modeltest.PanicText(func() { r.Load(3) })
		if !strings.Contains(text, "objects is used after Close") {
			t.Errorf("%v: a closed table panics with %q", pages, text)
		}
	}
}

// TestSharedTableCloseBesideEnter lets readers enter while Close runs. Close panics while a reader is inside,
// and readers panic after the table was closed. No reader may read memory that Close gave back.
func TestSharedTableCloseBesideEnter(t *testing.T) {
	rounds := 1000
	if !longtest.Enabled() || vm.HeapStandIn() {
		rounds = 100
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	var refused, closed, read, told atomic.Int64
	for round := range rounds {
		table := openTable(t, Options{Name: "objects", Capacity: 10})
		w := table.Writer()
		for i := range 10 {
			w.Set(i, objectOf(uint64(i)))
		}
		var ready atomic.Int32
		var all sync.WaitGroup
		const readers = 2
		for n := range readers {
			r := table.Reader()
			all.Go(func() {
				ready.Add(1)
				for range 50 {
					r.Enter()
					var v object
					text := modeltest.PanicText(func() { vm.Do(func() { v = *r.Get(n) }) })
					r.Leave()
					switch {
					case text == "" && v == objectOf(uint64(n)):
						read.Add(1)
					case strings.Contains(text, "objects is used after Close"):
						told.Add(1)
						return
					default:
						t.Errorf("a reader got %v and panicked with %q", v, text)
						return
					}
				}
			})
		}
		rnd := rand.New(rand.NewPCG(seed, uint64(round)))
		for ready.Load() < readers {
			runtime.Gosched()
		}
		for range rnd.IntN(200) {
			_ = table.Cap()
		}
		for {
			text := modeltest.PanicText(func() {
				if err := table.Close(); err != nil {
					t.Error(err)
				}
			})
			if text == "" {
				closed.Add(1)
				break
			}
			refused.Add(1)
			if !strings.Contains(text, "of its readers and writers are inside") {
				t.Fatalf("Close panics with %q", text)
			}
			runtime.Gosched()
		}
		all.Wait()
		if t.Failed() {
			return
		}
	}
	t.Logf("Close panicked %d times; %d reads worked, %d panicked", refused.Load(), read.Load(),
		told.Load())
	if int(closed.Load()) != rounds || read.Load() == 0 {
		t.Errorf("%d of %d tables were closed, %d reads worked", closed.Load(), rounds, read.Load())
	}
}
