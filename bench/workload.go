package main

import (
	"slices"
	"time"
)

// A workload is one kind of work that Vast and its peers do.
type workload struct {
	name     string
	group    string // name for -work that selects several works; empty for none
	single   bool   // the work has no number of entities; it is measured with n = 1 only
	sizes    []int  // numbers of entities if -n is not given; nil for publicSizes
	minN     int    // minimum number of entities
	iterates bool   // the work loops over all entities that match a query
	bytes    bool   // the figures are bytes per entity, not times
	panel    string // panel of the chart; empty for none
	extras   int    // component types in the worlds of the empty query, besides Position and Velocity
	matches  []match
	outside  *outside // nil if the sides run in this process
}

// oneSize reports whether the work is measured at a single size by default.
func (w *workload) oneSize() bool {
	return w.single || len(w.sizes) == 1
}

// A match pairs a workload with one peer. If the workload's outside is set, all functions are nil.
type match struct {
	peer   string
	ours   func(n int) side
	theirs func(n int) side
	// emptyTheirs sets up the peer's empty query; see emptyquery.go. It is nil for the works of package
	// store, and for the peers of cpp.go.
	emptyTheirs func(extras int) side
}

// workloads lists every work in the order of the rows.
var workloads = []workload{
	{name: "query2comp", panel: panelQueries, iterates: true, matches: []match{
		{peerArk, newQueryVast, newQueryArk, newEmptyArk},
		{peerArkTables, newQueryVast, newQueryArkTables, newEmptyArkTables},
		{peerSlice, newQueryVast, newQuerySlice, newEmptySlice},
		{peerArche, newQueryVast, newQueryArche, newEmptyArche},
		{peerVolt, newQueryVast, newQueryVolt, newEmptyVolt},
		{peerDonburi, newQueryVast, newQueryDonburi, newEmptyDonburi},
		{peerUOT, newQueryVast, newQueryUOT, newEmptyUOT},
		{peerGGECS, newQueryVast, newQueryGGECS, newEmptyGGECS},
	}},
	{name: "query32arch", panel: panelQueries, iterates: true, extras: innerExtras, matches: []match{
		{peerArk, newInnerVast, newInnerArk, newEmptyArk},
		{peerArkTables, newInnerVast, newInnerArkTables, newEmptyArkTables},
		{peerArche, newInnerVast, newInnerArche, newEmptyArche},
		{peerVolt, newInnerVast, newInnerVolt, newEmptyVolt},
		{peerDonburi, newInnerVast, newInnerDonburi, newEmptyDonburi},
		{peerUOT, newInnerVast, newInnerUOT, newEmptyUOT},
		{peerGGECS, newInnerVast, newInnerGGECS, newEmptyGGECS},
	}},
	{name: "query256arch", panel: panelQueries, iterates: true, extras: outerExtras, matches: []match{
		{peerArk, newOuterVast, newOuterArk, newEmptyArk},
		{peerArkTables, newOuterVast, newOuterArkTables, newEmptyArkTables},
		{peerArche, newOuterVast, newOuterArche, newEmptyArche},
		{peerVolt, newOuterVast, newOuterVolt, newEmptyVolt},
		{peerDonburi, newOuterVast, newOuterDonburi, newEmptyDonburi},
		{peerUOT, newOuterVast, newOuterUOT, newEmptyUOT},
		{peerGGECS, newOuterVast, newOuterGGECS, newEmptyGGECS},
	}},
	{name: "sparse_added", panel: panelQueries, iterates: true, sizes: sparseSizes,
		matches: append(sparseMatches(false), match{
			peerSelf, newSparseVast(false, nil), newSparseVast(true, nil), newEmptyVast,
		})},
	{name: "sparse_born", panel: panelQueries, iterates: true, sizes: sparseSizes,
		matches: sparseMatches(true)},
	{name: "query2comp_slots", iterates: true, matches: []match{
		{peerArk, newQueryVastBy(moveVastSlots), newQueryArk, newEmptyArk},
		{peerSelf, newQueryVastBy(moveVastSlots), newQueryVast, newEmptyVast},
	}},
	{name: "query2comp_all", iterates: true, matches: []match{
		{peerArk, newQueryVastBy(moveVastAll), newQueryArk, newEmptyArk},
	}},
	{name: "query7comp_slots", iterates: true, sizes: longSizes, extras: sevenExtras, matches: []match{
		{peerArk, newSeven, newSevenArk, newEmptyArk},
	}},
	{name: "sparse_added_slots", iterates: true, sizes: sparseSizes, matches: []match{
		{peerArk, newSparseVast(false, moveVastSlots), newSparseArk(false, moveArk), newEmptyArk},
	}},
	{name: "sparse_regrouped", iterates: true, sizes: sparseSizes, matches: []match{
		{peerArk, newRegroupedVast, newSparseArk(false, moveArk), newEmptyArk},
	}},
	{name: "churned2", iterates: true, sizes: churnedSizes, extras: churnedExtras, matches: []match{
		{peerArk, newChurnedVast(false), newChurnedArk, newEmptyArk},
	}},
	{name: "churned7", iterates: true, sizes: churnedSizes, extras: 8, matches: []match{
		{peerArk, newChurnedSevenVast(false), newChurnedSevenArk, newEmptyArk},
	}},
	{name: "packed2", iterates: true, sizes: churnedSizes, extras: churnedExtras, matches: []match{
		{peerArk, newChurnedVast(true), newChurnedArk, newEmptyArk},
	}},
	{name: "packed7", iterates: true, sizes: churnedSizes, extras: 8, matches: []match{
		{peerArk, newChurnedSevenVast(true), newChurnedSevenArk, newEmptyArk},
	}},
	{name: "without", iterates: true, extras: withoutExtras, matches: []match{
		{peerSelf, newVastWithoutC1, newVastWithC2, newEmptyVast},
	}},
	{name: "query_parallel", iterates: true, sizes: []int{16_000, 256_000, 1_000_000}, minN: 64,
		matches: []match{
			{peerSelf, newParallelVast(moveVastParallel), newParallelVast(moveVastSerial), newEmptyVast},
			{peerVolt, newParallelVast(moveVastParallel), newParallelVolt, newEmptyVolt},
			{peerUOT, newParallelVast(moveVastParallel), newParallelUOT, newEmptyUOT},
		}},
	{name: "hierarchy", panel: panelQueries, extras: hierarchyExtras, matches: []match{
		{peerArk, newHierarchyVast, newHierarchyArk, newEmptyArk},
	}},
	{name: "hierarchy_join", extras: joinExtras, matches: joinMatches(scattered)},
	{name: "hierarchy_join_born", extras: joinExtras, matches: joinMatches(parentByParent)},
	{name: "group_by", extras: groupExtras, matches: groupMatches(anyTeam, false)},
	{name: "group_by_regrouped", extras: groupExtras, matches: groupMatches(anyTeam, true)},
	{name: "group_by_born", extras: groupExtras, matches: groupMatches(teamByTeam, true)},
	{name: "random", panel: panelEdits, matches: []match{
		{peerArk, newRandomVast, newRandomArk, newEmptyArk},
		{peerArche, newRandomVast, newRandomArche, newEmptyArche},
		{peerVolt, newRandomVast, newRandomVolt, newEmptyVolt},
		{peerDonburi, newRandomVast, newRandomDonburi, newEmptyDonburi},
		{peerUOT, newRandomVast, newRandomUOT, newEmptyUOT},
		{peerGGECS, newRandomVast, newRandomGGECS, newEmptyGGECS},
	}},
	{name: "add_remove", panel: panelEdits, extras: smallExtras,
		matches: slices.Concat(addRemoveMatches(smallExtras, 1), addRemoveBatches(smallExtras))},
	{name: "add_remove_large", panel: panelEdits, extras: largeExtras,
		matches: slices.Concat(addRemoveMatches(largeExtras, 1), addRemoveBatches(largeExtras))},
	{name: "toggle", panel: panelEdits, extras: smallExtras,
		matches: addRemoveMatches(smallExtras, toggledEvery)},
	{name: "observe", extras: smallExtras, matches: []match{
		{peerArk, newObserveVast, newObserveArk, newEmptyArk},
	}},
	{name: "events", matches: []match{
		{peerArk, newEventsVast, newEventsArk, newEmptyArk},
		{peerSlice, newEventsVast, newEventsSlice, newEmptySlice},
		{peerDonburi, newEventsVast, newEventsDonburi, newEmptyDonburi},
	}},
	{name: "create2comp", panel: panelCreates, matches: createMatches(twoParts)},
	{name: "create2comp_alloc", panel: panelCreates, matches: []match{
		{peerArk, newAllocVast(createVast), newAllocArk(createArk), newEmptyArk},
		{peerArkBatch, newAllocVast(createVastBatch), newAllocArk(createArkBatch), newEmptyArkTables},
		{peerArche, newAllocVast(createVast), newAllocArche(createArche), newEmptyArche},
		{peerArcheBatch, newAllocVast(createVastBatch), newAllocArche(createArcheBatch), newEmptyArche},
		{peerVolt, newAllocVast(createVast), newAllocVolt, newEmptyVolt},
		{peerDonburi, newAllocVast(createVast), newAllocDonburi(createDonburi), newEmptyDonburi},
		{peerDonburiBatch, newAllocVast(createVastBatch), newAllocDonburi(createDonburiBatch),
			newEmptyDonburi},
		{peerUOT, newAllocVast(createVast), newAllocUOT, newEmptyUOT},
		{peerGGECS, newAllocVast(createVast), newAllocGGECS, newEmptyGGECS},
	}},
	{name: "create10comp", panel: panelCreates, extras: tenParts - twoParts,
		matches: createMatches(tenParts)},
	{name: "clone2comp", matches: cloneMatches(twoParts)},
	{name: "clone10comp", extras: tenParts - twoParts, matches: cloneMatches(tenParts)},
	{name: "clone_tree", sizes: treeSizes, minN: treeSize, matches: []match{
		{peerArk, newTreeVast(cloneTreesVast), newTreeArk, newEmptyArk},
		{peerSelf, newTreeVast(cloneTreesVastN), newTreeVast(cloneTreesVast), newEmptyVast},
	}},
	{name: "prefab2comp", matches: []match{
		{peerArkBatch, newPrefabVast(twoParts), newPrefabArk(twoParts), newEmptyArkTables},
	}},
	{name: "prefab10comp", extras: tenParts - twoParts, matches: []match{
		{peerArkBatch, newPrefabVast(tenParts), newPrefabArk(tenParts), newEmptyArkTables},
	}},
	{name: "delete2comp", panel: panelDeletes, matches: deleteMatches(twoParts)},
	{name: "delete10comp", panel: panelDeletes, extras: tenParts - twoParts,
		matches: deleteMatches(tenParts)},
	{name: "memory2comp", bytes: true, sizes: []int{256_000, 1_000_000}, outside: memory(twoParts),
		matches: outsideMatches(peerSlice, peerArk, peerArche, peerVolt, peerDonburi, peerUOT, peerGGECS)},
	{name: "memory10comp", bytes: true, sizes: []int{256_000, 1_000_000}, outside: memory(tenParts),
		matches: outsideMatches(peerSlice, peerArk, peerArche, peerVolt, peerDonburi, peerUOT, peerGGECS)},
	{name: "gc_cycle", sizes: []int{10_000_000},
		outside: collector(func(c collection) time.Duration { return c.wall }),
		matches: outsideMatches(peerSlice, peerArk, peerArche, peerUOT)},
	{name: "gc_cpu", sizes: []int{10_000_000},
		outside: collector(func(c collection) time.Duration { return c.processor }),
		matches: outsideMatches(peerSlice, peerArk, peerArche, peerUOT)},
	{name: "gc_pause", sizes: []int{10_000_000},
		outside: collector(func(c collection) time.Duration { return c.stopped }),
		matches: outsideMatches(peerSlice, peerArk, peerArche, peerUOT)},
	{name: "new_world", single: true, matches: []match{
		{peerArk, worldsSide(makeVast), worldsSide(makeArk), newEmptyArk},
		{peerArche, worldsSide(makeVast), worldsSide(makeArche), newEmptyArche},
		{peerVolt, worldsSide(makeVast), worldsSide(makeVolt), newEmptyVolt},
		{peerDonburi, worldsSide(makeVast), worldsSide(makeDonburi), newEmptyDonburi},
		{peerUOT, worldsSide(makeVast), worldsSide(makeUOT), newEmptyUOT},
		{peerGGECS, worldsSide(makeVast), worldsSide(makeGGECS), newEmptyGGECS},
	}},
	{name: "first_entity", single: true, matches: []match{
		{peerArk, worldsSide(makeFirstVast), worldsSide(makeFirstArk), newEmptyArk},
	}},
	{name: "small_world", sizes: []int{100}, matches: []match{
		{peerArk, smallSide(makeSmallVast), smallSide(makeSmallArk), newEmptyArk},
	}},
	{name: "save", group: groupStore, sizes: []int{1_000_000}, matches: []match{
		{peerFile, newSaveVast, newSaveFile, nil},
		{peerGob, newSaveVast, newSaveGob, nil},
	}},
	{name: "load", group: groupStore, sizes: []int{1_000_000}, matches: []match{
		{peerFile, newLoadVast, newLoadFile, nil},
		{peerGob, newLoadVast, newLoadGob, nil},
	}},
	{name: "record", group: groupStore, sizes: []int{1, 64}, matches: []match{
		{peerBolt, newRecordVast, newRecordBolt, nil},
	}},
	{name: "replay", group: groupStore, sizes: []int{1_000_000}, matches: []match{
		{peerSelf, newReplayVast, newReplayTicks, nil},
	}},
	{name: "pause-cold", group: groupStore, sizes: []int{16_000_000}, matches: []match{
		{peerCopy, newPauseColdVast, newPauseColdCopy, nil},
	}},
	{name: "pause-spread", group: groupStore, sizes: []int{1_000_000}, matches: []match{
		{peerCopy, newPauseSpreadVast, newPauseSpreadCopy, nil},
	}},
	{name: "open-at", group: groupStore, sizes: []int{16_000_000}, matches: []match{
		{peerSelf, newOpenAtVast, newOpenAtLoad, nil},
	}},
	{name: "bytes-written", group: groupStore, bytes: true, sizes: []int{1_600_000}, matches: []match{
		{peerBytes, newBytesWritten, newDirtyBytes, nil},
	}},
	{name: "bytes-on-disk", group: groupStore, bytes: true, sizes: []int{1_600_000}, matches: []match{
		{peerBytes, newBytesOnDisk, newLiveBytes, nil},
	}},
	{name: "earth", group: groupStore, sizes: []int{1_000_000}, matches: earthMatches(partLater)},
	{name: "earth-opened", group: groupStore, sizes: []int{1_000_000}, matches: earthMatches(partOpened)},
}

