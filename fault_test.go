package vast

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"unsafe"

	"github.com/vastgo/vast/internal/childtest"
	"github.com/vastgo/vast/vm"
)

func init() {
	children["fault"] = func() {
		defer vm.Watch()()
		_, _, past := columnWithStray()
		*past = number{1}
	}
	children["fault without Watch"] = func() {
		_, _, past := columnWithStray()
		fmt.Printf("writing to %#x\n", uintptr(unsafe.Pointer(past)))
		*past = number{1}
	}
}

// columnWithStray makes a world with one entity. past points far beyond the column's usable slots.
func columnWithStray() (c Column[number], e Entity, past *number) {
	w := NewWorld(Options{Name: "demo", MaxEntities: 8_000_000})
	c = NewColumn[number](w)
	e = w.Archetype(c).New()
	return c, e, (*number)(unsafe.Add(unsafe.Pointer(c.Get(e)), 8*5_000_000))
}

func faultOf(t *testing.T, f func()) (found *vm.Fault) {
	t.Helper()
	defer func() {
		t.Helper()
		err, _ := recover().(error)
		if !errors.As(err, &found) {
			t.Fatalf("the access panics with %v, want a *vm.Fault", err)
		}
	}()
	vm.Do(f)
	return nil
}

func mustFault(t *testing.T) {
	t.Helper()
	if vm.HeapStandIn() {
		t.Skip("columns are Go heap memory in this build, where nothing faults")
	}
}

func TestColumnFault(t *testing.T) {
	mustFault(t)
	c, e, past := columnWithStray()
	f := faultOf(t, func() { past.N = 1 })
	want := fmt.Sprintf(`slot 5000000 of column number of world "demo" is beyond its %d usable slots`,
		f.Usable)
	if f.String() != want {
		t.Errorf("the fault says %q, want %q", f, want)
	}
	if f.Usable < int(c.c.slots) || f.Usable > int(c.c.slots)+63 {
		t.Errorf("the fault reports %d usable slots, the column has %d", f.Usable, c.c.slots)
	}
	for _, want := range []string{"look the component up by its Entity", "fault_test.go:"} {
		if text := f.Error(); !strings.Contains(text, want) {
			t.Errorf("the error does not contain %q:\n%s", want, text)
		}
	}
	p, generation := c.Get(e), c.c.world.generation(e.slot)
	if err := c.c.world.Close(); err != nil {
		t.Fatal(err)
	}
	f = faultOf(t, func() { p.N++ })
	want = `slot 0 of column number of world "demo" is gone: its region was closed`
	if f.String() != want || !f.Closed {
		t.Errorf("the fault says %q, want %q", f, want)
	}
	f = faultOf(t, func() { e.generation = *generation })
	want = ` of the entities of world "demo" is gone: its region was closed`
	if !strings.HasSuffix(f.String(), want) {
		t.Errorf("the fault says %q, want %q", f, want)
	}
	if text := f.Error(); !strings.Contains(text, "closed at ") || !strings.Contains(text, "fault_test.go:") {
		t.Errorf("the error says\n%s", text)
	}
}

func TestTrimmedFault(t *testing.T) {
	mustFault(t)
	w := NewWorld(Options{Name: "shrinking"})
	defer w.Close()
	c := NewColumn[number](w)
	var last Entity
	w.Archetype(c).NewN(100_000, func(r Run) { last = r.Entity(r.Len() - 1) })
	p, slot := c.Get(last), last.slot
	w.DeleteAll(w.Query(c))
	if err := w.Trim(); err != nil {
		t.Fatal(err)
	}
	f := faultOf(t, func() { p.N = 1 })
	const format = `slot %d of column number of world "shrinking" lies in memory that was given back`
	want := fmt.Sprintf(format, slot)
	if f.String() != want {
		t.Errorf("the fault says %q, want %q", f, want)
	}
}

func TestLookUpsDoNotFault(t *testing.T) {
	c, e, _ := columnWithStray()
	w := c.c.world
	for _, invented := range []Entity{
		{},
		{slot: 5_000_000, generation: e.generation},
		{slot: 1<<32 - 1, generation: e.generation},
		{slot: uint32(w.options.MaxEntities), generation: 1},
	} {
		if w.Alive(invented) || c.Has(invented) || c.Get(invented) != nil || c.Set(invented, number{}) ||
			c.Add(invented, number{}) != nil ||
			c.Remove(invented) || w.Delete(invented) {
			t.Errorf("a method accepts the invented entity %+v", invented)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if w.Alive(e) || c.Has(e) || c.Get(e) != nil || c.Set(e, number{}) || c.Remove(e) || w.Delete(e) {
		t.Error("the entity outlives its world")
	}
}

func TestFaultInChild(t *testing.T) {
	mustFault(t)
	childtest.Needed(t)
	for child, says := range map[string][]string{
		"fault": {"panic: ", "vm: bad access at 0x",
			`slot 5000000 of column number of world "demo" is beyond its `,
			"look the component up by its Entity", "made at ", "goroutine 1 [running"},
		"fault without Watch": {"unexpected fault address 0x", "fatal error: fault"},
	} {
		t.Run(child, func(t *testing.T) {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), childVariable+"="+child)
			out, err := cmd.CombinedOutput()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != 2 {
				t.Errorf("the child ended with %v, want exit status 2", err)
			}
			for _, want := range says {
				if !strings.Contains(string(out), want) {
					t.Errorf("the output does not contain %q:\n%s", want, out)
				}
			}
		})
	}
}
