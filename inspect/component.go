package inspect

import (
	"reflect"
	"strconv"
	"unsafe"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/inspect/internal/query"
	"github.com/vastgo/vast/probe"
)

// maxComponent is the size in bytes of the largest component that is copied inside Inspector.look.
const maxComponent = query.CopyMost

// has reports whether e is alive and has a component. Call this function only inside Inspector.look.
func has(w *vast.World, col vast.AnyColumn, e vast.Entity) bool {
	return w.Alive(e) && probe.Presence(w, col, int(e.Slot()/64))>>(e.Slot()%64)&1 != 0
}

// valueNow returns e's component. A component in dense storage is not copied. valueNow returns false if e
// lacks the component, or if the copy would be larger than maxComponent. Call valueNow only inside
// Inspector.look, and do not use the result afterwards.
func valueNow(w *vast.World, col vast.AnyColumn, storage probe.Storage, t reflect.Type, e vast.Entity) (
	v reflect.Value, ok bool) {
	if storage != probe.StorageDense || t.Size() == 0 {
		if t.Size() > maxComponent {
			return v, false
		}
		return probe.Value(col, e)
	}
	if !has(w, col, e) {
		return v, false
	}
	for run := range probe.All(w.Query(col)).Between(int(e.Slot()), int(e.Slot())+1).Runs() {
		if b := probe.Bytes(col, run); len(b) == int(t.Size()) {
			// Sound because the bytes are one element of the column, which has this type.
			return reflect.NewAt(t, unsafe.Pointer(unsafe.SliceData(b))).Elem(), true
		}
	}
	return v, false
}

// tooManyBytes returns the text that the page shows for a component that is too large to read.
func tooManyBytes(bytes int) string { return strconv.Itoa(bytes) + " bytes are too many to show" }
