// Package escape finds pointers to components in places where the pointers may outlive the component.
package escape

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/types/typeutil"

	"github.com/vastgo/vast/cmd/vastvet/internal/check"
	"github.com/vastgo/vast/cmd/vastvet/internal/lib"
	"github.com/vastgo/vast/cmd/vastvet/internal/trace"
)

// Analyzer finds pointers to components and elements in package-level variables, channels, goroutines,
// resources and components on the Go heap.
var Analyzer = check.New("escape", `find pointers to components that are kept for longer than the component

A pointer or a slice from a column is valid while the entity has the component. Afterwards, the pointer may
lead to the component of another entity. After Close of the world, an access through the pointer may fault. Do
not keep a pointer in a package-level variable, a channel, a goroutine that the function does not wait for, a
resource or a HeapColumn. Keep the Entity instead: Get returns nil when the component is gone. Instead of a
pointer to an element of a bulk.Pool or bulk.Dense, keep the handle.

	var selected *Ship

	selected = ships.Get(e) // wrong

	var selected vast.Entity

	selected = e // right: ships.Get(selected) is nil once the ship is gone

The analyzer skips a send or a go statement if the function waits afterwards: with a receive from a channel,
or with a call of a function whose name suggests waiting, such as Wait. It skips goroutines that signal their
end, if other code may wait for this signal. It also skips unexported variables that are never read.`, run)

// Advice of the messages: what to keep instead of the pointer.
const (
	keepEntity = "keep the vast.Entity, and look the component up where it is used"
	keepHandle = "keep the bulk.Handle, and look the element up where it is used"
	keepList   = "keep the bulk.List, and look the elements up where they are used"
	keepRow    = "keep the row's number, and look the row up where it is used"
)

// limited are the types that return pointers of limited lifetime: a pointer is valid while its component or
// element exists.
var limited = strings.Fields("vast.Column vast.Edges vast.SparseColumn bulk.Dense bulk.Field bulk.Lists " +
	"bulk.Pool guard.Pool guard.SampledPool")

// The map returns has the functions that return a pointer of limited lifetime, with the index of this result.
var returns = map[string]int{"vast.ValueColumn.Get": 0, "bulk.Indexed.Insert": 1}

// The set yields has the functions whose iterator yields a pointer of limited lifetime as the second value.
var yields = map[string]bool{}

func init() {
	for f, number := range lib.Memory {
		if of, _ := lib.Split(f); slices.Contains(limited, of) {
			returns[f] = number
		}
	}
	for _, of := range strings.Fields("bulk.Pool bulk.Dense guard.Pool guard.SampledPool") {
		yields[of+".All"], yields[of+".Runs"] = true, true
	}
	for _, f := range strings.Fields("vast.Edges.Sources vast.Edges.Targets " +
		"vast.Order.Ascending vast.Order.Descending") {
		yields[f] = true
	}
}

func run(p *check.Pass) {
	l := &look{Pass: p, values: trace.New(p.TypesInfo, p.Inspector),
		functions: map[*types.Func]*ast.FuncDecl{}}
	for n := range p.Inspector.PreorderSeq((*ast.FuncDecl)(nil)) {
		if d := n.(*ast.FuncDecl); d.Body != nil {
			l.functions[p.TypesInfo.Defs[d.Name].(*types.Func)] = d
		}
	}
	for _, f := range p.Files {
		for _, d := range f.Decls {
			l.declaration(d)
		}
	}
}

// look is the analysis of one package.
type look struct {
	*check.Pass
	values    *trace.Values
	functions map[*types.Func]*ast.FuncDecl // functions of the package
}

func (l *look) declaration(d ast.Decl) {
	ast.Inspect(d, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ValueSpec:
			for i, to := range n.Names {
				if len(n.Values) == len(n.Names) {
					l.keep(to, n.Values[i], 0)
				} else if len(n.Values) == 1 {
					l.keep(to, n.Values[0], i)
				}
			}
		case *ast.AssignStmt:
			for i, to := range n.Lhs {
				if len(n.Lhs) == len(n.Rhs) {
					l.keep(to, n.Rhs[i], 0)
				} else {
					l.keep(to, n.Rhs[0], i)
				}
			}
		case *ast.SendStmt:
			if at, remedy := l.pointer(n.Value); at != nil && !l.waits(d, n, nil) {
				l.Say(at, "%s leads to memory off the Go heap and goes through a channel "+
					"to a receiver that may use the memory when it is gone: %s", types.ExprString(at), remedy)
			}
		case *ast.GoStmt:
			l.goroutine(start{in: d, at: n, fun: n.Call.Fun, args: n.Call.Args})
		case *ast.ExprStmt:
			if call, ok := ast.Unparen(n.X).(*ast.CallExpr); ok {
				l.started(d, call)
			}
		case *ast.CallExpr:
			l.call(n)
		}
		return true
	})
}

