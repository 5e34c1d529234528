// Package query is the language in which people ask a world for entities, such as
//
//	Position, Infected.Stage >= Severe, !Dead, ?Velocity, ChildOf("New York")
//
// # Language
//
// A text is a list of terms, between which stands a comma or and. An entity must fulfil all of them; the empty text asks for
// all entities.
//
//	Position               has the component, or a target in the relation, or edges
//	Position#7             the same, where several components are called Position: 7 is the number of the column
//	ChildOf(Paris)         has the target with this name; in quotes where it has signs in it: ChildOf("Paris, FR")
//	ChildOf(17.3)          has the target with this ID
//	ChildOf(*)             has a target
//	Life.Ends > 100        has the component, and the field compares so: == != < <= > >=
//	Infected.Stage == Mild a field whose type has a String method compares with what that returns
//	Name ~ "Par"           the text contains the other, in whatever case; !~ where it does not
//	Aim.Target == 17.3     fields that hold entities compare with IDs and names
//	A | B, A or B          one of several, each of which is one of the above
//	!A, not A              does not fulfil it
//	?Velocity              shown where an entity has it; chooses nothing
//
// Names of components are looked up as they are written, then in whatever case where that leaves one. A name
// that several components have is refused without a number behind it. Names that are no words, and and, or
// and not, are quoted, with the escapes of Go. Where no component is called Name, that is what the entity is
// called, and == finds what the name finds as a target too. A comparison chooses among entities that have the
// component, also after != and !~; only ! before it chooses those that have not. NaN equals NaN, and is
// neither more nor less than anything.
//
// # Use
//
// [Parse] reads a text into a [Query], [Compile] looks its names up in a [Schema] and makes a [Plan] of it; both look at
// nothing of the world that changes. [Plan.Bind] looks targets up and makes a [Search], which [Search.Words] runs over a
// range of slots: these are called where the world may be read. [Complete] says how a text may go on. Errors in
// the text are of type [*Error].
package query
