package bulk

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/vastgo/vast/internal/longtest"
	"github.com/vastgo/vast/internal/modeltest"
	"github.com/vastgo/vast/vm"
)

// fillTable sets an entry until Set panics. It returns the number of values that were set, and the error.
func fillTable(w *SharedWriter[object], entry int) (n int, err error) {
	defer func() { err, _ = recover().(error) }()
	for ; ; n++ {
		w.Set(entry, objectOf(uint64(n)+1))
	}
}

func openSmallTable(t *testing.T, o Options, places int) *SharedTable[object] {
	t.Helper()
	table := openTable(t, o)
	table.maxPlaces = uint32(places) + 1 // place 0 is not used
	return table
}

// mustHaveFree checks that a new writer can take all places that hold no value, except at most `kept` places
// that other writers may keep. If kept is 0, mustHaveFree also checks that the writer cannot take one place
// more. A place is the memory for one value.
func mustHaveFree(t *testing.T, table *SharedTable[object], what string, kept int) {
	t.Helper()
	w := table.Writer()
	defer w.Close()
	all := int(table.maxPlaces) - 1 - table.Len()
	if err := w.Grow(all - kept); err != nil {
		t.Fatalf("%s: %d places hold no value, but a new writer cannot take %d: %v", what, all, all-kept,
			err)
	}
	if kept == 0 {
		if err := w.Grow(all + 1); !errors.Is(err, vm.ErrCapacity) {
			t.Fatalf("%s: Grow for one place more than are free: %v", what, err)
		}
	}
}

