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
	LinkAll               // what query A matches to entity B, in the relation that may have circles
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

var verbNames = [verbs]string{"New", "NewMany", "Delete", "DeleteAll", "Add", "Set", "Remove", "Tag", "Link", "Unlink", "LinkAll", "Connect", "Cut",
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

// weights say how frequent the verbs are in a random stream: so that a world fills with components and links before it is emptied.
var weights = [verbs]int{New: 20, NewMany: 6, Delete: 6, DeleteAll: 1, Add: 40, Set: 10, Remove: 6, Tag: 12, Link: 60, Unlink: 5, LinkAll: 3,
	Connect: 50, Cut: 6, AddAll: 8, SetAll: 4, RemoveAll: 2, Exchange: 2, Record: 20, Tick: 10, Ask: 20, Empty: 1}

// Random returns a stream of n operations.
func Random(r *rand.Rand, n int) []Op {
	total := 0
	for _, w := range weights {
		total += w
	}
	ops := make([]Op, n)
	for i := range ops {
		do, at := Verb(0), r.IntN(total)
		for ; at >= weights[do]; do++ {
			at -= weights[do]
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
