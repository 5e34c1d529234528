package useafter

import (
	"slices"
	"strings"
)

// needsOpen are the methods that panic once Close was called, by type. The others, such as Len and Close itself, may be
// called.
var needsOpen = map[string][]string{
	"arena.Arena":       words("Alloc Grow Mark Release Reset"),
	"bulk.Array":        words("Append AppendN At Grow Slice Truncate"),
	"bulk.Dense":        words("All Clear Get Grow HandleAt Index Insert Remove Runs Slice Trim Valid"),
	"bulk.HashIndex":    words("Add All Clear Contains Count First Grow Has Pairs Remove RemoveAll Trim"),
	"bulk.Lists":        words("All Append AppendSlice At Clear Compact Free Grow Insert Len Remove RemoveSwap Slice Stats Truncate Valid"),
	"bulk.OrderedIndex": words("Add All Ascend Clear Contains Count Descend First From Grow Has Max Min Range Remove RemoveAll Runs Trim"),
	"bulk.Pool":         words("All Clear Get Grow Insert Remove Runs Trim Valid"),
	"bulk.SharedArray":  words("Append AppendSlice Appender At Grow Slice"),
	"bulk.SharedPool":   words("All Clear Get Grow Insert Inserter Load Remove Runs Valid"),
	"bulk.SharedReader": words("All Enter Get Leave Load"),
	"bulk.SharedTable":  words("Grow Reader Writer"),
	"bulk.SharedWriter": words("Grow Set"),
	"bulk.Table":        words("Append AppendN Blocks Clear Grow PaddedBlocks RemoveSwap Truncate"),
	"guard.Allocator":   words("Alloc Check Free"),
	"guard.Pool":        words("All Check Clear Get Grow Insert Remove Runs Trim Valid"),
	"guard.SampledPool": words("All Check Clear Get Grow Insert Remove Runs Trim Valid"),
	"heap.Buffer":       words("Append AppendN At Grow Truncate"),
	"heap.Heap":         words("Alloc Realloc SizeOf"),
	"sched.Schedule":    words("Add Build GrowCommands Run Tick"),
	"vast.Commands":     words("Delete Grow New Trim"),
	"vast.Tracker":      words("Added Changed Next Removed"),
	"vast.World":        words("Apply Archetype DeleteAll Exchange NewCommands NewCommandsWith Query Reset Track Trim"),
	"vm.Region":         words("Carve Collapse Commit Decommit Discard Huge Populate Protect"),

	// What is made from a world is of no use without it.
	"vast.Archetype":    words("Grow New NewN"),
	"vast.Column":       words("Add AddAll Grow RemoveAll SetAll"),
	"vast.HeapColumn":   words("Add AddAll Grow RemoveAll SetAll"),
	"vast.Query":        words("All Any Batches Count Exactly First Optional Runs Single Without Words"),
	"vast.SparseColumn": words("Add AddAll Grow RemoveAll SetAll"),
	"vast.Tag":          words("Add AddAll Grow RemoveAll"),
}

// closes are the types of which Close ends the use, without a method that panics afterwards.
var closes = words("ring.Endless ring.Ring vm.Mirror")

// from says what functions hand out: the method's receiver, or a function's first argument, is the owner of the result with the
// number; memory must not be touched once its owner says so, a part of the owner not be used once that is closed.
var from = map[string]result{}

type result struct {
	number int
	part   bool
}

// ends says which methods make all the memory bad that came from their receiver, in the words of messages.
var ends = map[string]string{
	"arena.Arena.Reset":       "Reset",
	"bulk.Dense.Clear":        "Clear",
	"bulk.Lists.Clear":        "Clear",
	"bulk.Pool.Clear":         "Clear",
	"bulk.SharedReader.Leave": "Leave",
	"guard.Pool.Clear":        "Clear",
	"ring.Ring.Commit":        "Commit",
	"vast.World.Reset":        "Reset",
}

// truncates are the methods that make all the memory bad when their argument is 0.
var truncates = words("bulk.Array.Truncate bulk.Table.Truncate heap.Buffer.Truncate")

// frees are the functions that make their second argument bad.
var frees = words("guard.Free guard.FreeSlice heap.Free heap.FreeSlice")

// uses are the functions that need their first argument open.
var uses = words("arena.Append arena.MakeSlice arena.New bulk.NewField guard.Alloc guard.AllocSlice guard.MakeSlice guard.New " +
	"heap.Alloc heap.AllocSlice heap.Grow heap.MakeSlice heap.New heap.Resize vast.NewColumn vast.NewColumnWith vast.NewEdges " +
	"vast.NewHeapColumn vast.NewHeapColumnWith vast.NewNames vast.NewRelation vast.NewSparseColumn vast.NewSparseColumnWith vast.NewTag")

func init() {
	for of, methods := range map[string]string{
		"arena.Arena":       "Alloc",
		"bulk.Array":        "Append AppendN At Slice",
		"bulk.Dense":        "Get Slice",
		"bulk.Field":        "At Slice",
		"bulk.Lists":        "Append AppendSlice At Insert Slice",
		"bulk.Pool":         "Get",
		"bulk.SharedArray":  "At Slice",
		"bulk.SharedPool":   "Get",
		"bulk.SharedReader": "Get",
		"guard.Allocator":   "Alloc",
		"guard.Pool":        "Get",
		"guard.SampledPool": "Get",
		"heap.Buffer":       "AppendN At Slice",
		"heap.Heap":         "Alloc",
		"ring.Ring":         "Reserve",
		"vast.Column":       "Add Edit EditRun Get Slice TrySlice",
		"vast.SparseColumn": "Add Edit Get",
		"vm.Mirror":         "Base",
		"vm.Region":         "Base",
	} {
		for _, m := range words(methods) {
			from[of+"."+m] = result{}
		}
	}
	for _, f := range words("bulk.Dense.Insert bulk.Pool.Insert bulk.SharedArray.Append bulk.SharedPool.Insert guard.Pool.Insert " +
		"guard.SampledPool.Insert bulk.SharedArray.AppendSlice") {
		from[f] = result{number: 1}
	}
	for _, f := range uses {
		from[f] = result{}
	}
	for _, f := range words("arena.Arena.Mark bulk.NewField bulk.SharedTable.Reader bulk.SharedTable.Writer heap.NewBuffer " +
		"vast.NewColumn vast.NewColumnWith vast.NewHeapColumn vast.NewHeapColumnWith vast.NewSparseColumn vast.NewSparseColumnWith " +
		"vast.NewTag vast.World.Archetype vast.World.NewCommands vast.World.NewCommandsWith vast.World.Query vast.World.Track " +
		"vast.Query.Any vast.Query.Exactly vast.Query.Optional vast.Query.Without") {
		from[f] = result{part: true}
	}
	for _, f := range words("heap.Grow vast.NewEdges vast.NewNames vast.NewRelation") {
		delete(from, f)
	}
}

func words(s string) []string { return strings.Fields(s) }

func in(list []string, s string) bool { return slices.Contains(list, s) }
