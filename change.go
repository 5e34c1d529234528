package vast

import "fmt"

// operation is a kind of structural change.
type operation uint8

const (
	opNone operation = iota
	opNew
	opNewN
	opAdd
	opRemove
	opAddAll
	opRemoveAll
	opExchange
	opRelate
	opUnrelate
	opAddEdge
	opRemoveEdge
	opAddTag
	opRemoveTag
	opDelete
	opDeleteAll
	opClose
	opApply
	opTrack
	opUntrack
	opReset
	opName
	opRemoveName
	opPack
	opRegroup
	opRestore
)

var operationNames = [...]string{
	opNone: "nothing", opNew: "Archetype.New", opNewN: "Archetype.NewN",
	opAdd: "Column.Add", opRemove: "Column.Remove",
	opAddAll: "Column.AddAll", opRemoveAll: "Column.RemoveAll", opExchange: "World.Exchange",
	opRelate: "Relation.Set", opUnrelate: "Relation.Remove",
	opAddEdge: "Edges.Add", opRemoveEdge: "Edges.Remove",
	opAddTag: "Tag.Add", opRemoveTag: "Tag.Remove",
	opDelete: "World.Delete", opDeleteAll: "World.DeleteAll", opClose: "World.Close",
	opApply: "World.Apply",
	opTrack: "NewTracker", opUntrack: "Tracker.Close",
	opReset: "World.Reset",
	opName:  "Names.Set", opRemoveName: "Names.Remove",
	opPack: "Archetype.Pack", opRegroup: "World.Regroup",
	opRestore: "store.Load",
}

// callback is a user's function that an operation is calling. The function must make no structural change,
// because the operation made room before the call, and relies on this room.
type callback struct {
	what string  // empty while no callback is running
	of   *column // the column of a hook
}

// fill is the callback of Archetype.NewN.
var fill = callback{what: "Archetype.NewN was filling new entities"}

// moved is the callback of World.OnMove.
var moved = callback{what: "a callback of World.OnMove was running"}

func (b callback) String() string {
	if b.of != nil {
		return fmt.Sprintf("%s of column %s was running", b.what, b.of.name)
	}
	return b.what
}

// mustNotBeInCallback panics if a callback of one operation calls another operation, op. Operations call it
// before their first change, so that nothing is half done. The short paths of New and Delete, for changes
// that no hook, store or tracker watches, do not call it. In this case the operation that runs the callback
// finds the change after the callback has returned, and panics.
func (w *World) mustNotBeInCallback(op operation) {
	if w.calling.what != "" {
		w.refuse(op)
	}
}

//go:noinline
func (w *World) refuse(op operation) {
	w.last = op
	w.changedWhile(w.calling.String())
}

// mustRunAlone panics if a callback is running. what is the name of the method that calls mustRunAlone. The
// method must not run inside an operation, even if it makes no structural change: World.Trim and
// World.Require would release room that the operation made, Tracker.Next would discard notes, and a world
// that is saved in a callback would be half changed.
func (w *World) mustRunAlone(what string) {
	if w.calling.what != "" {
		panic(fmt.Sprintf("vast: %s was called while %s: call it after that operation has ended", what,
			w.calling))
	}
}

// changed counts n structural changes. Queries compare the count at every step. Comparing costs less than a
// lock, and needs no unlock when a loop ends early.
func (w *World) changed(op operation, n int) {
	w.changes += uint64(n)
	w.last = op
}

// changedWhile panics because the structure changed during an operation that needs it unchanged.
//
//go:noinline
func (w *World) changedWhile(doing string) {
	panic(fmt.Sprintf("vast: the structure of world %q changed while %s, by %s: record structural "+
		"changes in Commands and apply them after the loop or callback, or replace the loop by "+
		"World.DeleteAll, Column.AddAll, Column.RemoveAll or World.Exchange; writing values is not a "+
		"structural change",
		w.options.Name, doing, operationNames[w.last]))
}
