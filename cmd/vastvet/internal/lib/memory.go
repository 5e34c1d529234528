package lib

import "strings"

// Memory holds the functions and methods that return a pointer or a slice to memory outside of Go's heap. It
// maps the name of the function, in the form of [Callee], to the index of this result.
var Memory = map[string]int{}

func init() {
	add := func(result int, table map[string]string) {
		for of, functions := range table {
			for f := range strings.FieldsSeq(functions) {
				Memory[of+"."+f] = result
			}
		}
	}
	add(0, map[string]string{
		"arena":             "Append Make MakeSlice",
		"arena.Arena":       "Alloc",
		"bulk.Array":        "Append AppendN At Slice",
		"bulk.Dense":        "Get Slice",
		"bulk.Field":        "At Slice",
		"bulk.Lists":        "Append AppendSlice At Insert Slice",
		"bulk.Pool":         "Get",
		"bulk.SharedArray":  "At Slice",
		"bulk.SharedPool":   "Get",
		"bulk.SharedReader": "Get",
		"guard":             "Alloc AllocSlice Make MakeSlice",
		"guard.Allocator":   "Alloc",
		"guard.Pool":        "Get",
		"guard.SampledPool": "Get",
		"heap":              "Alloc AllocSlice Make MakeSlice Resize",
		"heap.Buffer":       "AppendN At Slice",
		"heap.Heap":         "Alloc Realloc",
		"ring.Endless":      "At Reserve",
		"ring.Ring":         "Peek Reserve",
		"vast.Column":       "Add At Edit EditAt EditOrAdd EditRun Get Slice TryAt TrySlice",
		"vast.Edges":        "Add Get",
		"vast.SparseColumn": "Add At Edit EditAt EditOrAdd Get TryAt",
		"vm":                "Static",
		"vm.Mirror":         "Base",
		"vm.Region":         "Base",
		"vm.Seam":           "Base",
		"vm.Span":           "Base",
	})
	add(1, map[string]string{
		"bulk.Dense":        "Insert InsertZero",
		"bulk.Pool":         "Insert InsertZero",
		"bulk.SharedArray":  "Append AppendSlice",
		"bulk.SharedPool":   "Insert",
		"guard.Pool":        "Insert InsertZero",
		"guard.SampledPool": "Insert InsertZero",
	})
}
