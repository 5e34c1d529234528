// Package uid makes identifiers that are unique in the whole program, for any type and from any goroutine,
// without a central registry. An identifier is a reserved address without memory behind it.
//
// A part of a program that counts its own objects has identifiers that are unique only in that part.
// Identifiers of two parts can be equal. Then a map that holds identifiers of both parts confuses two
// objects. An [ID] is an address from a reservation of this process. It differs from every other ID of the
// program and from the address of everything that the program allocates. Its type says what it identifies: an
// ID[Ship] cannot be used as an ID[Crew].
//
// The method comes from "Virtual Memory Tricks" (Niklas Gray, 2017). In that article an identifier is a
// pointer to an undefined type, made from pages that are allocated one at a time and never touched. Here one
// reservation serves for 64 billion identifiers, nothing is committed, and an ID is a number that cannot be
// dereferenced.
//
// # Terminology
//
//   - ID: an address that stands for one thing
//   - Source: hands out IDs to one goroutine, from a block of addresses of its own
//   - block: the addresses that a Source takes at a time, 4,096 unless Grow asks for more
//
// # Cost
//
// A [Source] makes an ID in less than a nanosecond. [New] may be called from any goroutine. Each call costs
// an atomic addition: a few nanoseconds, and many more while several processors share the counter. A billion
// IDs take no memory, and a billion addresses of the 140,000 billion (128 TiB) that a process has.
//
// # Lifetimes
//
// An ID is never given out again, even after its object is gone. An ID means nothing outside the process that
// made it: another process, or the same program started again, uses the same IDs for other things. Encoding
// an ID as text, JSON, XML, gob or bytes, and decoding an ID, therefore return [ErrLocal]. Store or send
// another name instead: a database key, a UUID (RFC 9562; github.com/google/uuid), or a number that a server
// hands out.
//
// If a process has no addresses to reserve (WebAssembly, 32-bit systems), or runs under the race detector,
// IDs are numbers from a counter. They are equally unique and cost the same.
package uid
