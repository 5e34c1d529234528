// Package earth is the demonstration world: the inhabited places of the Earth and any number of travellers
// between them. A [vast.World] holds them, and the systems of a [sched.Schedule] advance them minute by
// minute.
//
// Places and travellers are entities. Travellers leave home for places drawn from a gravity model. They move
// along great circles at the speed of road, rail or air. At the destination they stay, then travel on or
// return. An infection spreads among the travellers in a place (SIR, with immunity that fades). Travellers
// are born and die. Every tick therefore adds and removes components and relations, and makes and deletes
// entities: about 4,500 changes for a million travellers, a fifth of whom are on their way. The models, their
// sources, rates and approximations are described in gravity.go, travel.go, infection.go and population.go.
//
// # Types
//
//   - [Earth] is the world; [New] makes it from a [Config] and [Earth.Tick] advances it.
//   - [Counts] are its figures at one moment.
//   - [Crowd] is the number of travellers at a point: [Earth.Crowds] yields them part by part, for maps.
//
// # Terminology
//
//   - tick: one simulated minute
//   - site, presence: the components of a place; site holds its position and the number of its inhabitants,
//     presence the number of travellers there
//   - stay, trip: a traveller at rest has the component stay, and a traveller on the way has the component
//     trip
//   - home, at: the relations of a traveller: home leads to the place to which the traveller returns, and
//     `at` leads to the place where the traveller stays
//   - transit: the first ticks of a trip, in which no system touches the traveller: see [Lookahead]
//   - cohort: one of the 32 groups into which the travellers are divided by their homes; the unit of work
//   - region: one of the worlds of a [Globe], which together are one Earth
//   - system: leave, move, examine, mourn or bear; systems run in parallel, change values, and record
//     structural changes as [vast.Commands]: departures, arrivals, changes of health, deaths, births
//   - tally: the number of travellers in a place, and the number of infectious travellers there; hooks keep
//     the tallies up to date when commands are applied
//
// # Regions
//
// An Earth that is too large for one machine is divided into regions: a [Globe] makes the regions, and each
// [Region] is a world of its own. Region.Tick returns the travellers who have departed for other regions, and
// takes the travellers who were in transit to this region. After each tick, the regions together have the
// same state as one Earth after the same tick, if New has made it from the same Config. HashOf returns the
// hash of that state.
//
// # The same state everywhere
//
// The same seed, places and number of travellers give the same states for any number of workers, on every
// machine and with every page size. Random numbers depend only on the seed, the number of a traveller, place
// or cohort, the tick and the purpose. Commands are applied in the order of systems and cohorts. [Earth.Hash]
// returns a hash of the state.
//
// Floating point is the same everywhere because each operation is rounded by itself, as in IEEE 754. A
// compiler may fuse a product and a sum into one instruction that rounds once; Go does so on arm64, loong64,
// ppc64, riscv64 and s390x, and on amd64 at level v3. An explicit conversion of the product prevents the
// fusion, so this package writes float32(x*y) or float64(x*y) wherever it adds to a product. A check of the
// repository (.ci/fused) finds no fused instruction in the compiled package. This package uses only the exact
// functions of package math (square roots, floor and ceiling); arithmetic.go has sines, arc tangents and
// logarithms.
//
// # Worlds that outlive their process
//
// With [Config].Data, package store keeps the world in a folder: the entities and their components, and the
// counts and the seed as a resource. New makes the tables, cohorts and hooks again. After a crash, New also
// repeats the recorded ticks. Because a tick depends only on this data, the world then has the same states as
// without the crash.
//
// # Memory
//
// Everything that grows with places or travellers lies outside the Go heap: the components and relations in
// the world, the tables of the gravity model in arrays of package bulk. A million travellers take about 110
// MiB. [Earth.Close] frees the memory. If a Limit is too small, New or Tick returns an error. Such a Tick has
// changed nothing.
//
// An Earth is not safe for concurrent use. Its ticks use several workers.
package earth
