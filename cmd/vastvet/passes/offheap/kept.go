package offheap

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/types/typeutil"

	"github.com/vastgo/vast/cmd/vastvet/internal/trace"
)

// kept reports whether anything besides v itself may keep certain memory alive. If place is true, this memory
// is the local variable v. If place is false, it is the memory that v points to. For example, the pointer may
// be pinned, stored in another variable or passed to a function. Memory outside of Go's heap keeps nothing
// alive. If v is assigned to another variable, kept also examines that variable, with steps-1. If steps is 0,
// kept returns true.
func (f *finder) kept(v *types.Var, place bool, steps int) bool {
	if f.uses == nil {
		f.uses = map[*types.Var][]inspector.Cursor{}
		for c := range f.Inspector.Root().Preorder((*ast.Ident)(nil)) {
			if v, ok := f.TypesInfo.Uses[c.Node().(*ast.Ident)].(*types.Var); ok {
				f.uses[v] = append(f.uses[v], c)
			}
		}
	}
	return steps == 0 || v.IsField() || v.Parent() == v.Pkg().Scope() ||
		slices.ContainsFunc(f.uses[v], func(use inspector.Cursor) bool {
			return f.keeps(use, v, place, steps)
		})
}

// keeps is like kept, for one use of the variable. It walks up through the surrounding expressions that lead
// to the memory in question. place is true while the current expression is this memory or a part of it, and
// false while the expression is a pointer to the memory.
func (f *finder) keeps(c inspector.Cursor, v *types.Var, place bool, steps int) bool {
	for lit := range c.Enclosing((*ast.FuncLit)(nil)) {
		if v.Pos() < lit.Node().Pos() {
			return true // the function literal keeps the variable
		}
	}
	for {
		kind, i := c.ParentEdge()
		child := c.Node()
		c = c.Parent()
		switch n := c.Node().(type) {
		case *ast.ParenExpr, *ast.KeyValueExpr, *ast.CompositeLit:
		case *ast.SelectorExpr:
			if s := f.TypesInfo.Selections[n]; s == nil || s.Kind() != types.FieldVal {
				return true // a method value keeps its receiver, and a called method may keep it
			}
			place = true
		case *ast.IndexExpr:
			if kind == edge.IndexExpr_Index {
				return !place // a map keeps its keys
			}
			place = true
		case *ast.StarExpr:
			place = true
		case *ast.SliceExpr:
			if kind != edge.SliceExpr_X {
				return false
			}
			place = false
		case *ast.UnaryExpr:
			if n.Op != token.AND {
				return false
			}
			place = false
		case *ast.CallExpr:
			if kind != edge.CallExpr_Args || place {
				return false
			}
			if leads, keeps := f.handed(n, i); !leads {
				return keeps
			}
		case *ast.AssignStmt:
			if place || kind == edge.AssignStmt_Lhs {
				return false
			}
			return len(n.Lhs) != len(n.Rhs) || f.into(n.Lhs[i], v, steps)
		case *ast.ValueSpec:
			return !place && (len(n.Names) != len(n.Values) || f.into(n.Names[i], v, steps))
		case *ast.BinaryExpr, *ast.RangeStmt, *ast.ExprStmt:
			return false
		default:
			_, expression := child.(ast.Expr)
			return !place && expression
		}
	}
}

// handed examines argument i of a call. leads reports whether the result leads to the argument's target. If
// leads is false, keeps reports whether the call may keep the argument.
func (f *finder) handed(call *ast.CallExpr, i int) (leads, keeps bool) {
	if f.TypesInfo.Types[call.Fun].IsType() {
		t, number := f.TypesInfo.TypeOf(call).Underlying().(*types.Basic)
		number = number && t.Info()&types.IsNumeric != 0
		return !number && !f.copies(call), false
	}
	b, ok := typeutil.Callee(f.TypesInfo, call).(*types.Builtin)
	switch {
	case !ok:
		return false, true
	case b.Name() == "append":
		return i == 0, !call.Ellipsis.IsValid()
	}
	return f.unsafe(call), false
}

// into reports whether an assignment of v to an expression may keep the target of v alive.
func (f *finder) into(to ast.Expr, v *types.Var, steps int) bool {
	if base := trace.Base(f.TypesInfo, to); base != nil {
		return !f.outside(base, 16)
	}
	id, ok := ast.Unparen(to).(*ast.Ident)
	if !ok || id.Name == "_" {
		return !ok
	}
	x, ok := f.TypesInfo.ObjectOf(id).(*types.Var)
	return !ok || x != v && f.kept(x, false, steps-1)
}
