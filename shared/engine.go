package shared

import (
	"reflect"
	"unsafe"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/sharing"
)

// engine holds the methods of package vast that this package calls.
var engine = sharing.Vast.(interface {
	NewColumn(w *vast.World, typ reflect.Type, numbers sharing.Numbers) (vast.Column[uint32], *sharing.Table)
	Cells(col vast.AnyColumn) sharing.Cells
	Tracked(col vast.AnyColumn) bool
	Record(cs *vast.Commands, col vast.AnyColumn, add bool, e vast.Entity, bytes uintptr) unsafe.Pointer
	Where(method string, q vast.Query, col vast.AnyColumn, m sharing.Matcher) vast.Query
	WorldOf(method string, q vast.Query, col vast.AnyColumn) *vast.World
	RunOf(w *vast.World, p sharing.Piece) vast.Run
	PanicChanged(w *vast.World, doing string)
})
