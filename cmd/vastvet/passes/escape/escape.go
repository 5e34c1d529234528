// Package escape finds pointers to components that are kept where they may outlive the component.
package escape

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/vastgo/vast/cmd/vastvet/internal/check"
	"github.com/vastgo/vast/cmd/vastvet/internal/lib"
	"github.com/vastgo/vast/cmd/vastvet/internal/trace"
)

// Analyzer finds pointers to components and elements in package-level variables, channels, goroutines, resources and
// components on the Go heap.
var Analyzer = check.New("escape", `find pointers to components that are kept for longer than the component

A pointer or a slice that a column hands out is good while the entity has the component. Afterwards it sees another entity's, and
once the world is closed it faults. So it must not lie in a package-level variable, go through a channel, be a goroutine's that
nobody waits for, or lie in a resource or a HeapColumn. An Entity may: it knows when its entity is gone. The same holds for the
elements of a bulk.Pool or Dense, and their handles.

	var selected *Ship

	selected = ships.Get(e) // wrong

	var selected vast.Entity

	selected = e // right: ships.Get(selected) is nil once it is gone

A function that waits behind the channel or the go statement, for a WaitGroup or by receiving, is passed over, and so are
variables that nobody reads.`, run)

// kept says what is to be kept in place of a pointer.
const (
	entity = "keep the vast.Entity, and look the component up where it is used"
	handle = "keep the bulk.Handle, and look the element up where it is used"
)

// hand are the functions that hand out pointers, as results of a call or as the second value of an iterator.
var (
	hand  = map[string]int{} // the number of the result
	yield = map[string]bool{}
)

func init() {
	for of, methods := range map[string]string{
		"vast.Column":       "Add Edit EditRun Get Slice TrySlice",
		"vast.SparseColumn": "Add Edit Get",
		"vast.ValueColumn":  "Get",
		"vast.Edges":        "Add Get",
		"bulk.Pool":         "Get",
		"bulk.Dense":        "Get Slice",
		"guard.Pool":        "Get",
		"guard.SampledPool": "Get",
	} {
		for _, m := range strings.Fields(methods) {
			hand[of+"."+m] = 0
		}
	}
	for _, of := range strings.Fields("bulk.Pool bulk.Dense guard.Pool guard.SampledPool") {
		hand[of+".Insert"] = 1
		yield[of+".All"], yield[of+".Runs"] = true, true
	}
	for _, f := range strings.Fields("vast.Edges.In vast.Edges.Out vast.Order.All vast.Order.Descending") {
		yield[f] = true
	}
}

func run(p *check.Pass) {
	l := &look{Pass: p, values: trace.New(p.TypesInfo, p.Inspector)}
	for _, f := range p.Files {
		for _, d := range f.Decls {
			if d, ok := d.(*ast.FuncDecl); ok && d.Body != nil {
				l.function(d)
			}
		}
	}
}

type look struct {
	*check.Pass
	values *trace.Values
}

// function looks at a function with all literals in it.
func (l *look) function(d *ast.FuncDecl) {
	ast.Inspect(d.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, to := range n.Lhs {
				if len(n.Lhs) == len(n.Rhs) {
					l.keep(to, n.Rhs[i], 0)
				} else {
					l.keep(to, n.Rhs[0], i)
				}
			}
		case *ast.SendStmt:
			if at, remedy := l.pointer(n.Value); at != nil && !l.waits(d, n.Pos()) {
				l.Say(at, "%s leads to memory off the Go heap and goes through a channel to whoever may use it when it is gone: %s",
					types.ExprString(at), remedy)
			}
		case *ast.GoStmt:
			if !l.waits(d, n.Pos()) {
				l.goroutine(n)
			}
		case *ast.CallExpr:
			l.call(n)
		}
		return true
	})
}

// keep reports an assignment to a variable of a package.
func (l *look) keep(to, value ast.Expr, number int) {
	root := l.global(to)
	if root == nil {
		return
	}
	var at ast.Expr
	remedy := l.handed(value, number)
	if remedy != "" {
		at = value
	} else if at, remedy = l.pointer(value); at == nil {
		return
	}
	if !root.Exported() && root.Pkg() == l.Pkg && !l.values.Read(root) {
		return // such as what keeps a benchmark's compiler from leaving out the work
	}
	l.Say(at, "%s leads to memory off the Go heap and is kept in %s, which may outlive it: %s", types.ExprString(at), root.Name(), remedy)
}

// global returns the variable of a package that an expression is or is reached from, or nil.
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

