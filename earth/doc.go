// Package earth is the demonstration world: the inhabited places of the Earth and any number of travellers between them,
// held in a [vast.World] and advanced minute by minute.
//
// Places and travellers are entities. Travellers leave home for places drawn from a gravity model, move along great circles
// at the speed of road, rail or air, stay, go on or return. An infection spreads where they meet (SIR, with immunity that
// fades). They are born and die. So in every tick components are added and removed and entities made and deleted, some
// 3,000 times for a million travellers, while a fifth of these are on their way. The models, their sources, rates and
// approximations are told where they are written: gravity.go, travel.go, infection.go, population.go.
//
// # Types
//
//   - [Earth] is the world; [New] makes it from a [Config] and [Earth.Tick] advances it.
//   - [Counts] are its figures at one moment.
//
// # Terminology
//
//   - tick: one simulated minute
//   - site, presence: the components of a place: where it lies and how many live there; how many travellers are there
//   - stay, trip: the components of a traveller at rest and of one on the way; each has one of them
//   - goal: the place where a traveller stays or, on a trip, will arrive
//   - region: one of 32 parts of the travellers, by home; the unit of work
//   - look: what workers do in parallel; they change values and note events, but not the structure
//   - event: a departure, an arrival, a change of health, a death; one goroutine carries them out after the look
//
// # The same state everywhere
//
// The same seed, places and number of travellers give the same states, whatever the number of workers, the machine, and
// the size of its pages. Chance depends only on who draws, when and for what; events are carried out in the order of the
// regions; arithmetic is written so that no compiler rounds it differently (arithmetic.go). [Earth.Hash] shows it.
//
// # Memory
//
// All that grows with places or travellers lies outside the Go heap: the components in the world, the tables of the gravity
// model and the buffers of events in arrays of package bulk. A million travellers take about 60 MiB. [Earth.Close] gives it
// back. A Limit that is too small is an error of New, or of the Tick that would have needed more, and nothing is half done.
//
// An Earth is not safe for concurrent use; it uses several workers by itself.
package earth
