// Package handle finds handles and entities that are compared by their slots only.
package handle

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/analysis"

	"github.com/vastgo/vast/cmd/vastvet/internal/check"
	"github.com/vastgo/vast/cmd/vastvet/internal/lib"
)

// Analyzer finds comparisons of two handles, or of two entities, by slot.
var Analyzer = check.New("handle", `find handles and entities compared by slot only

A slot is used again when its element or entity is gone. So two handles with one slot may mean two different things: what
tells them apart is the generation.

	if target.Slot() == ship.Slot() { // wrong: true for whoever took the slot since
	if target == ship {               // right

Comparisons that look at the generation too, or stand beside one of the two handles themselves, are passed over, and so are
tests, which look at slots to see that one was used again.`, run)

func run(p *check.Pass) {
	p.Inspector.WithStack([]ast.Node{(*ast.BinaryExpr)(nil)}, func(n ast.Node, push bool, stack []ast.Node) bool {
		compare := n.(*ast.BinaryExpr)
		if !push || compare.Op != token.EQL && compare.Op != token.NEQ || p.InTest(n) {
			return true
		}
		a, b := slotOf(p.TypesInfo, compare.X), slotOf(p.TypesInfo, compare.Y)
		if a == nil || b == nil || !types.Identical(p.TypesInfo.TypeOf(a), p.TypesInfo.TypeOf(b)) ||
			comparedFurther(p.TypesInfo, condition(stack), a, b) {
			return true
		}
		edits := []analysis.TextEdit{
			{Pos: a.End(), End: compare.X.End()},
			{Pos: b.End(), End: compare.Y.End()},
		}
		x, y := types.ExprString(a), types.ExprString(b)
		p.SayWithFix(compare, "Compare the handles themselves", edits,
			"%s and %s are compared by slot only, and a slot is used again: compare them with %s, which looks at the generation too",
			x, y, compare.Op)
		return true
	})
}

// slotOf returns what a call of Slot is made on.
func slotOf(info *types.Info, e ast.Expr) ast.Expr {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok {
		return nil
	}
	if name := lib.Callee(info, call); name != "bulk.Handle.Slot" && name != "vast.Entity.Slot" {
		return nil
	}
	x := lib.Receiver(call)
	if x == nil {
		return nil
	}
	if _, ok := types.Unalias(info.TypeOf(x)).(*types.Pointer); ok {
		return nil // pointers are no handles to compare
	}
	return x
}

// condition returns the largest expression around the innermost node of a stack.
func condition(stack []ast.Node) ast.Node {
	n := stack[len(stack)-1]
	for i := len(stack) - 2; i >= 0; i-- {
		switch stack[i].(type) {
		case *ast.BinaryExpr, *ast.ParenExpr, *ast.UnaryExpr:
			n = stack[i]
		default:
			return n
		}
	}
	return n
}

// comparedFurther reports whether a condition asks for the generation of one of the handles, or compares it as a whole.
func comparedFurther(info *types.Info, condition ast.Node, a, b ast.Expr) (further bool) {
	of := map[string]bool{types.ExprString(a): true, types.ExprString(b): true}
	ast.Inspect(condition, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			switch lib.Callee(info, n) {
			case "bulk.Handle.Generation", "vast.Entity.Generation":
				further = further || of[types.ExprString(lib.Receiver(n))]
			}
		case *ast.BinaryExpr:
			if n.Op == token.EQL || n.Op == token.NEQ {
				further = further || of[types.ExprString(n.X)] && of[types.ExprString(n.Y)]
			}
		}
		return true
	})
	return further
}
