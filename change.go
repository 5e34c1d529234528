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

// operations describes the kinds of structural changes. The field name says what makes the change, usually a
// method. The field later is the method that records the change in Commands. The field all is the method that
// makes the change for all entities of a query. The fields later and all are empty if no such method exists.
var operations = [...]struct{ name, later, all string }{
	opNone:       {name: "nothing"},
	opNew:        {name: "Archetype.New", later: "Commands.New"},
	opNewN:       {name: "Archetype.NewN", later: "Commands.New"},
	opAdd:        {name: "Column.Add", later: "Column.AddLater", all: "Column.AddAll"},
	opRemove:     {name: "Column.Remove", later: "Column.RemoveLater", all: "Column.RemoveAll"},
	opAddAll:     {name: "Column.AddAll"},
	opRemoveAll:  {name: "Column.RemoveAll"},
	opExchange:   {name: "World.Exchange"},
	opRelate:     {name: "Relation.Set", later: "Relation.SetLater", all: "Relation.SetAll"},
	opUnrelate:   {name: "Relation.Remove", later: "Relation.RemoveLater", all: "Relation.RemoveAll"},
	opAddEdge:    {name: "Edges.Add", later: "Edges.AddLater"},
	opRemoveEdge: {name: "Edges.Remove", later: "Edges.RemoveLater"},
	opAddTag:     {name: "Tag.Add", later: "Tag.AddLater", all: "Tag.AddAll"},
	opRemoveTag:  {name: "Tag.Remove", later: "Tag.RemoveLater", all: "Tag.RemoveAll"},
	opDelete:     {name: "World.Delete", later: "Commands.Delete", all: "World.DeleteAll"},
	opDeleteAll:  {name: "World.DeleteAll"},
	opClose:      {name: "World.Close"},
	opApply:      {name: "World.Apply"},
	opTrack:      {name: "NewTracker"},
	opUntrack:    {name: "Tracker.Close"},
	opReset:      {name: "World.Reset"},
	opName:       {name: "Names.Set", later: "Names.SetLater"},
	opRemoveName: {name: "Names.Remove", later: "Names.SetLater"},
	opPack:       {name: "Archetype.Pack"},
	opRegroup:    {name: "World.Regroup"},
	opRestore:    {name: "store.Load"},
	opKeep:       {name: "group.New"},
	opUnkeep:     {name: "Group.Close"},
	opClone:      {name: "World.Clone"},
	opCloneN:     {name: "World.CloneN"},
	opCopy:       {name: "a copy of package clone"},
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
// nothing is half done. Two fast paths omit this call: New in an archetype without observed columns, and
// Delete in a world without observed columns (see World.observe). In these cases the operation that runs the
// callback panics after the callback has returned.
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
	op := operations[w.last]
	remedy := "call it after the loop or callback"
	switch {
	case doing == fillBirths.what && w.last == opRelate:
		remedy = "collect the runs that NewN passes to its callback, and call Relation.SetRun with them " +
			"after NewN"
	case op.later != "":
		remedy = fmt.Sprintf("record it with %s, and apply the Commands after the loop or callback", op.later)
		if op.all != "" {
			remedy += ", or replace the loop by " + op.all
		}
	}
	panic(fmt.Sprintf("vast: the structure of world %q changed while %s, by %s: %s; writing values is not a "+
		"structural change", w.options.Name, doing, op.name, remedy))
}
