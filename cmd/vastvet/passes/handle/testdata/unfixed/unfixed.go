// Package unfixed compares handles and entities in ways that have no automatic fix.
package unfixed

import "github.com/vastgo/vast"

// named has more fields, so a fix cannot compare it as a whole. It is an alias, because a type that this
// module declares counts as a type of Vast.
type named = struct {
	vast.Entity
	tags []string
}

func wrongEmbedded(a, b named) bool {
	return a.Slot() == b.Slot() // want `a and b are compared by slot only, and slots are reused: compare the values that they embed with ==`
}

func wrongConverted(a, b vast.Entity) bool {
	return int(a.Slot()) == int(b.Slot()) // want `a and b are compared by slot only`
}

func wrongByVariables(a, b vast.Entity, list []vast.Entity) int {
	sa, sb := a.Slot(), b.Slot()
	if sa == sb { // want `a and b are compared by slot only`
		return -1
	}
	slot := int(a.Slot())
	for i, e := range list {
		if int(e.Slot()) == slot { // want `e and a are compared by slot only`
			return i
		}
	}
	return 0
}
