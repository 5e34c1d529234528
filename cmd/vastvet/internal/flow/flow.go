// Package flow makes and searches control-flow graphs.
package flow

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/cfg"
	"golang.org/x/tools/go/types/typeutil"
)

// Graph returns the control-flow graph of a function's body.
func Graph(info *types.Info, body *ast.BlockStmt) *cfg.CFG {
	return cfg.New(body, func(call *ast.CallExpr) bool { return mayReturn(info, call) })
}

// mayReturn reports whether a call may return. It returns true for an unknown function.
func mayReturn(info *types.Info, call *ast.CallExpr) bool {
	switch f := typeutil.Callee(info, call).(type) {
	case *types.Builtin:
		return f.Name() != "panic"
	case *types.Func:
		name := f.Name()
		switch path := pathOf(f); path {
		case "os":
			return name != "Exit"
		case "runtime":
			return name != "Goexit"
		case "log":
			return !strings.HasPrefix(name, "Fatal") && !strings.HasPrefix(name, "Panic")
		case "testing":
			return !strings.HasPrefix(name, "Fatal") && !strings.HasPrefix(name, "Skip") &&
				name != "FailNow" || name == "Skipped"
		}
	}
	return true
}

func pathOf(f *types.Func) string {
	if f.Pkg() == nil {
		return ""
	}
	return f.Pkg().Path()
}

// Find returns the block that contains the node n, and the index in block.Nodes of the part that contains n.
// It returns nil if no block contains the node, as with a for statement.
func Find(g *cfg.CFG, n ast.Node) (*cfg.Block, int) {
	for _, b := range g.Blocks {
		for i, part := range b.Nodes {
			if part.Pos() <= n.Pos() && n.End() <= part.End() {
				return b, i
			}
		}
	}
	return nil, 0
}

// Reaches reports whether a path leads from a start block to a goal. A path ends at a barrier.
func Reaches(start []*cfg.Block, goal, barrier func(*cfg.Block) bool) bool {
	seen := map[*cfg.Block]bool{}
	var walk func(*cfg.Block) bool
	walk = func(b *cfg.Block) bool {
		if seen[b] {
			return false
		}
		seen[b] = true
		if goal(b) {
			return true
		}
		return !barrier(b) && slices.ContainsFunc(b.Succs, walk)
	}
	return slices.ContainsFunc(start, walk)
}

// Always reports whether every path from the beginning of a function to a return passes through the given
// block. A path that ends in a call that does not return, such as a panic, does not count.
func Always(g *cfg.CFG, block *cfg.Block) bool {
	ends := func(b *cfg.Block) bool {
		if len(b.Succs) > 0 || len(b.Nodes) == 0 {
			return len(b.Succs) == 0
		}
		s, ok := b.Nodes[len(b.Nodes)-1].(*ast.ExprStmt)
		if !ok {
			return true
		}
		_, call := s.X.(*ast.CallExpr)
		return !call || b.Return() != nil
	}
	at := func(b *cfg.Block) bool { return b == block }
	return !Reaches(g.Blocks[:1], func(b *cfg.Block) bool { return b != block && ends(b) }, at)
}
