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
	opClone
	opKeep
	opUnkeep
	opCloneN
	opCopy
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
	opKeep:    "group.New", opUnkeep: "Group.Close",
	opClone: "World.Clone", opCloneN: "World.CloneN", opCopy: "a copy of package clone",
}

// callback describes a user's function that an operation calls. The function must not change the structure,
// because the operation has not ended. For example, the operation may rely on room that it has made.
type callback struct {
	what   string  // empty while no callback is running
	column *column // column of the hook, nil for other callbacks
}

var fillBirths = callback{what: "Archetype.NewN was filling new entities"}

var moved = callback{what: "a callback of World.OnMove was running"}

func (b callback) String() string {
	if b.column != nil {
		return fmt.Sprintf("%s of column %s was running", b.what, b.column.name)
	}
	return b.what
}

// mustNotBeInCallback panics if a callback is running. Operations call it before their first change, so that
// nothing is half done. New does not call it in archetypes without hooks, stores and trackers, and Delete
// does not call it in worlds without them. In these cases the operation that runs the callback panics after
// the callback has returned.
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

// mustRunAlone panics if a callback is running. method is the name of the caller. Not all callers make
// structural changes, but none may run inside an operation. For example, World.Trim and World.Require would
// release room that the operation made, Tracker.Next would discard notes, and a saved world would be half
// changed.
func (w *World) mustRunAlone(method string) {
	if w.calling.what != "" {
		panic(fmt.Sprintf("vast: %s was called while %s: call it after that operation has ended", method,
			w.calling))
	}
}

// changed counts n structural changes. Queries compare the count at every step. A comparison costs less than
// a lock, and a loop that ends early has nothing to unlock.
func (w *World) changed(op operation, n int) {
	w.changes += uint64(n)
	w.last = op
}

// changedWhile panics because the operation w.last changes the structure during a loop or another operation.
// doing describes this loop or operation.
//
//go:noinline
func (w *World) changedWhile(doing string) {
	panic(fmt.Sprintf("vast: the structure of world %q changed while %s, by %s: record structural "+
		"changes in Commands and apply them after the loop or callback, or replace the loop by "+
		"World.DeleteAll, Column.AddAll, Column.RemoveAll or World.Exchange; writing values is not a "+
		"structural change",
		w.options.Name, doing, operationNames[w.last]))
}
