// Package earth is the demonstration world: the inhabited places of the Earth and any number of travellers
// between them. A [vast.World] holds them, and the systems of a [sched.Schedule] advance them minute by
// minute.
//
// Places and travellers are entities. Travellers leave home for places drawn from a gravity model. They move
// along great circles at the speed of road, rail or air. At the destination they stay, then travel on or
// return. An infection spreads among the travellers in a place (SIR, with immunity that fades). Travellers
// are born and die. A tick of a million travellers, a fifth of whom are on their way, makes about 4,500
// structural changes. gravity.go, travel.go, infection.go and population.go describe the models, their
// sources, rates and approximations.
//
// # Types
//
//   - [Earth] is the world; [New] makes it from a [Config] and [Earth.Tick] advances it.
//   - [Counts] are its figures at one moment.
//   - [Crowd] is the number of travellers at a point: [Earth.Crowds] yields Crowds part by part, for maps.
//
// # Terminology
//
//   - tick: one simulated minute
//   - site: the component with the position of a place and the number of its inhabitants
//   - presence: the component with the tally of a place
//   - tally: the number of travellers in a place, and the number of infectious travellers there; hooks keep
//     the tallies up to date when commands are applied
//   - stay, trip: a traveller at rest has the component stay, and a traveller on the way has the component
//     trip
//   - home: the relation from a traveller to the place to which the traveller returns
//   - at: the relation from a traveller to the place where the traveller stays
//   - transit: the first ticks of a trip, in which no system changes the traveller: see [Lookahead]
//   - cohort: one of the 32 groups into which the travellers are divided by their homes; the unit of work
//   - region: one of the worlds of a [Globe], which together are one Earth
//   - system: leave, move, examine, mourn or bear; systems run in parallel, change values, and record
//     structural changes as [vast.Commands]: departures, arrivals, changes of health, deaths, births
//
// # Regions
//
// An Earth that is too large for one machine is divided into regions: a [Globe] makes the regions, and each
// [Region] is a world of its own. Region.Tick returns the travellers who have departed for other regions, and
// adds the travellers who arrive from other regions. After each tick, all regions together have the state of
// the one Earth that New makes from the same Config. [Globe.HashOf] returns the hash of this state.
//
// # The same state everywhere
//
// The same seed, places and number of travellers give the same states for any number of workers, on every
// machine and with every page size. A random number depends only on the seed, the tick, its purpose, and the
// number of a traveller, cohort or cell. Commands are applied in the order of systems and cohorts.
// [Earth.Hash] returns a hash of the state.
//
// Each floating-point operation is rounded by itself, as in IEEE 754. arithmetic.go says how this package
// prevents fused instructions, and has its own sines, arc tangents and logarithms. A check of the repository
// (.ci/fused) looks for fused instructions in the compiled package.
//
// # Worlds that outlive their process
//
// With [Config].Data, package store keeps the world in a folder: the entities, their components, and a
// resource with the counts and the seed. New makes the tables, cohorts and hooks again, and repeats the
// ticks that the folder has recorded since the last checkpoint. A tick depends only on these data, so the
// world has the same states as without a crash.
//
// # Memory
//
// Everything that grows with places or travellers lies outside the Go heap: the components and relations in
// the world, the tables of the gravity model in arrays of package bulk. A million travellers take about 110
// MiB. [Earth.Close] frees the memory. If a Limit is too small, New or Tick returns an error, and Tick has
// changed nothing.
//
// An Earth is not safe for concurrent use. Its ticks use several workers.
package earth