// handed returns what to keep in place of a value that is a pointer or a slice handed out for a while; empty for others.
// number is which of a call's results it is.
func (l *look) handed(e ast.Expr, number int) (remedy string) {
	for range 16 {
		s := l.values.Only(e)
		if s.Result != 0 {
			number = s.Result
		}
		switch x := ast.Unparen(s.Expr).(type) {
		case *ast.CallExpr:
			name := lib.Callee(l.TypesInfo, x)
			if s.Range != nil {
				if !yield[name] || s.Result != 1 {
					return ""
				}
			} else if n, ok := hand[name]; !ok || n != number {
				return ""
			}
			if strings.HasPrefix(name, "vast.") {
				return entity
			}
			return handle
		case *ast.SliceExpr:
			e = x.X
		case *ast.UnaryExpr:
			if x.Op != token.AND {
				return ""
			}
			if e = l.into(x.X); e == nil {
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

// into returns the pointer or slice through which an expression is reached: p of p.Place.X, and s of s[i].X.
func (l *look) into(e ast.Expr) ast.Expr {
	for {
		var x ast.Expr
		switch e := ast.Unparen(e).(type) {
		case *ast.SelectorExpr:
			x = e.X
		case *ast.IndexExpr:
			x = e.X
		case *ast.StarExpr:
			return e.X
		default:
			return nil
		}
		t := l.TypesInfo.TypeOf(x)
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

// pointer returns the part of a value that is handed out for a while: all of it, a field of a literal, or what is appended;
// and what to keep in its place.
func (l *look) pointer(e ast.Expr) (at ast.Expr, remedy string) {
	e = ast.Unparen(e)
	if remedy = l.handed(e, 0); remedy != "" {
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
		if id, ok := ast.Unparen(e.Fun).(*ast.Ident); ok && id.Name == "append" && l.TypesInfo.Types[e.Fun].IsBuiltin() && !e.Ellipsis.IsValid() {
			for _, arg := range e.Args[1:] {
				if at, remedy = l.pointer(arg); at != nil {
					return at, remedy
				}
			}
		}
	}
	return nil, ""
}

// waits reports whether a function waits for somebody behind a place: it receives, or calls a function of such a name.
func (l *look) waits(d *ast.FuncDecl, behind token.Pos) (found bool) {
	ast.Inspect(d.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.UnaryExpr:
			found = found || n.Op == token.ARROW && n.Pos() > behind
		case *ast.RangeStmt:
			if _, ok := l.TypesInfo.TypeOf(n.X).Underlying().(*types.Chan); ok && n.End() > behind {
				found = true
			}
		case *ast.CallExpr:
			if n.Pos() > behind {
				name := strings.ToLower(types.ExprString(n.Fun))
				name = name[strings.LastIndexByte(name, '.')+1:]
				for _, part := range [...]string{"wait", "join", "done", "finish", "sync", "drain", "collect"} {
					found = found || strings.Contains(name, part) && name != "done"
				}
			}
		case *ast.DeferStmt:
			// Runs behind everything.
			ast.Inspect(n.Call, func(n ast.Node) bool {
				if s, ok := n.(*ast.SelectorExpr); ok {
					found = found || strings.Contains(strings.ToLower(s.Sel.Name), "wait")
				}
				if u, ok := n.(*ast.UnaryExpr); ok {
					found = found || u.Op == token.ARROW
				}
				return true
			})
		}
		return !found
	})
	return found
}

// goroutine reports what a go statement hands over.
func (l *look) goroutine(g *ast.GoStmt) {
	for _, arg := range g.Call.Args {
		if at, remedy := l.pointer(arg); at != nil {
			l.sayGo(at, remedy)
		}
	}
	lit, ok := ast.Unparen(g.Call.Fun).(*ast.FuncLit)
	if !ok {
		return
	}
	said := map[*types.Var]bool{}
	ast.Inspect(lit.Body, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		v, ok := l.TypesInfo.Uses[id].(*types.Var)
		if !ok || v.IsField() || said[v] || lit.Pos() <= v.Pos() && v.Pos() < lit.End() || l.global(id) != nil {
			return true
		}
		if remedy := l.handed(id, 0); remedy != "" {
			said[v] = true
			l.sayGo(id, remedy)
		}
		return true
	})
}

func (l *look) sayGo(at ast.Expr, remedy string) {
	l.Say(at, "%s leads to memory off the Go heap and belongs to a goroutine that nobody waits for here, and that may use it when it "+
		"is gone: wait for the goroutine, or %s", types.ExprString(at), remedy)
}

// call reports what is put into a resource, or into a component on the Go heap.
func (l *look) call(c *ast.CallExpr) {
	var value ast.Expr
	switch lib.Callee(l.TypesInfo, c) {
	case "vast.SetResource", "vast.HeapColumn.Add", "vast.HeapColumn.AddAll", "vast.HeapColumn.Set", "vast.HeapColumn.SetAll":
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
		l.Say(at, "%s leads to memory off the Go heap and is kept by %s, where it may outlive it: %s", types.ExprString(at),
			types.ExprString(c.Fun), remedy)
	}
}
