// Package probe lets a tool read and edit any world of package vast without the types of its components. The
// package is for inspectors, debuggers, editors and exporters. A program that knows its columns does not need
// this package.
//
// # Functions and types
//
//   - [Columns] lists the columns of a world. [Describe] gives a column's name, element type, [Storage] and
//     [Layout]. [StatsOf] counts its entities and bytes.
//   - [All] returns a query that also finds entities and components that a [vast.Disabled] switches off.
//   - [ComponentsOf] lists the columns in which an entity has a component. [Value] returns the component as a
//     reflect.Value; [SetValue], [AddValue] and [RemoveValue] change it. [Bytes] returns the components of a
//     run.
//   - [NewColumn] makes a column whose type is known only at run time. [TypeOf] makes a type from a [Layout].
//   - [RelationOf] and [EdgesOf] find the relation or the edges that a column belongs to. [AnyEdges] reads
//     edges without the type of their values. [NamesOf] finds the names of a world.
//   - [Archetypes] lists the archetypes, and [Extents] the slots that each archetype owns. [EntityAt],
//     [Occupied], [Presence] and [Uses] return the state of slots.
//   - [Reservations] lists the address space that a world has reserved. [Areas] lists the arrays in it: an
//     [Area] converts between slots and addresses.
//
// # Rules
//
// These functions follow the rules of [vast.World] about goroutines: functions that read may run at the same
// time as other readers, and functions that write must run alone. A goroutine that does not own the world
// calls these functions in [vast.World.Visit]. The methods of [Reservation] except [Reservation.Look] may run
// at any time. AddValue and RemoveValue change the structure of the world.
//
// A closed world has no areas, extents, entities or components. Describe works for its columns.
//
// A mistake of the caller, such as a column that was never made or a value of the wrong type, panics with a
// message that says how to correct the mistake. A stale entity has no components.
package probe
