// Command vastvet finds mistakes in the source of programs that use Vast. go vet can run vastvet:
//
//	go install github.com/vastgo/vast/cmd/vastvet@latest
//	go vet -vettool=$(which vastvet) ./...
//
// go vet caches the result of each package. The command also runs without go vet:
//
//	vastvet ./...
//	vastvet -fix ./...     # applies the fixes that are certain to be right
//	vastvet -json ./...    # output for other programs
//	vastvet -escape ./...  # one check only; vastvet help lists the checks
//
// The command checks packages that import Vast, directly or through other packages. A check reports a mistake
// only if the mistake is certain. If the check cannot follow a value, it reports nothing. The packages in
// the folder passes export the analyzers, for programs that run analyzers themselves.
//
// # offheap
//
// This check finds Go pointers outside of Go's heap, where the garbage collector does not see them. It
// reports element types that contain Go pointers, including types that a generic function passes to the
// library. It reports pointers that are stored through package unsafe, and addresses of Go variables that are
// stored as a uintptr. It reports resources whose type is a pointer or an interface.
//
//	type Ship struct{ Name string }
//
//	ships := vast.NewColumn[Ship](w)     // wrong: panics
//	ships := vast.NewHeapColumn[Ship](w) // right
//
// # escape
//
// This check finds pointers to components and pool elements in places that may outlive the component or the
// element: package-level variables, channels, goroutines that the function does not wait for, resources, and
// components on the Go heap.
//
//	var selected *Ship
//	selected = ships.Get(e) // wrong
//
//	var selected vast.Entity
//	selected = e // right: ships.Get(selected) is nil after the ship is deleted
//
// # useafter
//
// This check finds uses after Close, and uses of memory after Release, Reset, Truncate(0), Clear, Free, or
// the removal of an element or entity. The call must be in the same function as the use, and on every path to
// the use. A query of a Group also ends with Group.Close.
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
// This check finds dropped errors of Grow, Commit, Append, New and similar functions. A program that drops
// the error does not notice a lack of memory.
//
//	ships.Grow(n) // wrong
//
//	if err := ships.Grow(n); err != nil { // right; or _ = ships.Grow(n)
//		return err
//	}
//
// # queryloop
//
// This check finds structural changes inside a loop over a query, a relation, edges, a tracker, an order, a
// SparseColumn, the groups of package shared or probe.Extents. After such a change, the next step of the loop
// panics. Making a copy or an instance of a template is also a structural change, and so is making or closing
// a group or a tracker.
//
//	for e := range q.All() {
//		w.Delete(e)        // wrong
//		commands.Delete(e) // right, with w.Apply(commands) after the loop
//	}
//
// # handle
//
// This check finds comparisons of two handles, or of two entities, by slot only. Slots are reused.
//
//	if target.Slot() == ship.Slot() { // wrong
//	if target == ship {               // right
//
// # declared
//
// This check finds systems that touch a column without declaring it. Such systems may run at the same time as
// systems that write the column. It also finds systems that use an event queue or Jobs without declaring
// them: the call panics then. And it finds background jobs that touch a column: they run beside the systems.
//
//	s.Add(sched.System{Name: "move", Writes: sched.Columns(pos), Run: func(c *sched.Context) {
//		for run := range q.Runs() {
//			p, v := pos.Slice(run), vel.Slice(run) // wrong: Reads: sched.Columns(vel) is missing
//
// # Intended mistakes
//
// A comment silences one check. At the end of a line, the comment applies to that line. On a line of its own,
// it applies to the statement or declaration below it:
//
//	//vastvet:ignore useafter: to see the panic
//	ships.Append(Ship{})
//
// The comment needs a reason. The check "ignored" reports comments that name no check of vastvet, and
// comments without a reason. Each check reports a comment that names the check but silences nothing.
//
// In tests, the checks unchecked, queryloop and offheap skip function literals that make the mistake on
// purpose. Such a literal has no parameters, and only one statement besides declarations. An example is
// mustPanic(func() { ships.Grow(-1) }).
package main
