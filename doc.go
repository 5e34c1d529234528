// Package vast holds worlds of entities and their components in memory that never moves and that the garbage collector
// does not look at.
//
// # Types
//
//   - [World] holds entities; [Entity] refers to one, weakly, by slot and generation.
//   - [Column] is the storage of one component. Every entity has the same index in every column: its slot.
//     [Tag] has no value, [SparseColumn] is for components that are rare or large, [HeapColumn] for those with Go pointers.
//   - [Relation] links each entity to one target, such as a part to its whole, and [Edges] to any number, with data.
//   - [Archetype] is a set of columns that entities are born with; it makes them, side by side in memory.
//   - [Query] chooses entities by what they have, lack, have one of, may have, or have and nothing else, and by list,
//     target or change. It yields each [Run] of consecutive slots, whose components are ordinary slices, or one [Entity]
//     after the other, or parts for workers, each a [Batch]. The bulk verbs, such as [World.DeleteAll], take one.
//   - [Order] yields the entities of a query in the order of a key.
//   - [Commands] are structural changes that are recorded while queries run, and made afterwards by [World.Apply].
//   - [Tracker] notes who gained or lost some components, or had them written, since it last looked. Hooks, such as
//     [Column.OnAdd], are told at once.
//   - [Names] finds entities by name; [World.Sprint] shows an entity.
//   - [World.Visit] lets other goroutines look at a world, when its own one says so by [World.Admit].
//
// Package sched runs systems over a world, in parallel. Package inspect shows a running world in a browser. Package probe
// lets other tools look into any world without the types of its components.
//
// # Terminology
//
//   - slot: a place for one entity; its number is the entity's index in every column
//   - generation: how often a slot was used; an Entity carries the one it was made with
//   - stale: of an Entity, that it is deleted, or was never of this world
//   - presence bits: one bit a slot, saying that the slot's entity has a component
//   - word: 64 slots, whose presence bits are one machine word
//   - extent: a run of words that one archetype owns
//   - run: a maximal range of consecutive slots that all match a query
//   - structural change: making or deleting an entity, adding or removing a component, making or ending a link; writing a
//     component's value is none
//   - source, target: the two ends of a link; the source is the one that has the [Relation] or the [Edges]
//   - depth: how many ancestors an entity has in a relation
//   - position: what commands go by when they are applied, before the order of their recording
//   - placeholder: what [Commands.New] returns until the entity is made
//   - mark: a note for trackers that a component was written; Set, Edit and EditRun leave one, Get and Slice do not
//
// # Costs
//
// A component of an entity lies at the column's base + slot × size. Looking one up is a test of the generation and of one
// bit; adding and removing one is a write and one bit, and moves nothing; a query combines 64 presence bits at a time and
// passes 4,096 or 262,144 slots at once where all or none match. Links are indices in columns: linking is a few writes, and
// the sources of a target cost one step each, whatever else there is. A command is recorded in a few words off the Go heap.
// What is not used is not paid for: without hooks and trackers a change costs one test more. Memory is taken when it is
// first touched, and given back by [World.Trim].
//
// # Lifetimes
//
// Pointers and slices that a column hands out stay valid while the entity has the component; they never move. After that
// they may see another entity's component. After [World.Close] they must not be used: the memory is gone, and a program
// that touches it faults. A world that is dropped without Close keeps its memory, and package vm reports it.
//
// # Errors
//
// What a caller does wrong (a component type with Go pointers, a column of another world, a structural change inside a
// query, a circle in a hierarchy, a closed world) panics with a message that says how to mend it. Running out of slots,
// memory or addresses is an error of type *vm.Error: the Grow methods and [World.Apply] return it, and what Grow made room
// for cannot fail; the short forms panic with it, and then nothing has changed. A name that is taken is a [*NameTaken]. A
// stale entity is none of these: look-ups return nil or false, bulk verbs and commands pass over it.
package vast