// TestSharedTableWriterThatStops lets a writer use up almost all places while a reader is inside. After the
// reader has left, the writer replaces some more values and stops. The writer may keep fewer than 1,000
// places from other writers, and none after its Close.
func TestSharedTableWriterThatStops(t *testing.T) {
	for _, pages := range pageKinds {
		for name, replace := range map[string]func(w *SharedWriter[object], n int){
			"Set": func(w *SharedWriter[object], n int) { w.Set(n%8, objectOf(uint64(n))) },
			"Remove": func(w *SharedWriter[object], n int) {
				w.Set(n%8, objectOf(uint64(n)))
				w.Remove(n % 8)
			},
			"Update": func(w *SharedWriter[object], n int) {
				if n < 8 {
					w.Set(n, objectOf(1))
				}
				w.Update(n%8, func(o *object) { *o = objectOf(uint64(n)) })
			},
		} {
			for _, callsAfterLeave := range []int{0, 1, batchPlaces - 1, batchPlaces, 700} {
				what := fmt.Sprint(pages, name, callsAfterLeave)
				table := openSmallTable(t, Options{Capacity: 8, Pages: pages}, 6000)
				w, r := table.Writer(), table.Reader()
				r.Enter()
				n := 0
				for ; len(w.free) > 0 || int(table.used) < int(table.maxPlaces)-batchPlaces; n++ {
					replace(w, n)
				}
				checkTable(t, table)
				r.Leave()
				for range callsAfterLeave {
					replace(w, n)
					n++
				}
				if held := len(w.free) + len(w.waiting) - w.first; held >= 1000 || cap(w.waiting) > 4000 {
					t.Errorf("%s: a writer holds %d places, and w.waiting has room for %d", what, held,
						cap(w.waiting))
				}
				mustHaveFree(t, table, what, 999)
				checkTable(t, table)
				w.Close()
				mustHaveFree(t, table, what, 0)
				checkTable(t, table)
				if err := table.Close(); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// TestSharedTableWritersThatStop checks that a writer does not run out of places after many other writers
// have stopped without Close.
func TestSharedTableWritersThatStop(t *testing.T) {
	table := openSmallTable(t, Options{Capacity: 8}, 15_000)
	r := table.Reader()
	const stopped = 10
	for n := range stopped {
		r.Enter()
		w := table.Writer()
		for i := range 1500 {
			w.Set(i%8, objectOf(uint64(n*10_000+i)))
		}
		r.Leave()
	}
	mustHaveFree(t, table, "after the writers have stopped", stopped*999)
	checkTable(t, table)
	w := table.Writer()
	for i := range 2 * int(table.maxPlaces) {
		w.Set(i%8, objectOf(uint64(i)))
	}
	checkTable(t, table)
}

// TestSharedTableUpdateThatStalls stops the callback of an Update of entry 3, while another writer changes
// entry 3. Then the callback returns, panics or ends its goroutine.
func TestSharedTableUpdateThatStalls(t *testing.T) {
	longtest.Only(t)
	const returns, panics, exits = 0, 1, 2
	for _, pages := range pageKinds {
		for meanwhile, change := range map[string]func(w *SharedWriter[object]){
			"nothing": func(w *SharedWriter[object]) {},
			"Set":     func(w *SharedWriter[object]) { w.Set(3, objectOf(100)) },
			"Remove":  func(w *SharedWriter[object]) { w.Remove(3) },
			"Update": func(w *SharedWriter[object]) {
				w.Update(3, func(o *object) { *o = objectOf(o.A * 5) })
			},
			"Remove and Set": func(w *SharedWriter[object]) {
				w.Remove(3)
				w.Set(3, objectOf(1)) // the same value in another place
			},
			"everything": func(w *SharedWriter[object]) {
				n, err := fillTable(w, 3)
				if !errors.Is(err, vm.ErrCapacity) ||
					!strings.Contains(err.Error(), "1 readers and writers are inside a look or an Update") ||
					!strings.Contains(err.Error(), "keep looks and Updates short") || n < 5000 {
					t.Errorf("after %d values: %v", n, err)
				}
			},
		} {
			for _, end := range []int{returns, panics, exits} {
				what := fmt.Sprint(pages, " ", meanwhile, " ", end)
				table := openSmallTable(t, Options{Capacity: 8, Pages: pages}, 6000)
				other, w, r := table.Writer(), table.Writer(), table.Reader()
				for i := range 8 {
					other.Set(i, objectOf(1))
				}
				r.Enter()
				seen := r.Get(3)
				r.Leave() // afterwards, only the Update below protects *seen

				began, resume, done := make(chan bool), make(chan bool), make(chan any)
				var given []object
				updated := false
				go func() {
					defer func() { done <- recover() }()
					updated = w.Update(3, func(o *object) {
						given = append(given, *o)
						if len(given) == 1 {
							began <- true
							<-resume
							switch end {
							case panics:
								panic("stop")
							case exits:
								runtime.Goexit()
							}
						}
						*o = objectOf(o.A + 7)
					})
				}()
				<-began
				before := *seen //vastvet:ignore useafter: the test is about the value that Update protects
				modeltest.PanicText(func() { change(other) })
				want, there := r.Load(3)
				if meanwhile == "nothing" && want != objectOf(1) || meanwhile == "Set" &&
					want != objectOf(100) || meanwhile == "Remove" && there || meanwhile == "Update" &&
					want != objectOf(5) {
					t.Errorf("%s: during the Update entry 3 is %v, %t", what, want, there)
				}
				for i := range 8 {
					if v, ok := r.Load(i); i != 3 && (!ok || v != objectOf(1)) {
						t.Errorf("%s: during the Update entry %d is %v, %t", what, i, v, ok)
					}
				}
				//vastvet:ignore useafter: the test is about the value that Update protects
				if *seen != before || before != objectOf(1) {
					t.Errorf("%s: the value that the reader saw became %v", what, *seen)
				}
				says := modeltest.PanicText(func() { _ = table.Close() })
				if !strings.Contains(says, "inside a look or an Update: wait until the readers") {
					t.Errorf("%s: Close panics with %q", what, says)
				}
				resume <- true
				recovered := <-done

				calls := 1
				if end == returns {
					switch {
					case meanwhile == "nothing":
						want = objectOf(8)
					case there:
						want, calls = objectOf(want.A+7), 2
					}
				}
				got, ok := r.Load(3)
				if got != want || ok != there || updated != (there && end == returns) ||
					len(given) != calls || (recovered != nil) != (end == panics) {
					t.Errorf("%s: entry 3 is %v, %t, want %v, %t; the callback was called with "+
						"%v; Update returned %t, and panicked with %v", what, got, ok, want, there, given,
						updated, recovered)
				}
				if given[0] != objectOf(1) || calls == 2 && given[1].A+7 != want.A {
					t.Errorf("%s: the callback was called with %v", what, given)
				}
				checkTable(t, table)
				w.Set(4, objectOf(9))
				if v, _ := r.Load(4); v != objectOf(9) {
					t.Errorf("%s: after the Update, Set(4) makes %v", what, v)
				}
				w.Close()
				other.Close()
				mustHaveFree(t, table, what, 0)
				checkTable(t, table)
				if err := table.Close(); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// TestSharedTableReaderThatStalls runs the same operations of three writers many times. In each run, a reader
// stays inside for another part of the operations.
func TestSharedTableReaderThatStalls(t *testing.T) {
	const entries, operations = 6, 16
	rounds := longtest.Pick(1, 2)
	for range rounds {
		data := modeltest.RandomBytes(t, 2*operations)
		for _, pages := range pageKinds {
			limit := vm.NewLimit(1 << 26)
			for from := range operations {
				for to := from; to <= operations; to++ {
					stallReader(t, Options{Capacity: entries, Pages: pages, Limit: limit}, data, from, to)
					if limit.Used() != 0 {
						t.Fatalf("%d bytes are in use after Close", limit.Used())
					}
				}
			}
		}
	}
}

func stallReader(t *testing.T, o Options, data []byte, from, to int) {
	t.Helper()
	table := openSmallTable(t, o, 12_000)
	what := fmt.Sprintf("%v, inside from operation %d to %d of %v", o.Pages, from, to, data)
	writers := []*SharedWriter[object]{table.Writer(), table.Writer(), table.Writer()}
	r := table.Reader()
	model := make(map[int]object)
	seen := make(map[*object]object)
	s := modeltest.NewStream(data)
	for n := 0; s.More(); n++ {
		if n == from {
			r.Enter()
			for i, v := range r.All() {
				seen[v] = model[i]
			}
			if len(seen) != len(model) {
				t.Fatalf("%s: All yields %d entries, want %d", what, len(seen), len(model))
			}
		}
		if n == to {
			r.Leave()
			clear(seen)
		}
		op := s.Byte()
		w, i := &writers[op/8%3], s.Byte()%o.Capacity
		v := objectOf(uint64(n) + 1)
		_, had := model[i]
		switch op % 8 {
		case 0, 1:
			(*w).Set(i, v)
			model[i] = v
		case 2:
			if (*w).Remove(i) != had {
				t.Fatalf("%s: Remove(%d) returns %t", what, i, !had)
			}
			delete(model, i)
		case 3:
			if (*w).Update(i, func(o *object) { *o = v }) != had {
				t.Fatalf("%s: Update(%d) returns %t", what, i, !had)
			}
			if had {
				model[i] = v
			}
		case 4: // enough Sets that the table takes over replaced values
			for range maxWaiting + batchPlaces {
				(*w).Set(i, v)
			}
			model[i] = v
		case 5:
			if text := modeltest.PanicText(func() {
				(*w).Update(i,
					func(*object) { panic("stop") })
			}); (text == "stop") != had {
				t.Fatalf("%s: an Update with a callback that panics: %q", what, text)
			}
		case 6:
			(*w).Close()
			*w = table.Writer()
		case 7:
			if err := (*w).Grow(100 * (op / 64)); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
		}
		for p, was := range seen {
			if *p != was {
				t.Fatalf("%s: the value %v became %v after operation %d", what, was, *p, n)
			}
		}
		for i := range o.Capacity {
			want, had := model[i]
			load := table.Reader()
			if v, ok := load.Load(i); v != want || ok != had {
				t.Fatalf("%s: entry %d is %v, %t, want %v", what, i, v, ok, want)
			}
			load.Close()
		}
		checkTable(t, table)
	}
	if r.inside {
		r.Leave()
	}
	for _, w := range writers {
		w.Close()
	}
	if table.Len() != len(model) {
		t.Fatalf("%s: %d entries, want %d", what, table.Len(), len(model))
	}
	mustHaveFree(t, table, what, 0)
	checkTable(t, table)
	if err := table.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestSharedTableStallAtALimit lets a writer use up a limit while a reader is inside. When the reader has
// left, the writer must be able to set as many values again, in the same memory.
func TestSharedTableStallAtALimit(t *testing.T) {
	longtest.Only(t)
	for _, pages := range pageKinds {
		limit := vm.NewLimit(256 << 10)
		table := openTable(t, Options{Capacity: 100, Limit: limit, Pages: pages})
		w, r := table.Writer(), table.Reader()
		w.Set(1, objectOf(42))
		if err := table.GrowEntries(100); err != nil {
			t.Fatal(err)
		}
		r.Enter()
		seen := r.Get(1)
		first, err := fillTable(w, 2)
		if !errors.Is(err, vm.ErrLimit) || limit.Used() > limit.Max() || first < 1000 {
			t.Fatalf("%v: after %d values: %v, %d bytes are in use", pages, first, err, limit.Used())
		}
		used := limit.Used()
		if !w.Remove(2) || w.Remove(2) || !w.Remove(1) || table.Len() != 0 {
			t.Errorf("%v: after two Removes at the limit: %d entries, want 0", pages, table.Len())
		}
		if r.Get(1) != nil || r.Get(2) != nil || *seen != objectOf(42) {
			t.Errorf("%v: the reader sees %v, and saw %v", pages, r.Get(1), *seen)
		}
		r.Leave()
		for range 2 {
			w.Set(2, objectOf(1)) // frees the replaced values, because no reader is inside
			r.Enter()
			again, err := fillTable(w, 2)
			r.Leave()
			if !errors.Is(err, vm.ErrLimit) || again < first-1 || again > first+1 || limit.Used() != used {
				t.Errorf("%v: %d values, want %d; %d bytes, want %d: %v", pages, again, first,
					limit.Used(), used, err)
			}
		}
		checkTable(t, table)
		if err := table.Close(); err != nil || limit.Used() != 0 {
			t.Errorf("%v: Close: %v, %d bytes are in use", pages, err, limit.Used())
		}
	}
}

// TestSharedTableGoroutinesThatEnd ends goroutines by panic and by Goexit: after some Sets, between Enter and
// a deferred Leave, in a loop over All, and in an Update. Their readers and writers stay open.
func TestSharedTableGoroutinesThatEnd(t *testing.T) {
	for name, end := range map[string]func(){"panic": func() { panic("stop") }, "Goexit": runtime.Goexit} {
		table := openSmallTable(t, Options{Capacity: 100}, 10_000)
		var readers []*SharedReader[object]
		var writers []*SharedWriter[object]
		run := func(f func(r *SharedReader[object], w *SharedWriter[object])) {
			r, w := table.Reader(), table.Writer()
			readers, writers = append(readers, r), append(writers, w)
			var wait sync.WaitGroup
			wait.Add(1)
			go func() {
				defer wait.Done()
				defer func() { _ = recover() }()
				f(r, w)
			}()
			wait.Wait()
		}
		run(func(r *SharedReader[object], w *SharedWriter[object]) {
			for i := range 100 {
				w.Set(i, objectOf(uint64(i)))
			}
			end()
		})
		run(func(r *SharedReader[object], w *SharedWriter[object]) {
			r.Enter()
			defer r.Leave()
			if r.Get(5) == nil {
				t.Error("entry 5 has no value")
			}
			end()
		})
		if table.epochs.inside() != 0 {
			t.Errorf("%s: a reader that leaves in a deferred call is still inside", name)
		}
		run(func(r *SharedReader[object], w *SharedWriter[object]) {
			r.Enter()
			for i := range r.All() {
				if w.Remove(i); i == 9 {
					end()
				}
			}
		})
		run(func(r *SharedReader[object], w *SharedWriter[object]) {
			r.Load(1)
			w.Update(50, func(*object) { end() })
		})
		if v, ok := readers[0].Load(50); !ok || v != objectOf(50) || table.Len() != 90 {
			t.Errorf("%s: entry 50 is %v, %t, Len is %d", name, v, ok, table.Len())
		}
		// A reader is still inside, so no replaced value is freed.
		w := table.Writer()
		if n, err := fillTable(w, 0); !errors.Is(err, vm.ErrCapacity) || n < 5000 {
			t.Errorf("%s: after %d values: %v", name, n, err)
		}
		w.Close()
		readers[2].Leave()
		mustHaveFree(t, table, name, 999*len(writers))
		for _, w := range writers {
			w.Close()
		}
		mustHaveFree(t, table, name, 0)
		checkTable(t, table)
	}
}
