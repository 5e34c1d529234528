// Package group keeps the matches of a query as bits, so that loops over the query need not test its
// conditions.
//
//	moving := group.New(w.Query(position, velocity, mass).Without(frozen))
//	for run := range moving.Query().Runs() {
//		…
//	}
//
// # When a group pays
//
// Each loop over a query reads the presence bits of all columns that the query names, 64 slots at a time. A
// loop over a group reads one word of bits in their place. Take a group if the query names many columns and
// few entities match, or if it has a condition of shared.Column.Where, which compares the values of all
// entities. A query of two columns gains nothing. The benchmarks of this package compare both.
//
// # Costs
//
// When an entity gains or loses a component in a column of the query, the group notes the entity's 64-slot
// word. The next loop tests the conditions in the noted words only. A birth of an entity with such a column
// takes the slower path, as with hooks. A column of shared.Column.Where also notes writes, as for a
// vast.Tracker, and each loop begins with one step for each 64 slots of the column. Writes of other columns
// cost nothing more. A group commits 1 bit for each slot in use, and 1 more for each slot of a column of
// shared.Column.Where, unless a tracker already notes writes of the column. The memory counts in the limit of
// the world.
//
// # Stores
//
// A saved world does not contain the groups. A group that was made before store.Load or store.Open keeps the
// matches of the loaded world.
package group
