package probe_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/probe"
)

func TestBytes(t *testing.T) {
	w := vast.NewWorld(vast.Options{MaxEntities: 1 << 10})
	t.Cleanup(func() { w.Close() })
	type pair struct{ A, B uint32 }
	a, s := vast.NewColumn[pair](w), vast.NewSparseColumn[uint64](w)
	h, tag := vast.NewHeapColumn[string](w), vast.NewTag(w, "Tag")
	nothing := vast.NewColumn[struct{}](w)
	made := w.Archetype(a, s, h, tag, nothing)
	made.NewN(300, func(r vast.Run) {
		for i := range r.Len() {
			a.Slice(r)[i] = pair{uint32(r.Start() + i), 7}
		}
	})
	n := 0
	for run := range w.Query(a).Between(10, 200).Runs() {
		var want []byte
		for _, p := range a.Slice(run) {
			want = binary.NativeEndian.AppendUint32(want, p.A)
			want = binary.NativeEndian.AppendUint32(want, p.B)
		}
		if got := probe.Bytes(a, run); !bytes.Equal(got, want) {
			t.Errorf("the bytes of the slots [%d, %d) differ from the values", run.Start(),
				run.Start()+run.Len())
		}
		for _, col := range []vast.AnyColumn{s, h, tag, nothing} {
			if got := probe.Bytes(col, run); len(got) != 0 {
				t.Errorf("Bytes returns %d bytes for %s, want none", len(got), col.Name())
			}
		}
		n += run.Len()
	}
	if n != 190 {
		t.Errorf("the runs hold %d entities, want 190", n)
	}
	b := vast.NewColumn[uint64](w).Named("b")
	defer func() {
		if recover() == nil {
			t.Error("Bytes does not panic for a run that lacks the component")
		}
	}()
	for run := range w.Query(a).Runs() {
		probe.Bytes(b, run)
	}
}
