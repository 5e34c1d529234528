// Package shared holds components of which many entities have equal values: materials, species, teams, the
// data of a prefab. A [Column] keeps each distinct value once, and 4 bytes for each entity. Databases call
// this dictionary encoding.
//
//	materials := shared.New[Material](w)
//	materials.Add(hull, steel)
//	for s := range materials.Where(w.Query(position), steel).Slots() {
//		…
//	}
//
// # Types
//
//   - [Column] is a column of the world, like a [vast.Column]: archetypes, queries, commands, hooks and
//     trackers take it. An entity that is born with the component has the zero value.
//   - [Column.Where] adds a value to the conditions of a [vast.Query]. Every operation on queries works with
//     the result, such as [vast.World.DeleteAll].
//   - [Column.GroupBy] and [GroupByTarget] yield the entities of a query in groups: by value, or by the
//     target of a relation.
//   - [Column.Replace] changes a value for all entities that have it, in most cases with one write.
//   - [Column.Values] yields the values, and how many entities have each of them.
//
// # Which column
//
// Take a Column of this package if values have more than 4 bytes and repeat, or if the program searches for
// entities by value. Take a [vast.Column] if most entities have values of their own, or if systems change
// values in place. Take a [vast.Relation] if the value is an entity that has a life of its own, or if a value
// belongs to few of many entities: a query by target visits only these, and [Column.Where] tests all.
//
// # Memory
//
// Values lie in memory outside the Go heap, and a Go map finds their numbers. The map holds each value a
// second time; the garbage collector does not scan the values. A value that no entity has stays in memory
// until the column has got many new values, or until [vast.World.Trim]. The column then counts the entities
// of all values, and forgets the values without entities. The next count comes when the new values take as
// much memory as the largest of these: the values in use at the last count, 4 bytes for each slot, 64 values.
//
// # Tools
//
// Package store saves the numbers and the values. If a field is removed from the type, values that become
// equal are merged. In JSON documents, in parcels, in package inspect and in SQL, each entity has its value.
// If a tool writes the value of an entity, the other entities keep theirs.
package shared
