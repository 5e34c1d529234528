package offheap

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/vastgo/vast/cmd/vastvet/internal/lib"
	"github.com/vastgo/vast/cmd/vastvet/internal/trace"
)

// hand are the functions that return memory outside of Go's heap.
var hand = map[string]bool{}

func init() {
	for of, functions := range map[string]string{
		"arena":             "Append MakeSlice New",
		"arena.Arena":       "Alloc",
		"bulk.Array":        "Append AppendN At Slice",
		"bulk.Dense":        "Get Slice",
		"bulk.Field":        "At Slice",
		"bulk.Lists":        "Append AppendSlice At Insert Slice",
		"bulk.Pool":         "Get",
		"bulk.SharedArray":  "At Slice",
		"bulk.SharedPool":   "Get",
		"guard":             "Alloc AllocSlice MakeSlice New",
		"guard.Allocator":   "Alloc",
		"guard.Pool":        "Get",
		"heap":              "Alloc AllocSlice MakeSlice New Resize",
		"heap.Buffer":       "AppendN At Slice",
		"heap.Heap":         "Alloc Realloc",
		"ring.Endless":      "At Reserve",
		"ring.Ring":         "Peek Reserve",
		"vast.Column":       "Add Edit EditRun Get Slice TrySlice",
		"vast.Edges":        "Add Get",
		"vast.SparseColumn": "Add Edit Get",
		"vm":                "Static",
		"vm.Mirror":         "Base",
		"vm.Region":         "Base",
		"vm.Seam":           "Base",
		"vm.Span":           "Base",
	} {
		for _, m := range strings.Fields(functions) {
			hand[of+"."+m] = true
		}
	}
}

// store reports the assignment of a Go pointer to memory outside of Go's heap.
func (f *finder) store(to, value ast.Expr) {
	base := f.base(to)
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
	// What is not on Go's heap either may be stored: the collector has nothing to do with it.
	if f.TypesInfo.Types[value].IsNil() || f.outside(value, 16) {
		return
	}
	if from := f.base(f.source(value)); from != nil && f.outside(from, 16) {
		return
	}
	f.Say(value, "%s is or has a Go pointer and is stored outside of Go's heap, where the collector does not see it and frees what it leads to: keep %s",
		types.ExprString(value), remedy(kind))
}

func (f *finder) trace() *trace.Values {
	if f.values == nil {
		f.values = trace.New(f.TypesInfo, f.Inspector)
	}
	return f.values
}

// source is the expression that a value comes from.
func (f *finder) source(e ast.Expr) ast.Expr {
	s := f.trace().Only(e)
	if s.Range != nil || s.Expr == nil {
		return e
	}
	return ast.Unparen(s.Expr)
}

// base returns the pointer or slice through which an expression is reached, or nil where it is a variable of its own.
func (f *finder) base(e ast.Expr) ast.Expr {
	for {
		var x ast.Expr
		switch e := ast.Unparen(e).(type) {
		case *ast.StarExpr:
			return e.X
		case *ast.SelectorExpr:
			x = e.X
		case *ast.IndexExpr:
			x = e.X
		default:
			return nil
		}
		t := f.TypesInfo.TypeOf(x)
		if t == nil {
			return nil
		}
		switch t.Underlying().(type) {
		case *types.Pointer, *types.Slice:
			return x
		}
		e = x
	}
}

// outside reports whether a pointer or slice certainly leads to memory outside of Go's heap.
func (f *finder) outside(e ast.Expr, steps int) bool {
	if steps == 0 {
		return false
	}
	switch x := f.source(e).(type) {
	case *ast.CallExpr:
		if hand[lib.Callee(f.TypesInfo, x)] {
			return true
		}
		if len(x.Args) == 0 {
			return false
		}
		if f.TypesInfo.Types[x.Fun].IsType() {
			return f.outside(x.Args[0], steps-1)
		}
		if s, ok := ast.Unparen(x.Fun).(*ast.SelectorExpr); ok {
			if b, ok := f.TypesInfo.Uses[s.Sel].(*types.Builtin); ok && (b.Name() == "Add" || b.Name() == "Slice") {
				return f.outside(x.Args[0], steps-1)
			}
		}
	case *ast.SliceExpr:
		return f.outside(x.X, steps-1)
	case *ast.UnaryExpr:
		if x.Op == token.AND {
			if base := f.base(x.X); base != nil {
				return f.outside(base, steps-1)
			}
		}
	}
	return false
}

// numbers reports Go pointers that are a part of a value as numbers.
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
			f.Say(value, "%s is the address of a Go variable as a number, and is stored in %s: the collector does not count it and frees the variable; keep %s",
				types.ExprString(value), into, remedy("a pointer"))
		}
	}
}

// inside reports whether a pointer certainly leads to a variable of Go's.
func (f *finder) inside(e ast.Expr, steps int) bool {
	if steps == 0 {
		return false
	}
	switch x := f.source(e).(type) {
	case *ast.CallExpr:
		if f.TypesInfo.Types[x.Fun].IsType() && len(x.Args) == 1 {
			return f.inside(x.Args[0], steps-1)
		}
		id, ok := ast.Unparen(x.Fun).(*ast.Ident)
		return ok && f.TypesInfo.Types[x.Fun].IsBuiltin() && (id.Name == "new" || id.Name == "make")
	case *ast.CompositeLit:
		return true
	case *ast.UnaryExpr:
		if x.Op != token.AND {
			return false
		}
		if base := f.base(x.X); base != nil {
			return f.inside(base, steps-1)
		}
		return true
	}
	return false
}
