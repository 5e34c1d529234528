// Package earth is the demonstration world: the inhabited places of the Earth and any number of travellers between them,
// held in a [vast.World] and advanced minute by minute by the systems of a [sched.Schedule].
//
// Places and travellers are entities. Travellers leave home for places drawn from a gravity model, move along great circles
// at the speed of road, rail or air, stay, go on or return. An infection spreads where they meet (SIR, with immunity that
// fades). They are born and die. So in every tick components and relations are added and removed and entities made and
// deleted, some 4,500 times for a million travellers, while a fifth of these are on their way. The models, their sources,
// rates and approximations are told where they are written: gravity.go, travel.go, infection.go, population.go.
//
// # Types
//
//   - [Earth] is the world; [New] makes it from a [Config] and [Earth.Tick] advances it.
//   - [Counts] are its figures at one moment.
//   - [Crowd] is how many travellers are at a point: [Earth.Crowds] yields them part by part, for maps.
//
// # Terminology
//
//   - tick: one simulated minute
//   - site, presence: the components of a place: where it lies and how many live there; how many travellers are there
//   - stay, trip: the components of a traveller at rest and of one on the way; each has one of them
//   - home, at: the relations of a traveller to the place that it returns to and to that where it stays
//   - region: one of 32 parts of the travellers, by home; the unit of work
//   - system: leave, move, examine, mourn or bear; they run at once, change values, and record what else is to happen as
//     [vast.Commands]: departures, arrivals, changes of health, deaths, births
//   - tally: how many are in a place, and how many of them infectious; hooks keep it when commands are applied
//
// # The same state everywhere
//
// The same seed, places and number of travellers give the same states, whatever the number of workers, the machine, and
// the size of its pages. Chance depends only on who draws, when and for what; commands are applied in the order of systems and
// regions; [Earth.Hash] shows it.
//
// Floating point is the same everywhere because each operation is rounded by itself, as IEEE 754 says. A compiler may fuse a
// product and a sum into one instruction that rounds once, and Go does on arm64, ppc64, s390x, riscv64 and loong64; an
// explicit conversion of the product forbids it, so float32(x*y) and float64(x*y) stand wherever a product is added to, and a
// check of the repository (.ci/fused) finds no fused instruction in what the compiler makes of this package. Of package math
// only what is exact is used (square roots, floor and ceiling); sines, arc tangents and logarithms are written out
// (arithmetic.go).
//
// # Memory
//
// All that grows with places or travellers lies outside the Go heap: the components and relations in the world, the tables
// of the gravity model in arrays of package bulk. A million travellers take about 110 MiB. [Earth.Close] gives it back. A
// Limit that is too small is an error of New, or of the Tick that would have needed more, and nothing is half done.
//
// An Earth is not safe for concurrent use; it uses several workers by itself.
package earth