// keep reports an assignment of a pointer to a package-level variable.
func (l *look) keep(to, value ast.Expr, number int) {
	root := l.global(to)
	if root == nil {
		return
	}
	var at ast.Expr
	remedy := l.adviceFor(value, number)
	if remedy != "" {
		at = value
	} else if at, remedy = l.pointer(value); at == nil {
		return
	}
	if !root.Exported() && root.Pkg() == l.Pkg && !l.values.Read(root) {
		return // for example the sink of a benchmark
	}
	l.Say(at, "%s leads to memory off the Go heap and is kept in %s, which may outlive it: %s",
		types.ExprString(at),
		root.Name(), remedy)
}

// global returns the package-level variable from which an expression is reached, or nil.
func (l *look) global(e ast.Expr) *types.Var {
	for {
		switch x := ast.Unparen(e).(type) {
		case *ast.IndexExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.SelectorExpr:
			if v, ok := l.TypesInfo.Uses[x.Sel].(*types.Var); ok && !v.IsField() {
				return v
			}
			e = x.X
		case *ast.Ident:
			v, ok := l.TypesInfo.ObjectOf(x).(*types.Var)
			if ok && v.Pkg() != nil && v.Parent() == v.Pkg().Scope() {
				return v
			}
			return nil
		default:
			return nil
		}
	}
}

// adviceFor returns advice, such as [keepEntity], for a value that is a pointer or slice with a limited
// lifetime, and an empty string for other values. If the value is a result of a call, number is its index.
func (l *look) adviceFor(e ast.Expr, number int) (remedy string) {
	for range 16 {
		s := l.values.Only(e)
		if s.Result != 0 {
			number = s.Result
		}
		switch x := ast.Unparen(s.Expr).(type) {
		case *ast.CallExpr:
			name := lib.Callee(l.TypesInfo, x)
			if l.mayBeGo(name, x) {
				return ""
			}
			if s.Range != nil {
				if !yields[name] || s.Result != 1 {
					return ""
				}
			} else if n, ok := returns[name]; !ok || n != number {
				return ""
			}
			switch of, _ := lib.Split(name); {
			case of == "bulk.Lists":
				return keepList
			case of == "bulk.Field":
				return keepRow
			case strings.HasPrefix(name, "vast."):
				return keepEntity
			}
			return keepHandle
		case *ast.SliceExpr:
			e = x.X
		case *ast.UnaryExpr:
			if x.Op != token.AND {
				return ""
			}
			if e = trace.Base(l.TypesInfo, x.X); e == nil {
				return ""
			}
		default:
			return ""
		}
		if s.Range != nil {
			return ""
		}
	}
	return ""
}

// mayBeGo reports whether a function may return memory on the Go heap. A method of a ValueColumn or an Order
// returns such memory if the values belong to a HeapColumn. This is possible if the values may contain Go
// pointers, or if the package makes the ValueColumn or the Order from a HeapColumn.
func (l *look) mayBeGo(name string, call *ast.CallExpr) bool {
	of, _ := lib.Split(name)
	column := lib.Receiver(call)
	if of != "vast.ValueColumn" && of != "vast.Order" || column == nil {
		return false
	}
	t := l.TypesInfo.TypeOf(column)
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	named, ok := types.Unalias(t).(*types.Named)
	return !ok || named.TypeArgs().Len() == 0 ||
		pointers(named.TypeArgs().At(0), map[types.Type]bool{}) || l.heap(column, 16)
}

