// Package inspect shows a running world: as a live page in a browser, as JSON over HTTP, and as metrics. One line is enough:
//
//	in, err := inspect.Serve(ctx, world, inspect.Options{})
//
// # Types
//
//   - [Inspector] serves a world until its context ends; [Serve] makes it from [Options].
//   - [View] is a picture of a world that lies on a plane or a map, to be zoomed and clicked into; [Plane] makes one.
//   - [Namer] says what entities are called, [Control] pauses what changes them, where the world and its schedule do not say.
//
// # How it looks
//
// A world belongs to one goroutine. The inspector looks between two ticks, as a visitor (see vast.World.Visit): a
// sched.Schedule lets it in by itself, other programs call vast.World.Admit once a tick. It copies what was asked for, a
// fraction of a millisecond at a time, and goes on after the next tick where there is more. What it shows of many entities is
// therefore no snapshot of one moment: an entity that lives and matches all the while is seen once, one that changes
// meanwhile is seen before or after.
//
// With nobody looking nothing is asked of the world.
//
// # Safety
//
// The default is an address of this machine only, and reading only. Every request must name a host that can only be this
// one, so that a page of another site cannot reach it by its own name (DNS rebinding), and come from the inspector's own page
// or from no page at all. An address that others can reach takes a token for everything but the page's own files; edits,
// pause and step take [Options.ReadWrite] and the token, wherever it listens. There is no encryption: put a proxy that has it in
// front, or a tunnel, where the network is not to be trusted.
//
// Connections, streams, the size and the time of requests are bounded. A browser that does not read is dropped.
package inspect
