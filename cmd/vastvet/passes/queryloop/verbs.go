package queryloop

import (
	"go/ast"
	"go/types"
	"slices"

	"golang.org/x/tools/go/analysis"

	"github.com/vastgo/vast/cmd/vastvet/internal/check"
	"github.com/vastgo/vast/cmd/vastvet/internal/lib"
	"github.com/vastgo/vast/cmd/vastvet/internal/trace"
)

// loops are the functions over whose results a loop may go that must not see the structure change.
var loops = map[string]bool{
	"vast.AnyEdges.In":           true,
	"vast.AnyEdges.Out":          true,
	"vast.Batch.All":             true,
	"vast.Batch.Runs":            true,
	"vast.Edges.In":              true,
	"vast.Edges.Out":             true,
	"vast.Order.All":             true,
	"vast.Order.Descending":      true,
	"vast.Query.All":             true,
	"vast.Query.Batches":         true,
	"vast.Query.Runs":            true,
	"vast.Query.Words":           true,
	"vast.Relation.Ancestors":    true,
	"vast.Relation.Descendants":  true,
	"vast.Relation.InDepthOrder": true,
	"vast.Relation.Sources":      true,
	"vast.Relation.SourcesAfter": true,
	"vast.Tracker.Added":         true,
	"vast.Tracker.Changed":       true,
	"vast.Tracker.Removed":       true,
}

// verb is what changes the structure of a world.
type verb struct {
	entity int  // which argument is the entity; -1 where there is none
	adds   bool // whether it changes nothing where the entity has the component already
	later  string
}

var verbs = map[string]verb{
	"vast.Archetype.New":      {entity: -1, later: "Commands.New"},
	"vast.Archetype.NewN":     {entity: -1},
	"vast.Edges.Add":          {adds: true, later: "AddLater"},
	"vast.Edges.Remove":       {later: "RemoveLater"},
	"vast.Edges.RemoveOut":    {},
	"vast.Names.Remove":       {},
	"vast.Names.Set":          {adds: true},
	"vast.Relation.Remove":    {later: "RemoveLater"},
	"vast.Relation.RemoveAll": {entity: -1},
	"vast.Relation.Set":       {later: "SetLater"},
	"vast.Relation.SetAll":    {entity: -1},
	"vast.Relation.SetRun":    {entity: -1},
	"vast.Tracker.Close":      {entity: -1},
	"vast.World.Apply":        {entity: -1},
	"vast.World.Close":        {entity: -1},
	"vast.World.Delete":       {later: "Commands.Delete"},
	"vast.World.DeleteAll":    {entity: -1},
	"vast.World.Exchange":     {entity: -1},
	"vast.World.Reset":        {entity: -1},
	"vast.World.Track":        {entity: -1},
}

func init() {
	for _, column := range []string{"vast.Column", "vast.HeapColumn", "vast.SparseColumn", "vast.Tag"} {
		verbs[column+".Add"] = verb{adds: true, later: "AddLater"}
		verbs[column+".Remove"] = verb{later: "RemoveLater"}
		verbs[column+".RemoveAll"] = verb{entity: -1}
	}
}

// later returns the edits that record a change in place of making it. There are none where the call's result is used, or no
// Commands are at hand.
func later(p *check.Pass, call *ast.CallExpr, v verb, statement bool) []analysis.TextEdit {
	s, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	commands := commandsAt(p, call)
	if !ok || !statement || v.later == "" || commands == "" {
		return nil
	}
	switch v.later {
	case "Commands.Delete":
		return []analysis.TextEdit{{Pos: s.X.Pos(), End: s.X.End(), NewText: []byte(commands)}}
	case "Commands.New":
		text := commands + ".New(" + types.ExprString(s.X) + ")"
		return []analysis.TextEdit{{Pos: call.Pos(), End: call.End(), NewText: []byte(text)}}
	}
	return []analysis.TextEdit{
		{Pos: s.Sel.Pos(), End: s.Sel.End(), NewText: []byte(v.later)},
		{Pos: call.Lparen + 1, End: call.Lparen + 1, NewText: []byte(commands + ", ")},
	}
}

// commandsAt returns an expression for the Commands that are at hand at a place: the innermost variable that is such, or a
// Context. It is empty where there is none, or more than one in one scope.
func commandsAt(p *check.Pass, at ast.Node) string {
	for scope := p.Pkg.Scope().Innermost(at.Pos()); scope != nil && scope != p.Pkg.Scope(); scope = scope.Parent() {
		var found []string
		for _, name := range scope.Names() {
			x, ok := scope.Lookup(name).(*types.Var)
			if !ok || x.Pos() >= at.Pos() || name == "_" {
				continue
			}
			if _, pointer := types.Unalias(x.Type()).(*types.Pointer); !pointer {
				continue
			}
			switch lib.TypeName(x.Type()) {
			case "vast.Commands":
				found = append(found, name)
			case "sched.Context":
				found = append(found, name+".Commands()")
			}
		}
		if len(found) > 0 {
			if len(found) > 1 {
				return ""
			}
			return found[0]
		}
	}
	return ""
}

// named are the columns that a query asks for, and those that it leaves out; ok reports whether these are known.
type named struct {
	with, without []ast.Expr
	ok            bool
}

// columns returns the columns that a query names.
func columns(values *trace.Values, query ast.Expr) (n named) {
	call, ok := values.Only(query).Expr.(*ast.CallExpr)
	if !ok || call.Ellipsis.IsValid() {
		return named{}
	}
	switch lib.Callee(values.Info, call) {
	case "vast.World.Query":
		return named{with: call.Args, ok: true}
	case "vast.Query.Without":
		n = columns(values, lib.Receiver(call))
		n.without = slices.Concat(n.without, call.Args)
	case "vast.Query.Any", "vast.Query.Optional", "vast.Query.Changed":
		n = columns(values, lib.Receiver(call))
		n.with = slices.Concat(n.with, call.Args)
	case "vast.Query.To":
		n = columns(values, lib.Receiver(call))
		n.with = append(slices.Clip(n.with), call.Args[0])
	case "vast.Query.Exactly", "vast.Query.Among", "vast.Query.Between":
		n = columns(values, lib.Receiver(call))
	}
	return n
}
