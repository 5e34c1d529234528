package metamorphic

import (
	"fmt"
	"math/rand/v2"
)

// Verb is what an operation does.
type Verb uint8

// The verbs. A and B choose entities or other things, V is a value.
const (
	New       Verb = iota // an entity of archetype B with value V
	NewMany               // up to 100 entities of archetype B
	Delete                // entity A
	DeleteAll             // what has the tag, or by B what has none
	Add                   // V to column B of entity A
	Set                   // V in column B of entity A
	Remove                // column B from entity A
	Tag                   // or by V untag, entity A
	Link                  // entity A to B in the hierarchy, or by V in the relation that may have circles
	Unlink                // entity A
	Connect               // entity A to B, with V
	Cut                   // the edge from A to B
	AddAll                // V to column B of what query A matches
	SetAll                // V in column B of what query A matches
	RemoveAll             // column B of what query A matches
	Exchange              // the tag for column B in what query A matches
	Record                // commands: up to 16 changes that V seeds
	Tick                  // a schedule, 1 to 3 times
	Ask                   // queries, and whatever can be asked for
	Empty                 // the world, in the way of the configuration
	verbs
)

var verbNames = [verbs]string{"New", "NewMany", "Delete", "DeleteAll", "Add", "Set", "Remove", "Tag", "Link", "Unlink", "Connect", "Cut",
	"AddAll", "SetAll", "RemoveAll", "Exchange", "Record", "Tick", "Ask", "Empty"}

// String returns the verb's name.
func (v Verb) String() string {
	if v >= verbs {
		return fmt.Sprintf("Verb(%d)", uint8(v))
	}
	return verbNames[v]
}

// Op is one operation.
type Op struct {
	Do      Verb
	A, B, V uint16
}

// Random returns a stream of n operations. Making, adding and linking are more frequent than emptying.
func Random(r *rand.Rand, n int) []Op {
	ops := make([]Op, n)
	for i := range ops {
		do := Verb(r.IntN(int(verbs)))
		if rare := do == Empty || do == DeleteAll || do == NewMany; rare && r.IntN(4) > 0 {
			do = []Verb{New, Add, Link, Connect, Tag}[r.IntN(5)]
		}
		ops[i] = Op{do, uint16(r.IntN(1 << 10)), uint16(r.IntN(1 << 10)), uint16(r.IntN(1 << 10))}
	}
	return ops
}

// Decode makes operations of bytes, seven each, for a fuzzer.
func Decode(data []byte) (ops []Op) {
	for ; len(data) >= 7; data = data[7:] {
		word := func(i int) uint16 { return uint16(data[i]) | uint16(data[i+1])<<8 }
		ops = append(ops, Op{Verb(data[0]) % verbs, word(1), word(3), word(5)})
	}
	return ops
}
