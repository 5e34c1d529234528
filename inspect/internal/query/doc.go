// Package query is the language that selects entities of a world, such as
//
//	Position, Infected.Stage >= Severe, !Dead, ?Velocity, ChildOf("New York")
//
// # Language
//
// A query is a list of terms, separated by commas or by the word "and". An entity must fulfil all terms.
// The empty query selects all entities.
//
//	Position               the entity has the component; if it is a relation, a target; if edges, an edge
//	Position#7             like Position, for the column with the number 7; for names that components share
//	ChildOf(Paris)         the entity's target has this name; quote special characters: ChildOf("Paris, FR")
//	ChildOf(17.3)          the entity's target has this ID
//	ChildOf(*)             the entity has a target
//	Life.Ends > 100        the entity has the component, and the comparison holds: == != < <= > >=
//	Infected.Stage == Mild if an integer's type has a String method, the value may be a result of it
//	Name ~ "Par"           the name contains the text, ignoring case; !~ is the opposite
//	Aim.Target == 17.3     a field that holds an entity is compared with an ID or a name
//	A | B, A or B          at least one alternative holds; an alternative has one of the forms above
//	!A, not A              A does not hold
//	?Velocity              always holds; the component is shown if the entity has it
//
// The name of a component matches exactly. If no component has exactly this name, case is ignored, and only
// one component may match. A name that several components share needs a number. Put the name of a component
// in quotes, with the escapes of Go, if the name is not a word, or if it is "and", "or" or "not".
//
// If no component is called Name, Name stands for the name of the entity. In this case, Name == Paris also
// selects the entity that Paris denotes in ChildOf(Paris). The full name of this entity may differ.
//
// A comparison holds only for entities that have the component, even with != and !~. To select entities
// without the component too, negate the opposite: write !Life.Ends == 3 instead of Life.Ends != 3. NaN equals
// NaN, and is never less or more than a number.
//
// # Use
//
// [Parse] parses a text into a [Query]. [Compile] resolves the names of components in a [Schema] and returns
// a [Plan]. Neither function reads the world. [Plan.Bind] finds the targets and returns a [Search];
// [Search.Words] searches a range of slots. Call Bind and Words while the world may be read. [Complete]
// suggests how a text may continue. Errors in the text are of type [*Error].
package query
