// Package uid makes identifiers that are unique in the whole program, for any type and from any goroutine,
// without a central registry. An identifier is a reserved address without memory behind it.
//
// If each part of a program numbers its own objects, objects of different parts can have equal numbers. A map
// for objects of all parts confuses these objects. An [ID] is an address from a reservation of this process.
// It differs from every other ID of the program, and from the address of everything that the program
// allocates. Its type says what it identifies: an ID[Ship] cannot be used as an ID[Crew].
//
// The method comes from "Virtual Memory Tricks" (Niklas Gray, 2017). In that article, an identifier is a
// pointer to an undefined type, into pages that are allocated one at a time and never touched. Here, one
// reservation usually has addresses for more than 64 billion identifiers. It commits no memory. An ID is a
// number that cannot be dereferenced.
//
// # Terminology
//
//   - ID: an address that stands for one thing
//   - block: the addresses that a Source takes at a time: 4,096, or more if Grow asks for more
//   - Source: hands out IDs to one goroutine, from its own block
//
// # Cost
//
// A [Source] makes an ID in less than a nanosecond. [New] may be called from any goroutine. Each call of New
// costs an atomic addition: a few nanoseconds, and many more while several processors share the counter. IDs
// take no memory. A process has addresses for 140,000 billion IDs (128 TiB).
//
// # Lifetimes
//
// An ID is never given out again, even after its object is gone. An ID means nothing outside the process that
// made it: another process, or a new start of the program, may use equal IDs for other things. So all
// attempts to encode or decode an ID as text, JSON, XML, gob or bytes return [ErrLocal]. Store or send
// another name instead: a database key, a UUID (RFC 9562; github.com/google/uuid), or a number that a server
// hands out.
//
// If a process has no addresses to reserve (WebAssembly, 32-bit systems), or runs under the race detector,
// IDs are numbers from a counter. These IDs are also unique, and their cost is the same.
package uid
