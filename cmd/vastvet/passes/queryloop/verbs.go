package queryloop

import (
	"go/ast"
	"slices"

	"github.com/vastgo/vast/cmd/vastvet/internal/lib"
	"github.com/vastgo/vast/cmd/vastvet/internal/trace"
)

// loops lists functions that return iterators over entities of a world. A loop over these iterators must not
// change the structure of the world.
var loops = map[string]bool{
	"probe.AnyEdges.Sources":     true,
	"probe.AnyEdges.Targets":     true,
	"probe.Extents":              true,
	"shared.Column.GroupBy":      true,
	"shared.GroupByTarget":       true,
	"vast.Batch.All":             true,
	"vast.Batch.Runs":            true,
	"vast.Batch.Slots":           true,
	"vast.Edges.Sources":         true,
	"vast.Edges.Targets":         true,
	"vast.Order.Ascending":       true,
	"vast.Order.Descending":      true,
	"vast.Query.All":             true,
	"vast.Query.Batches":         true,
	"vast.Query.Runs":            true,
	"vast.Query.Slots":           true,
	"vast.Query.Words":           true,
	"vast.Relation.Ancestors":    true,
	"vast.Relation.Descendants":  true,
	"vast.Relation.InDepthOrder": true,
	"vast.Relation.Pairs":        true,
	"vast.Relation.Sources":      true,
	"vast.Relation.SourcesAfter": true,
	"vast.SparseColumn.All":      true,
	"vast.Tracker.Added":         true,
	"vast.Tracker.Changed":       true,
	"vast.Tracker.Removed":       true,
}

// verb describes a function that changes the structure of a world.
type verb struct {
	entity int    // index of the entity among the arguments, or -1
	adds   bool   // whether the function changes no structure if the entity already has the component
	later  string // method that records the change in Commands, or empty
}

var verbs = map[string]verb{
	"group.Group.Close":            {entity: -1},
	"group.New":                    {entity: -1},
	"prefab.Prefabs.Mark":          {},
	"prefab.Template.Instantiate":  {entity: -1},
	"prefab.Template.InstantiateN": {entity: -1},
	"prefab.Template.Override":     {entity: -1},
	"probe.AddValue":               {entity: 1, adds: true},
	"probe.RemoveValue":            {entity: 1},
	"vast.Archetype.New":           {entity: -1, later: "Commands.New"},
	"vast.Archetype.NewEach":       {entity: -1},
	"vast.Archetype.NewN":          {entity: -1},
	"vast.Archetype.NewSlot":       {entity: -1},
	"vast.Archetype.Pack":          {entity: -1},
	"vast.Edges.Add":               {adds: true, later: "AddLater"},
	"vast.Edges.Remove":            {later: "RemoveLater"},
	"vast.Edges.RemoveTargets":     {},
	"vast.Names.Remove":            {},
	"vast.Names.Set":               {adds: true, later: "SetLater"},
	"vast.Relation.Remove":         {later: "RemoveLater"},
	"vast.Relation.RemoveAll":      {entity: -1},
	"vast.Relation.Set":            {later: "SetLater"},
	"vast.Relation.SetAll":         {entity: -1},
	"vast.Relation.SetRun":         {entity: -1},
	"vast.Tracker.Close":           {entity: -1},
	"vast.World.Apply":             {entity: -1},
	"vast.World.Clone":             {entity: -1},
	"vast.World.CloneN":            {entity: -1},
	"vast.World.Close":             {entity: -1},
	"vast.World.Delete":            {later: "Commands.Delete"},
	"vast.World.DeleteAll":         {entity: -1},
	"vast.World.Exchange":          {entity: -1},
	"vast.World.Regroup":           {entity: -1},
	"vast.World.Reset":             {entity: -1},
	"vast.NewTracker":              {entity: -1},
}

func init() {
	for _, column := range []string{"shared.Column", "vast.Column", "vast.HeapColumn", "vast.SparseColumn",
		"vast.Tag"} {
		verbs[column+".Add"] = verb{adds: true, later: "AddLater"}
		verbs[column+".EditOrAdd"] = verb{adds: true}
		verbs[column+".AddAll"] = verb{entity: -1, adds: true}
		verbs[column+".Remove"] = verb{later: "RemoveLater"}
		verbs[column+".RemoveAll"] = verb{entity: -1}
	}
}

// named holds the columns that a query names.
type named struct {
	included []ast.Expr // all columns except those of Without; an entity may lack columns of Any and Optional
	excluded []ast.Expr // the columns of Without
	complete bool       // whether both lists are complete
}

// columns returns the columns that a query names. A SparseColumn counts as a query that names only itself.
func columns(values *trace.Values, query ast.Expr) (n named) {
	if lib.TypeName(values.Info.TypeOf(query)) == "vast.SparseColumn" {
		return named{included: []ast.Expr{query}, complete: true}
	}
	call, ok := values.Only(query).Expr.(*ast.CallExpr)
	if !ok || call.Ellipsis.IsValid() {
		return named{}
	}
	switch lib.Callee(values.Info, call) {
	case "vast.World.Query":
		return named{included: call.Args, complete: true}
	case "vast.Query.Without":
		n = columns(values, lib.Receiver(call))
		n.excluded = slices.Concat(n.excluded, call.Args)
	case "vast.Query.Any", "vast.Query.Optional", "vast.Query.Changed":
		n = columns(values, lib.Receiver(call))
		n.included = slices.Concat(n.included, call.Args)
	case "vast.Query.To", "vast.Query.Up", "vast.Query.Where":
		n = columns(values, lib.Receiver(call))
		n.included = append(slices.Clip(n.included), call.Args[0])
	case "shared.Column.Where":
		n = columns(values, call.Args[0])
		n.included = append(slices.Clip(n.included), lib.Receiver(call))
	case "group.Group.Query":
		if made, ok := values.Only(lib.Receiver(call)).Expr.(*ast.CallExpr); ok &&
			lib.Callee(values.Info, made) == "group.New" {
			return columns(values, made.Args[0])
		}
	case "vast.Query.Exactly", "vast.Query.Among", "vast.Query.Between":
		n = columns(values, lib.Receiver(call))
	}
	return n
}
