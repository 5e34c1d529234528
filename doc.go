// Package vast holds worlds of entities and their components in memory outside the Go heap. This memory never
// moves, and the garbage collector does not scan it.
//
// # Types
//
//   - [World] holds entities. [Entity] is a weak reference to an entity, by slot and generation.
//   - [Column] stores one component. An entity has the same index in every column: its slot. [Tag] is a
//     component without a value, [SparseColumn] is for components that are rare or large, and [HeapColumn] is
//     for components with Go pointers. [Disabled] is a tag that switches entities or components off.
//   - [Relation] links each source to one target, such as a part to its whole. [Edges] link a source to any
//     number of targets, with a value for each link.
//   - [Archetype] is a set of columns that entities are born with. An archetype makes its entities side by
//     side in memory.
//   - [Query] selects entities by the components that they have or lack. It can also select by a list, by the
//     target of a link, or by changes. It yields slots, runs, references or batches. [Column.At] finds a
//     component by a [Slot]. [Column.Slice] returns the components of a [Run], which is a range of
//     consecutive slots. A [Batch] is the part of a query for one worker. Bulk methods, such as
//     [World.DeleteAll], take a Query.
//   - [Order] yields the entities of a query in the order of a key.
//   - [Commands] record structural changes while queries run. [World.Apply] makes the changes later.
//   - [Tracker] notes the entities for which a component of its columns was added, removed or written since
//     the last [Tracker.Next]. A hook, such as a callback of [Column.OnAdd], runs during the change.
//   - [Names] finds entities by name. [World.Sprint] describes an entity as text.
//   - [World.Visit] lets other goroutines read a world whenever the world's owner calls [World.Admit].
//
// Package sched runs systems over a world, in parallel. Package observe reports which entities entered or
// left a query. Package inspect shows a running world in a browser. Package probe lets tools look into any
// world without knowing the types of its components.
//
// # Terminology
//
//   - slot: a place for one entity; its number is the entity's index in every column
//   - generation: a number of a slot that grows with each use of the slot; an Entity carries the generation
//     that its slot had at the entity's birth
//   - stale: an Entity is stale if its entity was deleted or moved, or never belonged to this world
//   - presence bits: one bit for each slot, set if the slot's entity has a component
//   - word: 64 slots, whose presence bits are one uint64
//   - extent: consecutive words that one archetype owns
//   - run: a range of consecutive slots whose entities all match a query, or are all new
//   - structural change: making or deleting an entity, adding or removing a component, making or removing a
//     link; writing a component's value is not a structural change
//   - owner: the goroutine that changes a world's structure
//   - source, target: the two ends of a link; the source has the [Relation] or the [Edges]
//   - depth: how many ancestors an entity has in a relation
//   - position: a number that orders commands for [World.Apply]; commands of equal position in one [Commands]
//     stay in the order of recording
//   - placeholder: the Entity that [Commands.New] returns; [Commands.Resolve] finds the real entity after
//     Apply
//   - mark: a tracker's note that a component was written; Set, Edit, EditAt and EditRun leave a mark, Get,
//     At and Slice do not
//
// # Costs
//
// An entity's slot is the index of its component in the column. A look-up tests the generation and one bit.
// Adding a component writes its value and sets one bit. Removing a component clears the bit. No component
// moves. A query combines 64 presence bits at a time. It accepts 4,096 slots in one step if all of them
// match. It skips 4,096 or 262,144 slots in one step if none of their entities has a component that the query
// requires. Links are indices in columns: linking takes a few writes, and walking over the sources of a
// target takes one step for each source. Recording a command writes a few machine words off the Go heap.
// Hooks, trackers and groups cost a world without them one test for each change. A world commits memory when
// it first needs the memory, and [World.Trim] gives back memory that no entity needs.
//
// # Lifetimes
//
// A pointer or slice from a column is valid while the entity has the component and does not move. Only
// [Archetype.Pack] and [World.Regroup] move entities. An invalid pointer may point to another entity's
// component. Do not use pointers and slices after [World.Close]: the memory is gone, and a program that
// touches it usually faults. A world that is dropped without Close keeps its memory, and package vm reports
// the leak.
//
// # Errors
//
// A caller's mistake panics with a message that says how to mend it: a component type with Go pointers, a
// column of another world, a structural change inside a query, a circle in a hierarchy, a closed world.
// Running out of slots, memory or addresses is an error of type *vm.Error. The Grow methods and [World.Apply]
// return this error, and additions that Grow made room for cannot fail. Methods without an error result panic
// with this error and change nothing. A name that is taken is an error of type [*NameTaken]. A stale entity
// is not an error: look-ups return nil or false, and bulk methods and commands skip it.
package vast
