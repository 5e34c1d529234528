// Package observe reports which entities entered or left a query, and whose components were written. It
// reports nothing during a change: the program asks for the changes, or calls observers, at a place of its
// choice.
//
// # Types
//
//   - [Monitor] looks at the matches of a query in each [Monitor.Next], and compares them with the matches at
//     its last look. [Monitor.Entered] and [Monitor.Left] yield the differences.
//   - [Observers] is a list of observers, which call functions for changes. The functions run together, for
//     example in a system of a schedule. An [Observer] names a query and the functions. An [Event] is the
//     argument of a function.
//
// Package vast reports changes in two other ways. A hook, such as a callback of vast.Column.OnAdd, runs
// during the change and must not change the structure. A vast.Tracker reports the changes of single columns.
//
// # Costs
//
// Monitors and observers add no cost to changes of the world, except Observer.Changed: it uses a
// vast.Tracker, which costs a few instructions for each write of its column. A look compares 64 slots at a
// time: the bits of the matches, and the generations, which show whether another entity has taken a slot.
//
// # Lifetimes
//
// A Monitor and Observers keep memory until their method Close. World.Close does not close them. Close them
// before or after the world.
//
// # Stores
//
// A monitor notes which entities matched at its last look. These notes are a container. store.Save and
// store.Open keep the notes if store.Options.Containers names them: see [Monitor.Notes] and
// [Observers.Notes]. Then a loaded program gets the same reports as the saved program would have got, and
// replay stays exact. Without the notes, the first look after loading reports all matches as entered.
//
// # Errors
//
// A mistake of the caller panics with a message that says how to mend it. If there is no memory, a call
// panics with a *vm.Error, and the next look reports the changes.
package observe
