// Package inspect shows a running world: as a live page in a browser, as JSON over HTTP, and as metrics. One
// line starts the inspector:
//
//	in, err := inspect.Serve(ctx, world, inspect.Options{})
//
// # Types
//
//   - [Inspector] serves a world. [Serve] makes an Inspector from [Options].
//   - [View] is a map of the world that a user can zoom, move and click. [Plane] makes a View of positions in
//     a plane.
//   - [Namer] gives entities names, instead of the world's vast.Names.
//   - [Control] pauses the program, instead of the running schedule.
//   - [NewCollector] and [NewMemoryCollector] return metrics for a Prometheus registry of the program.
//   - [Sample] and [Costs] are the JSON that a program reads from the inspector's streams.
//
// # Looks
//
// A world belongs to one goroutine. The inspector reads the world between two ticks, as a visitor (see
// vast.World.Visit). Such a visit is called a look. A sched.Schedule admits visitors by itself; a program
// without a schedule calls vast.World.Admit once a tick. A look takes a fraction of a millisecond and copies
// the data that a request needs. If the request needs more data, it continues after the next tick. A list of
// many entities is therefore not a snapshot of one moment. An entity that matches from the first to the last
// look of the request appears exactly once. An entity that changes meanwhile appears as it was before or
// after the change.
//
// If no page and no stream is open and no request comes, the inspector stops visiting the world after twenty
// seconds.
//
// # Safety
//
// By default the inspector listens on the loopback address and only reads. The Host header of each request
// must hold an IP address, localhost, or a name in [Options.Hosts]. This rule stops a page of another site
// that makes its own host name resolve to the inspector (DNS rebinding). Each request must come from the
// inspector's own page or from no page. If other machines can reach the address, all requests need a token,
// except those for the page's own files. Edits, pause, resume and step always need [Options.ReadWrite] and
// the token. There is no encryption: on an untrusted network, use a proxy or a tunnel that encrypts.
//
// The number of connections and streams, and the size and duration of requests, are bounded. A browser that
// does not read its stream is disconnected.
package inspect
