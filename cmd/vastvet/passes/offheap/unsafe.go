package offheap

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/types/typeutil"

	"github.com/vastgo/vast/cmd/vastvet/internal/lib"
	"github.com/vastgo/vast/cmd/vastvet/internal/trace"
)

// store reports an assignment that stores a Go pointer, or the address of a Go variable as a number, outside
// of Go's heap.
func (f *finder) store(to, value ast.Expr) {
	base := trace.Base(f.TypesInfo, to)
	if base == nil {
		return
	}
	t := f.TypesInfo.TypeOf(to)
	if t == nil {
		return
	}
	if basic, ok := t.Underlying().(*types.Basic); ok && basic.Kind() == types.Uintptr {
		if f.outside(base, 16) {
			f.numbers(value, types.ExprString(to))
		}
		return
	}
	kind := ""
	if _, kind = pointer(t, "", map[*types.TypeParam]bool{}); kind == "" || !f.outside(base, 16) {
		return
	}
	// A pointer to memory outside of Go's heap is allowed: the garbage collector does not free its target.
	if f.inside(value, 16) {
		f.sayStored(value, types.ExprString(value), kind)
	}
}

// join reports a statement s += t if the string variable s lies outside of Go's heap. The new string is on
// Go's heap.
func (f *finder) join(n *ast.AssignStmt) {
	base := trace.Base(f.TypesInfo, n.Lhs[0])
	if base == nil {
		return
	}
	if isString(f.TypesInfo.TypeOf(n.Lhs[0])) && f.outside(base, 16) {
		f.sayStored(n.Rhs[0], types.ExprString(n.Lhs[0])+" + "+types.ExprString(n.Rhs[0]), "a string")
	}
}

func (f *finder) sayStored(at ast.Node, value, kind string) {
	f.Say(at, "%s is or has a Go pointer and is stored outside of Go's heap, "+
		"where the collector does not see it and frees its target: keep %s", value, remedy(kind))
}

func (f *finder) trace() *trace.Values {
	if f.values == nil {
		f.values = trace.New(f.TypesInfo, f.Inspector)
	}
	return f.values
}

// source returns the expression that gives e its value, or e if there is not exactly one.
func (f *finder) source(e ast.Expr) ast.Expr {
	s := f.trace().Only(e)
	if s.Range != nil || s.Expr == nil {
		return e
	}
	return ast.Unparen(s.Expr)
}

// outside reports whether a pointer or slice certainly leads to memory outside of Go's heap. steps limits the
// recursion.
func (f *finder) outside(e ast.Expr, steps int) bool {
	if steps == 0 {
		return false
	}
	switch x := f.source(e).(type) {
	case *ast.CallExpr:
		if result, ok := lib.Memory[lib.Callee(f.TypesInfo, x)]; ok && result == 0 {
			return true
		}
		if len(x.Args) == 0 {
			return false
		}
		if f.TypesInfo.Types[x.Fun].IsType() {
			return f.outside(x.Args[0], steps-1)
		}
		if f.unsafe(x) {
			return f.outside(x.Args[0], steps-1)
		}
	case *ast.SliceExpr:
		return f.outside(x.X, steps-1)
	case *ast.UnaryExpr:
		if x.Op == token.AND {
			if base := trace.Base(f.TypesInfo, x.X); base != nil {
				return f.outside(base, steps-1)
			}
		}
	}
	return false
}

// numbers reports addresses of Go variables that a value contains as integers.
func (f *finder) numbers(value ast.Expr, into string) {
	switch x := f.source(value).(type) {
	case *ast.CompositeLit:
		for _, element := range x.Elts {
			if kv, ok := element.(*ast.KeyValueExpr); ok {
				element = kv.Value
			}
			f.numbers(element, into)
		}
	case *ast.CallExpr:
		if !f.TypesInfo.Types[x.Fun].IsType() || len(x.Args) != 1 {
			return
		}
		if b, ok := f.TypesInfo.TypeOf(x).Underlying().(*types.Basic); !ok || b.Info()&types.IsInteger == 0 {
			return
		}
		if t := f.TypesInfo.TypeOf(x.Args[0]); t != nil && t.Underlying() == types.Typ[types.Uintptr] {
			f.numbers(x.Args[0], into)
		} else if t != nil && t.Underlying() == types.Typ[types.UnsafePointer] && f.inside(x.Args[0], 16) {
			f.Say(value, "%s is the address of a Go variable as a number, and is stored in %s: "+
				"the collector does not see it and frees the variable; keep %s", types.ExprString(value),
				into, remedy("a pointer"))
		}
	}
}

