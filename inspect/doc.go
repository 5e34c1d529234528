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
//   - [Namer] is a program's own source of names for entities. It replaces the world's vast.Names.
//   - [Control] is a program's own way to pause, resume and step. It replaces the running sched.Schedule.
//   - [Options].SQL is a database that answers SQL statements. Package vastsql makes such a database.
//   - [NewCollector] and [NewMemoryCollector] return metrics for a Prometheus registry of the program.
//   - [Sample] and [Costs] are values that the inspector's streams send as JSON.
//
// # Looks
//
// A world belongs to one goroutine. The inspector visits the world between two ticks (see vast.World.Visit).
// Such a visit is called a look. A sched.Schedule admits visitors itself. A program without a schedule calls
// vast.World.Admit once a tick.
//
// A look takes a fraction of a millisecond and copies the data that a request needs. A request that needs
// more data takes several looks, and the world may tick between two looks. A list of many entities is
// therefore not a snapshot of one moment. An entity that matches the request's query and stays in its slot
// during the whole request appears exactly once. An entity that changes during the request appears as it was
// before or after the change.
//
// Twenty seconds after the last request or stream ends, the inspector stops visiting the world.
//
// # Safety
//
// By default the inspector listens on the loopback address and is read-only. The Host header of each request
// must hold an IP address, localhost, or a name in [Options.Hosts]. This rule stops a page of another site
// that makes its own host name resolve to the inspector (DNS rebinding). The files of the inspector's page
// are public. For everything else, the inspector refuses requests from pages of other sites, and requires a
// token if other machines can reach the address. Edits, pause, resume, step, SQL statements that may write,
// and POST requests to the program's own handlers always need [Options.ReadWrite] and the token. There is no
// encryption: on an untrusted network, use a proxy or a tunnel that encrypts.
//
// The number of connections and streams, and the size and duration of requests, are bounded. A browser that
// does not read its stream is disconnected.
package inspect
