// Package query is the language that selects entities of a world, such as
//
//	Position, Infected.Stage >= Severe, !Dead, ?Velocity, ChildOf("New York")
//
// # Language
//
// A query is a list of terms, separated by commas or by the word and. An entity must fulfil all terms. The
// empty query selects all entities.
//
//	Position               the entity has the component, a target in the relation, or edges
//	Position#7             the same if several components are called Position: 7 is the number of the column
//	ChildOf(Paris)         the target has this name; special characters need quotes: ChildOf("Paris, FR")
//	ChildOf(17.3)          the target has this ID
//	ChildOf(*)             there is a target
//	Life.Ends > 100        the entity has the component, and the comparison holds: == != < <= > >=
//	Infected.Stage == Mild if the field's type has a String method, the value may be a result of that method
//	Name ~ "Par"           the name contains the text, ignoring case; !~ is the opposite
//	Aim.Target == 17.3     a field that holds an entity is compared with an ID or a name
//	A | B, A or B          at least one alternative holds; each is one of the above
//	!A, not A              the term does not hold
//	?Velocity              always holds; the component is shown if the entity has it
//
// The name of a component must match exactly. If no name does, case is ignored, and exactly one component
// must fit. A name that several components share needs a number. Names that are not words are quoted with the
// escapes of Go, and so are the three names "and", "or" and "not". If no component is called Name, Name
// stands for the name of the entity; == then also finds the entity by each name by which it may be a target.
// A comparison selects among the entities that have the component, even with != and !~; only ! in front of
// the term selects entities without the component. NaN equals NaN, and has no order.
//
// # Use
//
// [Parse] parses a text into a [Query]. [Compile] resolves its names in a [Schema] and returns a [Plan].
// Neither reads the world. [Plan.Bind] finds the targets and returns a [Search]; [Search.Words] searches a
// range of slots. Call Bind and Words while the world may be read. [Complete] suggests how a text may
// continue. Errors in the text are of type [*Error].
package query
