package useafter

import (
	"slices"
	"strings"

	"github.com/vastgo/vast/cmd/vastvet/internal/lib"
)

// needsOpen lists, for each type, the methods that panic after Close of the value or of its owner. All other
// methods, such as Close, stay allowed.
var needsOpen = map[string][]string{
	"arena.Arena": words("Alloc Grow Mark Release Reset"),
	"bulk.Array":  words("Append AppendN At Grow Slice Truncate"),
	"bulk.Dense": words("All Clear Get Grow HandleAt Index Insert InsertZero Remove Runs Slice " +
		"Trim Valid"),
	"bulk.HashIndex": words("Add All Clear Contains Count First Grow Has Remove RemoveAll Trim Values"),
	"bulk.Lists": words("All Append AppendSlice At Clear Compact Free Grow Insert Remove RemoveSwap Slice " +
		"Stats Truncate Valid"),
	"bulk.OrderedIndex": words("Add All Clear Contains Count Descend First From Grow Has Max Min Range " +
		"Remove RemoveAll Runs Trim Values"),
	"bulk.Pool":         words("All Clear Get Grow Insert InsertZero Remove Runs Trim Valid"),
	"bulk.SharedArray":  words("Append AppendSlice Appender At Grow Slice"),
	"bulk.SharedPool":   words("All Clear Get Grow Insert Inserter Load Remove Runs Valid"),
	"bulk.SharedReader": words("All Enter Get Leave Load"),
	"bulk.SharedTable":  words("GrowEntries Reader Writer"),
	"bulk.SharedWriter": words("Grow Remove Set Update"),
	"bulk.Table":        words("Append AppendN Blocks Clear Grow PaddedBlocks RemoveSwap Truncate"),
	"event.Queue":       words("All Grow Len NewReader Of Resource Trim"),
	"event.Reader":      words("Len Next"),
	"group.Group":       words("Query"), // running the query panics
	"guard.Allocator":   words("Alloc Check Free"),
	"guard.Pool":        words("All Check Clear Get Grow Insert InsertZero Remove Runs Trim Valid"),
	"guard.SampledPool": words("All Check Clear Get Grow Insert InsertZero Remove Runs Trim Valid"),
	"heap.Buffer":       words("Append AppendN At Grow Truncate"),
	"heap.Heap":         words("Alloc Realloc SizeOf Trim"),
	"observe.Monitor":   words("Entered Left Next Notes"),
	"observe.Observers": words("Add Notes Run"),
	"ring.Endless":      words("Append At Commit ReadAt ReadFrom Release Reserve Write"),
	"sched.Schedule": words("Add Build ConfigureSet Disable DropCommands Enable GrowCommandBytes Remove " +
		"Reset Run RunOnce RunTicks Tick"),
	"vast.Commands": words("Delete GrowBytes New Trim"),
	"vast.Tracker":  words("Added Changed Next Removed"),
	"vast.World": words("Apply Archetype Clone CloneN DeleteAll Exchange Names OnMove Query Regroup " +
		"Require Reset Trim"),
	"vm.Region": words("Carve CarvePrivate Collapse Commit Decommit Discard Huge Label MovePages " +
		"Populate Protect"),

	// Types of values that belong to another container.
	"bulk.Appender": words("Flush"),
	"bulk.Field":    words("At Safe Slice"),
	"bulk.Indexed":  words("Clear Grow Insert Remove Update"),

	// Types of values that belong to a world.
	"prefab.Prefabs":  words("Differs Mark Revert"),
	"prefab.Template": words("Apply Instantiate InstantiateN Override"),
	"vast.Archetype":  words("Grow New NewEach NewN NewSlot Pack"),
	"vast.Column": words("Add AddAll AddLater At EditAt EditOrAdd EditRun Grow Named OnAdd OnRemove " +
		"RemoveAll RemoveLater SetAll SetLater Slice"),
	"vast.Disabled": words("Add AddAll AddLater Disable DisableAt DisableRun EnableAt EnableRun Grow OnAdd " +
		"OnRemove RemoveAll RemoveLater"),
	"vast.Edges": words("Add AddLater Grow RemoveLater"),
	"vast.HeapColumn": words("Add AddAll AddLater At EditAt EditOrAdd Grow Named OnAdd OnRemove RemoveAll " +
		"RemoveLater SetAll SetLater"),
	"vast.Names": words("Set SetLater"),
	"vast.Order": words("Ascending Descending"),
	"vast.Query": words("All Among Any Batches Between Changed Count Exactly First Optional Runs " +
		"Plan Single Slots To Up Where Without Words"),
	"vast.Relation": words("GrowLevels InDepthOrder Nearest OnAdd OnRemove Pairs RemoveAll RemoveLater " +
		"Set SetAll SetLater SetRun Targets"),
	"vast.SparseColumn": words("Add AddAll AddLater All At EditAt EditOrAdd Grow Named OnAdd OnRemove " +
		"RemoveAll RemoveLater SetAll SetLater"),
	"vast.Tag": words("Add AddAll AddLater Grow OnAdd OnRemove RemoveAll RemoveLater"),
}

