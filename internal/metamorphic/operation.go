package metamorphic

import (
	"fmt"
	"math/rand/v2"
)

// Verb is the kind of an operation.
type Verb uint8

// The verbs. Each comment says what the numbers A, B and V of an Op select.
const (
	New       Verb = iota // an entity of archetype B
	NewMany               // up to 99 entities of archetype B
	Delete                // entity A
	DeleteAll             // the entities with the tag, or those with column b and no tag, depending on B
	Add                   // V to column B of entity A
	Set                   // V in column B of entity A
	Remove                // column B from entity A
	Tag                   // add the tag to entity A or remove it, depending on V
	Link                  // entity A to B, in the hierarchy or the relation with cycles, depending on V
	Unlink                // entity A, in both relations
	LinkAll               // the entities of query A to entity B, in the relation that may have cycles
	Connect               // entity A to B, with V
	Cut                   // the edge from A to B
	AddAll                // V to column B of the entities of query A
	SetAll                // V in column B of the entities of query A
	RemoveAll             // column B from the entities of query A
	Exchange              // add the tag to the entities of query A and remove column B
	Record                // record and apply up to 16 commands, which the seed V determines
	Tick                  // run the schedule 1 to 3 times
	Ask                   // evaluate query A, and read depths and links
	Empty                 // empty the world in the way of the configuration
	verbs
)

var verbNames = [verbs]string{"New", "NewMany", "Delete", "DeleteAll", "Add", "Set", "Remove", "Tag", "Link",
	"Unlink", "LinkAll", "Connect", "Cut",
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

// weights are the frequencies of the verbs in a random stream. They let a world fill with components and
// links before it is emptied.
var weights = [verbs]int{New: 20, NewMany: 6, Delete: 6, DeleteAll: 1, Add: 40, Set: 10, Remove: 6, Tag: 12,
	Link: 60, Unlink: 5, LinkAll: 3, Connect: 50, Cut: 6, AddAll: 8, SetAll: 4, RemoveAll: 2, Exchange: 2,
	Record: 20, Tick: 10, Ask: 20, Empty: 1}

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

// Decode decodes operations for a fuzzer, each from seven bytes.
func Decode(data []byte) (ops []Op) {
	for ; len(data) >= 7; data = data[7:] {
		word := func(i int) uint16 { return uint16(data[i]) | uint16(data[i+1])<<8 }
		ops = append(ops, Op{Verb(data[0]) % verbs, word(1), word(3), word(5)})
	}
	return ops
}
