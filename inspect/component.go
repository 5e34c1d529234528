package inspect

import (
	"reflect"
	"strconv"
	"unsafe"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/inspect/internal/query"
	"github.com/vastgo/vast/probe"
)

// componentMost is the size of the largest component that is copied while the world stands still, in bytes.
const componentMost = query.CopyMost

// has reports whether a living entity has a component. It is called while the world lets the inspector look.
func has(w *vast.World, col vast.AnyColumn, e vast.Entity) bool {
	return w.Alive(e) && probe.Presence(w, col, int(e.Slot()/64))>>(e.Slot()%64)&1 != 0
}

// valueNow returns e's component, to be read until the world goes on: where it lies in dense storage, else a
// copy. There is none where e has no such component, and where its copy would be too large. It is called
// while the world lets the inspector look.
func valueNow(w *vast.World, col vast.AnyColumn, storage probe.Storage, t reflect.Type, e vast.Entity) (
	v reflect.Value, ok bool) {
	if storage != probe.StorageDense || t.Size() == 0 {
		if t.Size() > componentMost {
			return v, false
		}
		return probe.Value(col, e)
	}
	if !has(w, col, e) {
		return v, false
	}
	for run := range w.Query(col).Between(int(e.Slot()), int(e.Slot())+1).Runs() {
		if b := probe.Bytes(col, run); len(b) == int(t.Size()) {
			// Sound because the bytes are one element of the column, which has this type.
			return reflect.NewAt(t, unsafe.Pointer(unsafe.SliceData(b))).Elem(), true
		}
	}
	return v, false
}

// tooManyBytes stands in place of a component that is not read.
func tooManyBytes(bytes int) string { return strconv.Itoa(bytes) + " bytes are too many to be shown" }
