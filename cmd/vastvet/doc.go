// Command vastvet finds mistakes in programs that use Vast, before they run. It is used through go vet,
//
//	go install github.com/vastgo/vast/cmd/vastvet@latest
//	go vet -vettool=$(which vastvet) ./...
//
// which looks at each package once and remembers what it found, or by itself:
//
//	vastvet ./...
//	vastvet -fix ./...     # mends what can be mended for certain
//	vastvet -json ./...    # for other programs
//	vastvet -escape ./...  # one check only; vastvet help lists them
//
// Packages that do not import Vast, be it by way of others, are passed over. A check reports what is certain and is silent about the
// rest: nothing is reported where a value could not be followed. Programs that run analyzers themselves find these in the packages
// below passes.
//
// # offheap
//
// Go pointers outside of Go's heap, where the collector does not look: element types that hold some, also behind a generic
// function of the program's; pointers that are stored through unsafe; addresses of Go variables as a uintptr.
//
//	type Ship struct{ Name string }
//
//	ships := vast.NewColumn[Ship](w)     // wrong: panics
//	ships := vast.NewHeapColumn[Ship](w) // right
//
// # escape
//
// Pointers to components, and to elements of a pool, that are kept where they may outlive them: in a package-level variable, in a
// channel, with a goroutine that nobody waits for, in a resource, in a component on the Go heap.
//
//	var selected *Ship
//	selected = ships.Get(e) // wrong
//
//	var selected vast.Entity
//	selected = e // right: ships.Get(selected) is nil once it is gone
//
// # useafter
//
// Use after Close, and of memory after a Release, Reset, Truncate(0), Clear or Free, in one function, on all ways through it.
//
//	first := ships.At(0)
//	ships.Close()
//	return first.Fuel // wrong
//
//	defer ships.Close() // right
//	return ships.At(0).Fuel
//
// # unchecked
//
// Errors of Grow, Commit, Append, New and the like that are dropped, so that nobody sees that there is no room.
//
//	ships.Grow(n) // wrong
//
//	if err := ships.Grow(n); err != nil { // right; or _ = ships.Grow(n)
//		return err
//	}
//
// # queryloop
//
// Structural changes inside a loop over a query, a relation, a tracker or an order, whose next step panics then.
//
//	for e := range q.All() {
//		w.Delete(e)        // wrong
//		commands.Delete(e) // right, with w.Apply(commands) behind the loop
//	}
//
// # handle
//
// Handles and entities compared by slot, which is used again.
//
//	if target.Slot() == ship.Slot() { // wrong
//	if target == ship {               // right
//
// # declared
//
// Systems that touch a column which they do not declare, so that they run beside others that write it.
//
//	s.Add(sched.System{Name: "move", Writes: sched.Columns(pos), Run: func(c *sched.Context) {
//		for run := range q.Runs() {
//			p, v := pos.Slice(run), vel.Slice(run) // wrong: Reads: sched.Columns(vel) is missing
//
// # Where a mistake is meant
//
// A comment silences one check for the line it stands on, or, on a line of its own, for the statement or declaration below it:
//
//	//vastvet:ignore useafter: to see the panic
//	ships.Append(Ship{})
//
// It needs a reason. One that silences nothing is reported, and so is one that names no check (the check "ignored"). In tests a function
// literal of one statement without parameters, as in mustPanic(func() { ships.Grow(-1) }), is taken for a mistake that is made to
// be caught: unchecked, queryloop and offheap pass it over.
package main