// groupStore is the name for -work that selects all works of package store.
const groupStore = "store"

// longSizes are the sizes of query7comp_slots. Each fills at least one word of 64 slots.
var longSizes = []int{64, 1024, 16_000, 256_000, 1_000_000}

// sparseSizes are the sizes of the sparse works. With 1, 4 or 16 entities, only one entity would match.
var sparseSizes = []int{64, 256, 1024, 16_000, 256_000, 1_000_000}

func sparseMatches(born bool) []match {
	ours := newSparseVast(born, nil)
	return []match{
		{peerArk, ours, newSparseArk(born, moveArk), newEmptyArk},
		{peerArkTables, ours, newSparseArk(born, moveArkTables), newEmptyArkTables},
		{peerArche, ours, newSparseArche(born), newEmptyArche},
		{peerVolt, ours, newSparseVolt(born), newEmptyVolt},
		{peerDonburi, ours, newSparseDonburi(born), newEmptyDonburi},
		{peerUOT, ours, newSparseUOT(born), newEmptyUOT},
		{peerGGECS, ours, newSparseGGECS(born), newEmptyGGECS},
	}
}

// addRemoveMatches lists the sides that edit the entities with the numbers 0, stride, 2·stride and so on.
// extras is the number of components of an entity besides Position: C1, C2 and so on.
func addRemoveMatches(extras, stride int) []match {
	ours := newAddRemoveVast(extras, stride, addRemoveVast)
	return []match{
		{peerArk, ours, newAddRemoveArk(extras, stride, addRemoveArk), newEmptyArk},
		{peerArche, ours, newAddRemoveArche(extras, stride, addRemoveArche), newEmptyArche},
		{peerVolt, ours, newAddRemoveVolt(extras, stride), newEmptyVolt},
		{peerDonburi, ours, newAddRemoveDonburi(extras, stride), newEmptyDonburi},
		{peerUOT, ours, newAddRemoveUOT(extras, stride), newEmptyUOT},
		{peerGGECS, ours, newAddRemoveGGECS(extras, stride), newEmptyGGECS},
	}
}