// unsafe reports whether a call calls a function of package unsafe that derives a pointer, slice or string
// from its argument.
func (f *finder) unsafe(call *ast.CallExpr) bool {
	b, ok := typeutil.Callee(f.TypesInfo, call).(*types.Builtin)
	return ok && slices.Contains([]string{"Add", "Slice", "SliceData", "String", "StringData"}, b.Name())
}

// inside reports whether a value certainly leads to memory on Go's heap that no other pointer can keep alive.
// A variable that escapes to Go's heap is such memory.
func (f *finder) inside(e ast.Expr, steps int) bool {
	e = ast.Unparen(e)
	if steps == 0 || f.TypesInfo.Types[e].Value != nil {
		return false
	}
	if x := f.trace().Var(e); x != nil {
		sources, sure := f.trace().Sources(x)
		if !sure || len(sources) != 1 || sources[0].Expr == nil || sources[0].Range != nil {
			return false
		}
		t := f.TypesInfo.TypeOf(sources[0].Expr)
		return t != nil && types.AssignableTo(t, x.Type()) && f.inside(sources[0].Expr, steps-1) &&
			!f.kept(x, false, 16)
	}
	switch x := e.(type) {
	case *ast.CallExpr:
		return f.made(x, steps)
	case *ast.CompositeLit:
		switch f.TypesInfo.TypeOf(x).Underlying().(type) {
		case *types.Map:
			return true
		case *types.Slice:
			return len(x.Elts) > 0
		}
		for _, element := range x.Elts {
			if kv, ok := element.(*ast.KeyValueExpr); ok {
				element = kv.Value
			}
			if f.inside(element, steps-1) {
				return true
			}
		}
	case *ast.BinaryExpr:
		return x.Op == token.ADD && isString(f.TypesInfo.TypeOf(x))
	case *ast.SliceExpr:
		if _, array := f.TypesInfo.TypeOf(x.X).Underlying().(*types.Array); array {
			return f.addressed(x.X, steps)
		}
		return f.inside(x.X, steps-1)
	case *ast.UnaryExpr:
		return x.Op == token.AND && f.addressed(x.X, steps)
	}
	return false
}

// addressed is like inside, but for the value &e.
func (f *finder) addressed(e ast.Expr, steps int) bool {
	if base := trace.Base(f.TypesInfo, e); base != nil {
		return f.inside(base, steps-1)
	}
	for {
		switch x := ast.Unparen(e).(type) {
		case *ast.CompositeLit:
			return true
		case *ast.IndexExpr:
			e = x.X
		case *ast.SelectorExpr:
			if f.TypesInfo.Selections[x] == nil {
				return false // a variable of another package
			}
			e = x.X
		case *ast.Ident:
			v, ok := f.TypesInfo.Uses[x].(*types.Var)
			return ok && v.Parent() != f.Pkg.Scope() && !f.kept(v, true, 16)
		default:
			return false
		}
	}
}

// made is like inside, but for the result of a call.
func (f *finder) made(call *ast.CallExpr, steps int) bool {
	if f.TypesInfo.Types[call.Fun].IsType() && len(call.Args) == 1 {
		return f.copies(call) || f.inside(call.Args[0], steps-1)
	}
	switch callee := typeutil.Callee(f.TypesInfo, call).(type) {
	case *types.Builtin:
		switch callee.Name() {
		case "new", "make":
			return true
		case "append":
			// An append to a slice of unknown origin may use memory outside of Go's heap.
			first := ast.Unparen(call.Args[0])
			if conversion, ok := first.(*ast.CallExpr); ok && f.TypesInfo.Types[conversion.Fun].IsType() {
				first = conversion.Args[0]
			}
			return len(call.Args) > 1 && (f.TypesInfo.Types[first].IsNil() || f.inside(call.Args[0], steps-1))
		}
		return f.unsafe(call) && f.inside(call.Args[0], steps-1)
	case *types.Func:
		return callee.Pkg() != nil && callee.Pkg().Path() == "fmt" &&
			strings.HasPrefix(callee.Name(), "Sprint")
	}
	return false
}

// copies reports whether a conversion copies its operand, from a slice to a string or from a string to a
// slice.
func (f *finder) copies(call *ast.CallExpr) bool {
	to, from := f.TypesInfo.TypeOf(call), f.TypesInfo.TypeOf(call.Args[0])
	return isString(to) && isSlice(from) || isSlice(to) && isString(from)
}

func isString(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsString != 0
}

func isSlice(t types.Type) bool {
	_, ok := t.Underlying().(*types.Slice)
	return ok
}
