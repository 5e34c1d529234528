// Package handle finds handles and entities that are compared by slot only.
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

// Analyzer finds comparisons of two handles or two entities by slot.
var Analyzer = check.New("handle", `find handles and entities compared by slot only

A slot is reused after its element or entity is removed, so two handles with the same slot may mean different
elements. The generation distinguishes these elements.

	if target.Slot() == ship.Slot() { // wrong: true for the next owner of the slot
	if target == ship {               // right

Slots in variables count as well, if == and != are the only uses of the variables. The analyzer skips
comparisons in functions that also check the generation of one of the two handles, compare the two handles as
a whole, or check that both handles are alive. It skips tests, because a test may check that a slot is
reused.`, run)

func run(p *check.Pass) {
	var values *trace.Values
	comparisons := []ast.Node{(*ast.BinaryExpr)(nil)}
	p.Inspector.WithStack(comparisons, func(n ast.Node, push bool, stack []ast.Node) bool {
		compare := n.(*ast.BinaryExpr)
		if !push || !equality(compare) || p.InTest(n) {
			return true
		}
		if t, ok := p.TypesInfo.TypeOf(compare.X).Underlying().(*types.Basic); !ok ||
			t.Info()&types.IsInteger == 0 {
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
			them = "the values that they embed"
		case x == ast.Unparen(compare.X) && y == ast.Unparen(compare.Y):
			edits = []analysis.TextEdit{{Pos: a.End(), End: x.End()}, {Pos: b.End(), End: y.End()}}
		}
		p.SayWithFix(compare, "Compare the handles themselves", edits,
			"%s and %s are compared by slot only, and slots are reused: compare %s with %s "+
				"to include the generation",
			types.ExprString(a), types.ExprString(b), them, compare.Op)
		return true
	})
}

// whole are the types whose values a program can compare in place of the slots. A struct that embeds one of
// them is not in the list: its other fields may not be comparable, or may not matter.
var whole = map[string]bool{"bulk.Handle": true, "vast.Entity": true}

func equality(e *ast.BinaryExpr) bool { return e.Op == token.EQL || e.Op == token.NEQ }

// look is the analysis of one comparison.
type look struct {
	info        *types.Info
	values      *trace.Values
	declaration ast.Node // the top-level declaration around the comparison
}

// slot returns the call of Slot that gives an expression its value, or nil. The expression is the call, a
// conversion of its result, or a variable that holds the result.
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
		return nil // comparing two pointers instead would not compare the handles
	}
	return call
}

// convertedFrom strips conversions that keep all bits of a slot. A conversion that drops bits stays, because
// it groups slots on purpose.
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

// onlyCompared reports whether an identifier is a variable of the declaration, and == and != are the only
// uses of the variable. A variable that is also an index stands for a position, which has no generation.
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
				if operand, ok := l.convertedFrom(operand).(*ast.Ident); ok && equality(n) &&
					l.info.Uses[operand] == x {
					compared++
				}
			}
		}
		return true
	})
	return uses == compared
}

// present are the methods that report whether a handle is alive. Two living handles with equal slots are
// equal.
var present = map[string]bool{"Alive": true, "Get": true, "Has": true, "Valid": true}

// comparedFurther reports whether a and b are the same handle, or the declaration checks more than their
// slots: the generation of one handle, the equality of the two handles, or whether both handles are alive.
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

// place returns a text that identifies an expression. The text includes the position where each identifier is
// declared, because several variables may have one name.
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
