package main

import "slices"

// A workload is one kind of work that Vast and its peers are measured at.
type workload struct {
	name    string
	single  bool // the work has no number of entities: measured at n = 1 only
	extras  int  // component types in the row's worlds beside Position and Velocity
	matches []match
}

// A match is a workload beside one peer. Each function sets a side up for n entities.
type match struct {
	peer   string
	ours   func(n int) side
	theirs func(n int) side
	// emptyTheirs sets up the peer's query over a world with extras more component types in which nothing matches.
	emptyTheirs func(extras int) side
}

// The peers' names, as -peer and the rows give them.
const (
	peerArk       = "ark"        // one entity at a time
	peerArkTables = "ark-tables" // a table's columns at a time
	peerArkBatch  = "ark-batch"  // one call for all entities
	peerSlice     = "slice"      // two plain Go slices: the limit
)

// workloads lists every work in the order in which it is measured and printed.
var workloads = []workload{
	{name: "query2comp", matches: []match{
		{peerArk, newQueryVast, newQueryArk, newEmptyArk},
		{peerArkTables, newQueryVast, newQueryArkTables, newEmptyArkTables},
		{peerSlice, newQueryVast, newQuerySlice, newEmptySlice},
	}},
	{name: "query32arch", extras: 5, matches: []match{
		{peerArk, newInnerVast, newInnerArk, newEmptyArk},
		{peerArkTables, newInnerVast, newInnerArkTables, newEmptyArkTables},
	}},
	{name: "query256arch", extras: 8, matches: []match{
		{peerArk, newOuterVast, newOuterArk, newEmptyArk},
		{peerArkTables, newOuterVast, newOuterArkTables, newEmptyArkTables},
	}},
	{name: "random", matches: []match{
		{peerArk, newRandomVast, newRandomArk, newEmptyArk},
	}},
	{name: "add_remove", matches: []match{
		{peerArk, newAddRemoveVast, newAddRemoveArk, newEmptyArk},
	}},
	{name: "create2comp", matches: []match{
		{peerArk, newCreateVast, newCreateArk, newEmptyArk},
		{peerArkBatch, newCreateVastBatch, newCreateArkBatch, newEmptyArkTables},
	}},
	{name: "delete2comp", matches: []match{
		{peerArk, newDeleteVast, newDeleteArk, newEmptyArk},
		{peerArkBatch, newDeleteVastBatch, newDeleteArkBatch, newEmptyArkTables},
	}},
	{name: "new_world", single: true, matches: []match{
		{peerArk, newWorldVast, newWorldArk, newEmptyArk},
	}},
	{name: "first_entity", single: true, matches: []match{
		{peerArk, newFirstVast, newFirstArk, newEmptyArk},
	}},
}

// workNames returns the names of all workloads.
func workNames() []string {
	var names []string
	for i := range workloads {
		names = append(names, workloads[i].name)
	}
	return names
}

// peerNames returns the names of all peers, each once.
func peerNames() []string {
	var names []string
	for i := range workloads {
		for _, m := range workloads[i].matches {
			if !slices.Contains(names, m.peer) {
				names = append(names, m.peer)
			}
		}
	}
	return names
}
