// Package uid makes identifiers that are unique in the whole program, of any type and from any goroutine, without
// anybody to ask: addresses that were reserved for them, and that no memory ever stands behind.
//
// A part of a program that counts its own objects has identifiers that are unique in that part. Mixed with those of
// another part they are equal by chance, and a map of both confuses them. An [ID] is an address of the process, taken
// from a reservation that nothing else can be given, so it differs from every other ID of the program and from the
// address of everything that the program allocates. Its type says what it identifies: an ID[Ship] is no ID[Crew].
//
// The method is that of "Virtual Memory Tricks" (Niklas Gray, 2017). There an identifier is a pointer to a type that
// nobody defines, made from pages that are allocated one at a time and never touched. Here one reservation serves for 64
// billion identifiers, nothing is committed, and an ID is a number, so that it cannot be read through.
//
// # Terminology
//
//   - ID: an address that stands for one thing
//   - Source: hands out IDs to one goroutine, from a block of addresses of its own
//   - block: the addresses that a Source took at a time, 4,096 unless it was asked for more
//
// # Cost
//
// A [Source] takes under a nanosecond an ID. [New] is for any goroutine and takes an atomic addition, some nanoseconds
// while nobody else does the same, and many more on a processor that another one takes the counter from. A billion IDs
// take a billion addresses, of the 128 TiB that a process has, and no memory.
//
// # Lifetimes
//
// An ID is never given out again, whatever becomes of what it stood for. It means nothing outside the process that made
// it: another process, or the same program started again, has the same IDs for other things. So it refuses to be
// written as text, JSON, XML, gob or bytes, and to be read from them ([ErrLocal]). What is stored or sent needs another
// name: a key of the database's, a UUID (RFC 9562; github.com/google/uuid), or a number that a server hands out.
//
// Where a process has no addresses to reserve (WebAssembly, 32-bit systems), or the race detector watches it, IDs are
// numbers from a counter that no address has. They are as unique, and cost the same.
package uid
