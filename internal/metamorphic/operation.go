package metamorphic

import (
	"fmt"
	"math/rand/v2"
)

// Verb is the kind of an operation.
type Verb uint8

// The verbs. A, B and V are the fields of the Op. Each selects an entity, a column, a query and so on.
const (
	New         Verb = iota // make an entity with archetype B
	NewMany                 // make 0 to 99 entities with archetype B: A decides how many
	Delete                  // delete entity A
	DeleteAll               // delete the entities with the tag, or those with column 1 and no tag: B decides
	Add                     // add column B with the value V to entity A
	Set                     // set column B of entity A to V
	Remove                  // remove column B from entity A
	Tag                     // add the tag to entity A or remove it: V decides
	Link                    // link entity A to entity B in the hierarchy or in the cyclic relation: V decides
	Unlink                  // remove the links of entity A in the hierarchy and in the cyclic relation
	LinkAll                 // link the entities of query A to entity B in the cyclic relation
	Connect                 // add an edge with the value V from entity A to entity B
	Cut                     // remove the edge from entity A to entity B
	AddAll                  // add column B with the value V to the entities of query A
	SetAll                  // set column B of the entities of query A to V
	RemoveAll               // remove column B from the entities of query A
	Exchange                // add the tag to the entities of query A and remove column B from them
	Record                  // record and apply 1 to 16 commands: A decides how many, and V is the seed
	Tick                    // run the schedule 1 to 3 times: A decides how often
	Ask                     // evaluate query A, and read depths and the links of entity B
	Empty                   // empty the world in the way of the configuration
	Clone                   // copy entity A
	CloneMany               // copy entity A up to 19 times: B decides how often
	CloneTree               // copy entity A and its descendants once or twice: B decides how often
	Toggle                  // disable or enable entity A, the entities of query B, or components: V decides
	Classify                // change the shared value of entity A or query B, or replace value B: V decides
	Mark                    // make entity A and its descendants a template
	Instantiate             // make 0 to 3 instances of template A: B decides how many
	Override                // make a variant of template A
	Apply                   // change node B of template A as V says, and apply the template
	Revert                  // revert entity V of instance B of template A to the template
	verbs
)

var verbNames = [verbs]string{"New", "NewMany", "Delete", "DeleteAll", "Add", "Set", "Remove", "Tag", "Link",
	"Unlink", "LinkAll", "Connect", "Cut",
	"AddAll", "SetAll", "RemoveAll", "Exchange", "Record", "Tick", "Ask", "Empty", "Clone", "CloneMany",
	"CloneTree", "Toggle", "Classify", "Mark", "Instantiate", "Override", "Apply", "Revert"}

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
	Record: 20, Tick: 10, Ask: 20, Empty: 1, Clone: 8, CloneMany: 3, CloneTree: 6,
	Toggle: 20, Classify: 20, Mark: 6, Instantiate: 8, Override: 2, Apply: 20, Revert: 8}

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
		ops[i] = Op{do, uint16(r.IntN(1 << 11)), uint16(r.IntN(1 << 11)), uint16(r.IntN(1 << 11))}
	}
	return ops
}

// Decode decodes operations from the data of a fuzzer, one from each seven bytes.
func Decode(data []byte) (ops []Op) {
	for ; len(data) >= 7; data = data[7:] {
		word := func(i int) uint16 { return uint16(data[i]) | uint16(data[i+1])<<8 }
		ops = append(ops, Op{Verb(data[0]) % verbs, word(1), word(3), word(5)})
	}
	return ops
}
