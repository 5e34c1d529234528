// Package clone copies entities together with their descendants, copies entities into another world, and
// merges worlds.
//
// [vast.World.Clone] copies one entity within its world. This package goes further:
//
//   - A [Cloner] copies subtrees: an entity and all its descendants in hierarchies. Make it with [New].
//     [Cloner.Clone] makes one copy. [Cloner.CloneN] makes many copies and returns [Copies], which finds the
//     copy of each original.
//   - A Cloner for two worlds copies from one world into the other, for example from a world of patterns.
//   - [Merge] moves all entities of a world into another world, for example a level that was made in a world
//     of its own while the game ran.
//
// # Terminology
//
//   - original: an entity that is copied
//   - root: the original that the program gives to [Cloner.Clone] or [Cloner.CloneN]
//   - hierarchy: a [vast.Relation] without circles
//   - reference: a [vast.Entity] inside of a component or inside of the value of an edge
//   - counterpart: the column of the target world that gets the components of a column
//
// # Copies
//
// A copy has all components of its original and exactly those: [vast.World.Require] adds nothing. Copies of
// originals with equal columns lie side by side. A copy has no name. Merge moves the names, too.
//
// Links, edges and references between originals become links, edges and references between their copies.
// Within one world, a copy keeps all other links, edges and references that lead out of its original: the
// copy of a root has the target of the root. Links and edges from other entities to an original are not
// copied. In another world, a link, an edge or a reference to a living entity that is no original is an
// error, and a stale reference becomes zero. The sources of each target that is an original keep their order.
// In [vast.Edges] the targets of each source do, too.
//
// The components of a [vast.HeapColumn] are copied as Go assigns them, so original and copy share the memory
// behind slices, maps and pointers, with one exception: a slice, a map or a pointer that leads to references
// is copied together with the memory that it leads to. A map entry whose key refers to a stale entity is left
// out in another world. References in interfaces, channels and functions stay unchanged.
//
// # Costs
//
// Components of a [vast.Column] are copied in runs of entities in adjoining slots. [Cloner.CloneN] repeats
// the copied bytes for further copies. Within one world, components of package shared are copied in the same
// way. Components in other storages, and components with references, take one step each. A link takes a few
// writes.
//
// # Rules
//
// All functions change the structure of the target world: the rules of [vast.World] hold, as for
// [vast.Archetype.NewN]. Callbacks of OnAdd run when all copies have their components. The links come after
// these callbacks, and callbacks of relations run after their links. If a callback panics, the copies are
// deleted. Trackers note the additions. On an error nothing has changed.
package clone
