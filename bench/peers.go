package main

// A row compares Vast with a peer. In most rows, the peer is another store, used in one of several ways.
type peer struct {
	name string // for -peer and the rows
	// store is the name of the peer's entity store. Several peers may use one store. store is empty if the
	// peer uses no other entity store.
	store string
	batch bool // one call for all entities, also on Vast's side
	// maxN is the largest number of entities without -n; 0 for no limit.
	maxN int
}

const (
	peerArk          = "ark"
	peerArkTables    = "ark-tables"
	peerArkBatch     = "ark-batch"
	peerSlice        = "slice"
	peerSelf         = "self"
	peerArche        = "arche"
	peerArcheBatch   = "arche-batch"
	peerVolt         = "volt"
	peerDonburi      = "donburi"
	peerDonburiBatch = "donburi-batch"
	peerUOT          = "uot"
	peerGGECS        = "ggecs"
	peerEnTT         = "entt"
	peerEnTTGroup    = "entt-group"
	peerEnTTBatch    = "entt-batch"
	peerFlecs        = "flecs"
	peerFlecsBatch   = "flecs-batch"
	peerFile         = "file"
	peerGob          = "gob"
	peerCopy         = "copy"
	peerBytes        = "bytes"
	peerBolt         = "bbolt"
	peer5ms          = "5ms"
	peer16ms         = "16.7ms"
)

// maxSlow is the maxN of peers whose larger worlds take seconds to fill and to garbage-collect. With ggecs,
// this time grows with the square of n.
const maxSlow = 256_000

// peers lists all peers, in the order of the help text and of the table of means.
var peers = []peer{
	{name: peerArk, store: peerArk},
	{name: peerArkTables, store: peerArk}, // Ark, table by table
	{name: peerArkBatch, store: peerArk, batch: true},
	{name: peerSlice}, // plain Go slices: the upper bound
	{name: peerSelf},  // Vast in another way
	{name: peerArche, store: peerArche},
	{name: peerArcheBatch, store: peerArche, batch: true},
	{name: peerVolt, store: peerVolt, maxN: maxSlow},
	{name: peerDonburi, store: peerDonburi, maxN: maxSlow},
	{name: peerDonburiBatch, store: peerDonburi, batch: true, maxN: maxSlow},
	{name: peerUOT, store: peerUOT},
	{name: peerGGECS, store: peerGGECS, maxN: maxSlow},
	{name: peerEnTT, store: peerEnTT},
	{name: peerEnTTGroup, store: peerEnTT}, // EnTT with an owning group
	{name: peerEnTTBatch, store: peerEnTT, batch: true},
	{name: peerFlecs, store: peerFlecs},
	{name: peerFlecsBatch, store: peerFlecs, batch: true},
	{name: peerFile},  // writes and syncs, or reads, the bytes of the saved world
	{name: peerGob},   // encodes or decodes Go slices with encoding/gob
	{name: peerCopy},  // copies all components
	{name: peerBytes}, // size of the written pages, or of a file of Save
	{name: peerBolt},
	{name: peer5ms},  // the bound for pauses
	{name: peer16ms}, // the bound for ticks: a sixtieth of a second
}

func peerNamed(name string) peer {
	for _, p := range peers {
		if p.name == name {
			return p
		}
	}
	panic("no peer " + name)
}

func peerNames() []string {
	var names []string
	for _, p := range peers {
		names = append(names, p.name)
	}
	return names
}
