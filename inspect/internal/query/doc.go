// Package query is the language that selects entities of a world, such as
//
//	Position, Infected.Stage >= Severe, !Dead, ?Velocity, ChildOf("New York")
//
// # Language
//
// A query is a list of terms, separated by commas or by the word "and". An entity must fulfil all terms.
// The empty query selects all entities.
//
//	Position               the entity has the component, a target in the relation, or an edge
//	Position#7             like Position, for the column with the number 7
//	ChildOf(Paris)         the entity's target has this name; quote special characters: ChildOf("Paris, FR")
//	ChildOf(17.3)          the entity's target has this ID
//	ChildOf(*)             the entity has a target
//	Life.Ends > 100        the entity has the component, and the comparison holds: == != < <= > >=
//	Infected.Stage == Mild the integer field has the value whose String method returns Mild
//	Name ~ "Par"           the text contains Par, ignoring case; !~ means: does not contain
//	Aim.Target == 17.3     the field holds the entity with this ID or name
//	where ChildOf(City)    the entity's target has this component; ChildOf(City, !Closed) asks for several
//	up ChildOf(City)       like where, for one of the 256 nearest ancestors
//	A | B, A or B          at least one alternative holds; A and B have one of the forms above
//	!A, not A              A does not hold
//	?Velocity              always holds; the component is shown if the entity has it
//
// A name stands for the component with exactly this name. If there is none, it stands for the one component
// whose name differs only in case. If several components share a name, the name needs a number. Quote the
// name of a component, with the escapes of Go, if it is not a word, or if it is "and", "or" or "not".
//
// If no component is called Name, Name stands for the name of the entity. In this case, Name == Paris selects
// the entities with exactly this name. It also selects the entity that Paris stands for in ChildOf(Paris),
// although the full name of that entity may differ.
//
// A comparison holds only for entities that have the component. Life.Ends != 3 therefore leaves out entities
// without Life; !Life.Ends == 3 selects them, too. NaN equals NaN. NaN is neither less nor more than a
// number.
//
// # Use
//
// [Parse] parses a text into a [Query]. [Compile] resolves the names of components in a [Schema] and returns
// a [Plan]. Neither function reads the world. [Plan.Bind] finds the targets and returns a [Search].
// [Search.Words] searches a range of slots. Call Bind and Words while the world may be read. [Complete]
// suggests how a text may continue. Errors in the text are of type [*Error].
package query