// addRemoveBatches lists the sides that add a component to all entities with one call, and remove the
// component with another call.
func addRemoveBatches(extras int) []match {
	ours := newAddRemoveVast(extras, 1, addRemoveVastBatch)
	return []match{
		{peerArkBatch, ours, newAddRemoveArk(extras, 1, addRemoveArkBatch), newEmptyArkTables},
		{peerArcheBatch, ours, newAddRemoveArche(extras, 1, addRemoveArcheBatch), newEmptyArche},
	}
}

func createMatches(parts int) []match {
	one, batch := newCreateVast(parts), newCreateVastBatch(parts)
	return []match{
		{peerArk, one, newCreateArk(parts), newEmptyArk},
		{peerArkBatch, batch, newCreateArkBatch(parts), newEmptyArkTables},
		{peerArche, one, newCreateArche(parts), newEmptyArche},
		{peerArcheBatch, batch, newCreateArcheBatch(parts), newEmptyArche},
		{peerVolt, one, newCreateVolt(parts), newEmptyVolt},
		{peerDonburi, one, newCreateDonburi(parts, createDonburi), newEmptyDonburi},
		{peerDonburiBatch, batch, newCreateDonburi(parts, createDonburiBatch), newEmptyDonburi},
		{peerUOT, one, newCreateUOT(parts), newEmptyUOT},
		{peerGGECS, one, newCreateGGECS(parts), newEmptyGGECS},
	}
}