// pointers reports whether a type contains, or may contain, Go pointers. It skips the types in seen.
func pointers(t types.Type, seen map[types.Type]bool) bool {
	if seen[t] {
		return false
	}
	seen[t] = true
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Kind() == types.UnsafePointer || u.Info()&types.IsString != 0
	case *types.Array:
		return u.Len() != 0 && pointers(u.Elem(), seen)
	case *types.Struct:
		for i := range u.NumFields() {
			if pointers(u.Field(i).Type(), seen) {
				return true
			}
		}
		return false
	}
	return true
}

// heap reports whether an expression may be a HeapColumn, or an Order over a HeapColumn. steps limits the
// variables and calls that heap follows.
func (l *look) heap(e ast.Expr, steps int) bool {
	if steps == 0 || lib.TypeName(l.TypesInfo.TypeOf(e)) == "vast.HeapColumn" {
		return true
	}
	if call, ok := ast.Unparen(e).(*ast.CallExpr); ok {
		return lib.Callee(l.TypesInfo, call) == "vast.NewOrder" && l.heap(call.Args[1], steps-1)
	}
	x := l.values.Var(e)
	if x == nil {
		return false
	}
	sources, _ := l.values.Sources(x)
	for _, s := range sources {
		if s.Expr != nil && s.Range == nil && l.heap(s.Expr, steps-1) {
			return true
		}
	}
	return false
}

// pointer returns the part of a value that has a limited lifetime, and the advice for the part. The part is
// the whole value, an element of a literal, or an argument of append.
func (l *look) pointer(e ast.Expr) (at ast.Expr, remedy string) {
	e = ast.Unparen(e)
	if remedy = l.adviceFor(e, 0); remedy != "" {
		return e, remedy
	}
	switch e := e.(type) {
	case *ast.UnaryExpr:
		if e.Op == token.AND {
			return l.pointer(e.X)
		}
	case *ast.CompositeLit:
		for _, element := range e.Elts {
			if kv, ok := element.(*ast.KeyValueExpr); ok {
				element = kv.Value
			}
			if at, remedy = l.pointer(element); at != nil {
				return at, remedy
			}
		}
	case *ast.CallExpr:
		id, ok := ast.Unparen(e.Fun).(*ast.Ident)
		if ok && id.Name == "append" && l.TypesInfo.Types[e.Fun].IsBuiltin() && !e.Ellipsis.IsValid() {
			for _, arg := range e.Args[1:] {
				if at, remedy = l.pointer(arg); at != nil {
					return at, remedy
				}
			}
		}
	}
	return nil, ""
}

// call reports a pointer that is put into a resource or a component on the Go heap, or into a variable that
// the method store describes.
func (l *look) call(c *ast.CallExpr) {
	l.store(c)
	var value ast.Expr
	switch lib.Callee(l.TypesInfo, c) {
	case "vast.SetResource", "vast.HeapColumn.Add", "vast.HeapColumn.AddAll", "vast.HeapColumn.Set",
		"vast.HeapColumn.SetAll":
		if len(c.Args) == 2 {
			value = c.Args[1]
		}
	case "vast.HeapColumn.AddLater", "vast.HeapColumn.SetLater":
		if len(c.Args) == 3 {
			value = c.Args[2]
		}
	}
	if value == nil {
		return
	}
	if at, remedy := l.pointer(value); at != nil {
		l.Say(at, "%s leads to memory off the Go heap and is kept by %s, where it may outlive it: %s",
			types.ExprString(at), types.ExprString(c.Fun), remedy)
	}
}

// store reports a pointer that is put into a package-level atomic.Pointer, atomic.Value or sync.Map.
func (l *look) store(c *ast.CallExpr) {
	f, ok := typeutil.Callee(l.TypesInfo, c).(*types.Func)
	if !ok {
		return
	}
	number := 0
	switch f.Origin().FullName() {
	case "(*sync/atomic.Pointer[T]).Store", "(*sync/atomic.Pointer[T]).Swap",
		"(*sync/atomic.Value).Store", "(*sync/atomic.Value).Swap":
	case "(*sync/atomic.Pointer[T]).CompareAndSwap", "(*sync/atomic.Value).CompareAndSwap",
		"(*sync.Map).Store", "(*sync.Map).Swap", "(*sync.Map).LoadOrStore":
		number = 1
	default:
		return
	}
	if to := lib.Receiver(c); to != nil && number < len(c.Args) {
		l.keep(to, c.Args[number], 0)
	}
}
