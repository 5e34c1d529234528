package main

// A peer is one way to use another store.
type peer struct {
	name string // for -peer and the rows
	// store names the entity store that the peer uses; several peers may use one store. It is empty for self
	// and for peers that use no entity store.
	store string
	batch bool // one call for all entities; Vast's side uses one call too
	// most is the largest number of entities by default; 0 for no limit. With -n there is no limit.
	most int
}

// The peers' names.
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
	peerFile         = "file"
	peerGob          = "gob"
	peerCopy         = "copy"
	peerBytes        = "bytes"
	peerBolt         = "bbolt"
	peer5ms          = "5ms"
	peer16ms         = "16.7ms"
)

// maxSlow limits the peers whose larger worlds take seconds to fill and collect. With ggecs, that time grows
// with the square of n.
const maxSlow = 256_000

// peers lists all peers in the order of a workload's rows.
var peers = []peer{
	{name: peerArk, store: peerArk},
	{name: peerArkTables, store: peerArk}, // a table's columns at a time
	{name: peerArkBatch, store: peerArk, batch: true},
	{name: peerSlice}, // two plain Go slices: the upper bound
	{name: peerSelf},  // Vast itself in another way
	{name: peerArche, store: peerArche},
	{name: peerArcheBatch, store: peerArche, batch: true},
	{name: peerVolt, store: peerVolt, most: maxSlow},
	{name: peerDonburi, store: peerDonburi, most: maxSlow},
	{name: peerDonburiBatch, store: peerDonburi, batch: true, most: maxSlow},
	{name: peerUOT, store: peerUOT},
	{name: peerGGECS, store: peerGGECS, most: maxSlow},
	{name: peerFile},  // the bytes of the saved world, written and synced, or read
	{name: peerGob},   // encoding/gob of slices
	{name: peerCopy},  // a copy of all components
	{name: peerBytes}, // the number of bytes of the written pages, or of a saved file
	{name: peerBolt},
	{name: peer5ms},  // a bound
	{name: peer16ms}, // a bound: a sixtieth of a second
}

// peerNamed returns the peer with the given name, which must exist.
func peerNamed(name string) peer {
	for _, p := range peers {
		if p.name == name {
			return p
		}
	}
	panic("no peer " + name)
}

// peerNames returns the names of all peers.
func peerNames() []string {
	var names []string
	for _, p := range peers {
		names = append(names, p.name)
	}
	return names
}
