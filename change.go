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
	opDelete
	opDeleteAll
	opClose
	opHook
	opApply
	opTrack
	opUntrack
	opReset
)

var operationNames = [...]string{
	opNone: "nothing", opNew: "Archetype.New", opNewN: "Archetype.NewN", opAdd: "Column.Add", opRemove: "Column.Remove",
	opAddAll: "Column.AddAll", opRemoveAll: "Column.RemoveAll", opExchange: "World.Exchange",
	opRelate: "Relation.Set",
	opDelete: "World.Delete", opDeleteAll: "World.DeleteAll", opClose: "World.Close", opHook: "what it called",
	opApply: "World.Apply",
	opTrack: "World.Track", opUntrack: "Tracker.Close",
	opReset: "World.Reset",
}

// changed counts n structural changes. Queries compare the count at every step, which costs them less than a lock would
// and needs no unlocking when a loop is left early.
func (w *World) changed(op operation, n int) {
	w.changes += uint64(n)
	w.last = op
}

// changedWhile panics because the structure changed during something that needs it unchanged.
//
//go:noinline
func (w *World) changedWhile(doing string) {
	panic(fmt.Sprintf("vast: the structure of world %q changed while %s, by %s. Values may be changed there; record "+
		"what to make, delete, add or remove in Commands and apply them after the loop, or use World.DeleteAll, Column.AddAll, "+
		"Column.RemoveAll or World.Exchange.",
		w.options.Name, doing, operationNames[w.last]))
}