func deleteMatches(parts int) []match {
	one, batch := newDeleteVast(parts, deleteVast), newDeleteVast(parts, deleteVastBatch)
	return []match{
		{peerArk, one, newDeleteArk(parts, deleteArk), newEmptyArk},
		{peerArkBatch, batch, newDeleteArk(parts, deleteArkBatch), newEmptyArkTables},
		{peerArche, one, newDeleteArche(parts, deleteArche), newEmptyArche},
		{peerArcheBatch, batch, newDeleteArche(parts, deleteArcheBatch), newEmptyArche},
		{peerVolt, one, newDeleteVolt(parts), newEmptyVolt},
		{peerDonburi, one, newDeleteDonburi(parts), newEmptyDonburi},
		{peerUOT, one, newDeleteUOT(parts), newEmptyUOT},
		{peerGGECS, one, newDeleteGGECS(parts), newEmptyGGECS},
	}
}

func workNames() []string {
	var names []string
	for i := range workloads {
		names = append(names, workloads[i].name)
	}
	return append(names, groupStore)
}

// isIn reports whether a list has the name of the workload or of its group.
func (w *workload) isIn(names []string) bool {
	return slices.Contains(names, w.name) || w.group != "" && slices.Contains(names, w.group)
}

// The panels of the chart.
const (
	panelQueries = "Iterating"
	panelEdits   = "Looking up and editing"
	panelCreates = "Creating"
	panelDeletes = "Deleting"
)
