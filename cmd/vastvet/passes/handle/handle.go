// Package handle finds handles and entities that are compared by their slots only.
package handle

import (
	"go/ast"
	"go/token"
	"go/types"
	"strconv"

	"golang.org/x/tools/go/analysis"

	"github.com/vastgo/vast/cmd/vastvet/internal/check"
	"github.com/vastgo/vast/cmd/vastvet/internal/lib"
	"github.com/vastgo/vast/cmd/vastvet/internal/trace"
)

// Analyzer finds comparisons of two handles, or of two entities, by slot.
var Analyzer = check.New("handle", `find handles and entities compared by slot only

A slot is used again when its element or entity is gone. So two handles with one slot may mean two different things: what
tells them apart is the generation.

	if target.Slot() == ship.Slot() { // wrong: true for whoever took the slot since
	if target == ship {               // right

Slots that were put in variables, which nothing but comparisons use, count as well. Comparisons are passed over in functions
that look at the generation of one of the two too, compare the two themselves or ask whether both are there, and in tests,
which look at slots to see that one was used again.`, run)

func run(p *check.Pass) {
	var values *trace.Values
	p.Inspector.WithStack([]ast.Node{(*ast.BinaryExpr)(nil)}, func(n ast.Node, push bool, stack []ast.Node) bool {
		compare := n.(*ast.BinaryExpr)
		if !push || !equality(compare) || p.InTest(n) {
			return true
		}
		if t, ok := p.TypesInfo.TypeOf(compare.X).Underlying().(*types.Basic); !ok || t.Info()&types.IsInteger == 0 {
			return true
		}
		if values == nil {
			values = trace.New(p.TypesInfo, p.Inspector)
		}
		l := &look{p.TypesInfo, values, stack[min(1, len(stack)-1)]}
		x, y := l.slot(compare.X), l.slot(compare.Y)
		if x == nil || y == nil {
			return true
		}
		a, b := lib.Receiver(x), lib.Receiver(y)
		if !types.Identical(p.TypesInfo.TypeOf(a), p.TypesInfo.TypeOf(b)) || l.comparedFurther(a, b) {
			return true
		}
		var edits []analysis.TextEdit
		them := "them"
		switch {
		case !whole[lib.TypeName(p.TypesInfo.TypeOf(a))]:
			them = "what they embed"
		case x == ast.Unparen(compare.X) && y == ast.Unparen(compare.Y):
			edits = []analysis.TextEdit{{Pos: a.End(), End: x.End()}, {Pos: b.End(), End: y.End()}}
		}
		p.SayWithFix(compare, "Compare the handles themselves", edits,
			"%s and %s are compared by slot only, and a slot is used again: compare %s with %s, which looks at the generation too",
			types.ExprString(a), types.ExprString(b), them, compare.Op)
		return true
	})
}

// whole are the types whose values are compared as a whole. A struct that embeds one has other fields, which may be no
// part of the question, or not comparable.
var whole = map[string]bool{"bulk.Handle": true, "vast.Entity": true}

func equality(e *ast.BinaryExpr) bool { return e.Op == token.EQL || e.Op == token.NEQ }

// look is at one declaration.
type look struct {
	info        *types.Info
	values      *trace.Values
	declaration ast.Node
}

// slot returns the call of Slot that an expression is the result of, or nil.
func (l *look) slot(e ast.Expr) *ast.CallExpr {
	e = l.convertedFrom(e)
	variable, _ := e.(*ast.Ident)
	if variable != nil {
		source := l.values.Only(variable)
		if source.Range != nil {
			return nil
		}
		e = l.convertedFrom(source.Expr)
	}
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return nil
	}
	if name := lib.Callee(l.info, call); name != "bulk.Handle.Slot" && name != "vast.Entity.Slot" {
		return nil
	}
	x := lib.Receiver(call)
	if x == nil || variable != nil && !l.onlyCompared(variable) {
		return nil
	}
	if _, ok := types.Unalias(l.info.TypeOf(x)).(*types.Pointer); ok {
		return nil // pointers are no handles to compare
	}
	return call
}

// convertedFrom strips conversions that keep all bits of a slot; what drops some makes groups of slots.
func (l *look) convertedFrom(e ast.Expr) ast.Expr {
	for {
		e = ast.Unparen(e)
		call, ok := e.(*ast.CallExpr)
		if !ok || len(call.Args) != 1 || !l.info.Types[call.Fun].IsType() {
			return e
		}
		t, ok := l.info.TypeOf(call).Underlying().(*types.Basic)
		if !ok {
			return e
		}
		switch t.Kind() {
		case types.Int, types.Int64, types.Uint, types.Uint32, types.Uint64:
			e = call.Args[0]
		default:
			return e
		}
	}
}

// onlyCompared reports whether a name is that of a variable of the declaration which is used in comparisons only. One that
// is an index too stands for a place, which has no generation.
func (l *look) onlyCompared(id *ast.Ident) bool {
	x, ok := l.info.Uses[id].(*types.Var)
	if !ok || x.Pos() < l.declaration.Pos() || x.Pos() >= l.declaration.End() {
		return false
	}
	uses, compared := 0, 0
	ast.Inspect(l.declaration, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			if l.info.Uses[n] == x {
				uses++
			}
		case *ast.BinaryExpr:
			for _, operand := range []ast.Expr{n.X, n.Y} {
				if operand, ok := l.convertedFrom(operand).(*ast.Ident); ok && equality(n) && l.info.Uses[operand] == x {
					compared++
				}
			}
		}
		return true
	})
	return uses == compared
}

// present says of two handles, asked of both, that both are there: then their slots tell them apart.
var present = map[string]bool{"Alive": true, "Get": true, "Has": true, "Valid": true}

// comparedFurther reports whether the declaration asks for the generation of one of the handles, compares the two as a
// whole, or asks for both whether they are there. It may do so in a statement far from the comparison of the slots.
func (l *look) comparedFurther(a, b ast.Expr) bool {
	x, y := l.place(a), l.place(b)
	if x == y {
		return true
	}
	further, presentX, presentY := false, false, false
	ast.Inspect(l.declaration, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			name := lib.Callee(l.info, n)
			_, last := lib.Split(name)
			switch {
			case name == "bulk.Handle.Generation" || name == "vast.Entity.Generation":
				if of := lib.Receiver(n); of != nil {
					further = further || l.place(of) == x || l.place(of) == y
				}
			case present[last]:
				for _, argument := range n.Args {
					presentX = presentX || l.place(argument) == x
					presentY = presentY || l.place(argument) == y
				}
			}
		case *ast.BinaryExpr:
			if equality(n) {
				c, d := l.place(n.X), l.place(n.Y)
				further = further || c == x && d == y || c == y && d == x
			}
		}
		return !further
	})
	return further || presentX && presentY
}

// place returns a text that is the same for two expressions that read alike and whose names stand for the same things.
func (l *look) place(e ast.Expr) string {
	e = ast.Unparen(e)
	text := []byte(types.ExprString(e))
	ast.Inspect(e, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			if object := l.info.ObjectOf(id); object != nil {
				text = strconv.AppendInt(append(text, ' '), int64(object.Pos()), 10)
			}
		}
		return true
	})
	return string(text)
}