// closes lists the types whose methods do not panic after Close, although Close releases their memory.
var closes = words("ring.Ring vm.Mirror")

// unsure lists the functions that close or free nothing if they return an error.
var unsure = words("guard.Allocator.Close heap.Heap.Realloc heap.Resize ring.Endless.Close " +
	"vm.Mirror.Close vm.Region.Close")

// callbacks lists the functions of worlds, templates, observers and schedules that run functions of the
// program, such as hooks and systems, and the functions of rings that wait for another goroutine. A loop over
// NewEach runs hooks.
var callbacks = words("Add AddAll AddValue Admit Apply Delete DeleteAll EditOrAdd Exchange Instantiate " +
	"InstantiateN Mark New NewEach NewN NewSlot Override Pack Peek PeekContext Read ReadByte ReadFrom " +
	"Regroup Remove RemoveAll RemoveTargets RemoveValue Reserve ReserveContext Reset Run RunTicks Set " +
	"SetAll SetRun SetValue Step Tick Visit Write WriteByte WriteTo")

// returned holds the functions that return memory or parts. The owner of the result is the method's receiver
// or the function's first argument. Memory becomes bad, that is invalid, when its owner releases it. Parts,
// such as the queries of a world, are closed together with their owner.
var returned = map[string]result{}

type result struct {
	number int  // index among the results of the function
	part   bool // whether the result is a part, not memory
}

// ends lists the methods that make all memory of their receiver bad.
var ends = words("arena.Arena.Reset bulk.Dense.Clear bulk.Lists.Clear bulk.Pool.Clear " +
	"bulk.SharedPool.Clear bulk.SharedReader.Leave bulk.Table.Clear guard.Pool.Clear " +
	"guard.SampledPool.Clear ring.Ring.Commit vast.World.Regroup vast.World.Reset")

// truncates lists the methods that make all memory of their receiver bad if their argument is 0.
var truncates = words("bulk.Array.Truncate bulk.Table.Truncate heap.Buffer.Truncate")

// frees lists the functions that free the memory in their last argument.
var frees = words("guard.Allocator.Free guard.Free guard.FreeSlice heap.Free heap.FreeSlice heap.Heap.Free")

// removes lists the methods that remove the element, list or entity in their argument.
var removes = words("bulk.Lists.Free bulk.Pool.Remove bulk.SharedPool.Remove guard.Pool.Remove " +
	"guard.SampledPool.Remove vast.World.Delete")

// keyed lists the types whose methods return the memory of the handle, list or entity in the first argument.
var keyed = words("bulk.Lists bulk.Pool bulk.SharedPool guard.Pool guard.SampledPool vast.Column " +
	"vast.SparseColumn")

// uses lists the functions that panic if their first argument is closed.
var uses = words("arena.Append arena.Make arena.MakeSlice bulk.NewField event.New guard.Alloc " +
	"guard.AllocSlice guard.Make guard.MakeSlice heap.Alloc heap.AllocSlice heap.Grow heap.Make " +
	"heap.MakeSlice heap.Resize sched.NewJobs vast.ColumnOf vast.NewColumn vast.NewCommands vast.NewEdges " +
	"vast.NewHeapColumn vast.NewRelation vast.NewSparseColumn vast.NewTag vast.NewTracker " +
	"vast.RemoveResource vast.Resource vast.SetResource")

func init() {
	for f, number := range lib.Memory {
		returned[f] = result{number: number}
	}
	for _, f := range uses {
		if _, memory := lib.Memory[f]; !memory {
			returned[f] = result{part: true}
		}
	}
	for _, f := range words(mark + " bulk.NewIndexed bulk.SharedArray.Appender bulk.SharedTable.Reader " +
		"bulk.SharedTable.Writer event.Queue.NewReader group.Group.Query group.New heap.NewBuffer " +
		"prefab.New prefab.Prefabs.Mark prefab.Template.Override vast.NewOrder vast.Query.Among " +
		"vast.Query.Any vast.Query.Between vast.Query.Changed vast.Query.Exactly vast.Query.Optional " +
		"vast.Query.To vast.Query.Up vast.Query.Where vast.Query.Without vast.World.Archetype " +
		"vast.World.Names vast.World.Query") {
		returned[f] = result{part: true}
	}
}

func words(s string) []string { return strings.Fields(s) }

func in(list []string, s string) bool { return slices.Contains(list, s) }
