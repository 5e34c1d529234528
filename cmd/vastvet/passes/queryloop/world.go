package queryloop

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/inspector"

	"github.com/vastgo/vast/cmd/vastvet/internal/lib"
	"github.com/vastgo/vast/cmd/vastvet/internal/trace"
)

// world identifies a world by its origin and, if it was found in a struct, by the struct.
type world struct {
	// from is the *types.Var that holds the world, the *ast.CallExpr that made it, the string
	// "sched.Context.World", or, for a field of the struct, a value of the type fieldWorlds.
	from any
	in   place // the struct, or the zero place
	// kept is whether the world comes from a variable that a function sets and that is declared outside of
	// this function. Each call may then set another world.
	kept bool
}

// fieldWorlds holds the worlds of all values that the package assigns to a field. If there are no worlds or
// too many, or if one of them is unknown, fieldWorlds holds only a world whose origin is the field. Unused
// elements are zero.
type fieldWorlds [8]world

// place is a variable, or a field of a variable. The zero place is unknown.
type place struct {
	root *types.Var
	path string
}

// origin returns the variable, call or method name that a world comes from. If a field may hold several
// worlds, origin returns the origin of the first.
func (w world) origin() any {
	for {
		from, ok := w.from.(fieldWorlds)
		if !ok {
			return w.from
		}
		w = from[0]
	}
}

// same reports whether two worlds are the same. Two fields of one struct count as the same world if the
// package assigns one world to both fields.
func (w world) same(v world) bool {
	if w == v {
		return w != world{}
	}
	a, ok := w.from.(fieldWorlds)
	b, too := v.from.(fieldWorlds)
	return ok && too && w.in == v.in && w.kept == v.kept && slices.ContainsFunc(a[:], func(x world) bool {
		return x != world{} && slices.Contains(b[:], x)
	})
}

// differs reports whether two worlds are meant to be different: they come from two calls of NewWorld, from
// two variables in one scope, from two fields of one struct, from one field of two structs, or from two
// contexts of systems. If both same and differs return false, nothing is known.
func (w world) differs(v world) bool {
	if w.same(v) {
		return false
	}
	a, b := w.origin(), v.origin()
	if a == b {
		return a != nil && w.in != place{} && v.in != place{} && w.in != v.in
	}
	if w.in != v.in {
		return false
	}
	x, ok := a.(*types.Var)
	y, too := b.(*types.Var)
	if !ok || !too {
		_, ok = a.(*ast.CallExpr)
		_, too = b.(*ast.CallExpr)
		return ok && too
	}
	return x.IsField() == y.IsField() && x.Parent() == y.Parent() &&
		lib.TypeName(x.Type()) == "vast.World" && lib.TypeName(y.Type()) == "vast.World"
}

// worlds finds the world of a value.
type worlds struct {
	values *trace.Values
	in     *inspector.Inspector
	within ast.Node // the function under analysis
}

// of returns the world of a value: the value itself if it is a world, or the world from which the value was
// made. It returns the zero world if the world is unknown.
func (ws worlds) of(e ast.Expr) world { return ws.follow(e, 16) }

func (ws worlds) follow(e ast.Expr, steps int) world {
	if e == nil || steps == 0 {
		return world{}
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.CallExpr:
		return ws.made(e, steps-1)
	case *ast.StarExpr:
		return ws.follow(e.X, steps)
	case *ast.Ident, *ast.SelectorExpr:
		x := ws.values.Var(e)
		if x == nil || ws.values.Taken(x) {
			return world{}
		}
		if s, ok := e.(*ast.SelectorExpr); ok && x.IsField() {
			return ws.field(s, x, steps-1)
		}
		return ws.variable(x, steps-1)
	}
	return world{}
}

func (ws worlds) variable(x *types.Var, steps int) world {
	all, _ := ws.values.Sources(x)
	if len(all) == 0 {
		return world{from: x}
	}
	if !ws.once(x, all) {
		return world{}
	}
	again, kept := ws.apart(all[0].Expr, x)
	if again {
		return world{}
	}
	var w world
	if s := all[0]; s.Range == nil {
		w = ws.follow(s.Expr, steps)
	} else if call, ok := ast.Unparen(s.Expr).(*ast.CallExpr); ok && loops[lib.Callee(ws.values.Info, call)] {
		w = ws.made(call, steps)
	}
	if w == (world{}) {
		w.from = x
	}
	w.kept = w.kept || kept
	return w
}

// once reports whether exactly one expression gives a variable its value. Parameters get values from all
// callers.
func (ws worlds) once(x *types.Var, all []trace.Source) bool {
	return len(all) == 1 && all[0].Expr != nil && !ws.values.Parameter(x)
}

// apart reports whether a variable may hold a value from another iteration or call. again means that a loop
// assigns a variable declared outside of the loop. kept means that a function assigns a variable declared
// outside of the function.
func (ws worlds) apart(source ast.Expr, x *types.Var) (again, kept bool) {
	at, ok := ws.in.Root().FindByPos(source.Pos(), source.End())
	if !ok {
		return true, false
	}
	for c := range at.Enclosing((*ast.ForStmt)(nil), (*ast.RangeStmt)(nil), (*ast.FuncDecl)(nil),
		(*ast.FuncLit)(nil)) {
		n := c.Node()
		if n.Pos() <= x.Pos() && x.Pos() < n.End() {
			break
		}
		switch n := n.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			return true, false
		case *ast.FuncDecl:
			kept = kept || n.Name.Name != "main" || n.Recv != nil // main runs once
		case *ast.FuncLit:
			kept = true
		}
	}
	return false, kept
}

// field returns the world in the field f of a struct. The selector s refers to the field.
func (ws worlds) field(s *ast.SelectorExpr, f *types.Var, steps int) world {
	in := ws.place(s.X, steps)
	if in == (place{}) {
		return world{}
	}
	all, _ := ws.values.Sources(f)
	if value := ws.madeWith(s.X, all); value != nil {
		return ws.follow(value, steps)
	}
	if len(all) > 1 && slices.ContainsFunc(all, ws.setsHere) {
		return world{}
	}
	from, ok := ws.given(all, steps/2) // half of the steps, because each step may branch
	if !ok {
		from = fieldWorlds{{from: f}}
	}
	return world{from: from, in: in}
}

// given returns the worlds that a field may hold. all lists the values of the field. ok reports whether there
// are worlds, all of them are known, and they fit into the result.
func (ws worlds) given(all []trace.Source, steps int) (from fieldWorlds, ok bool) {
	var list []world
	for _, s := range all {
		if s.Expr == nil || s.Range != nil {
			return fieldWorlds{}, false
		}
		if ws.values.Info.Types[s.Expr].IsNil() {
			continue
		}
		w := ws.follow(s.Expr, steps)
		if w == (world{}) {
			return fieldWorlds{}, false
		}
		inner, ofField := w.from.(fieldWorlds)
		if !ofField || w.in != ws.holder(s.Expr, steps) {
			// w is not from a field of the same struct: list w itself, not the worlds in it.
			inner = fieldWorlds{w}
		}
		for _, w := range inner {
			if w != (world{}) {
				list = append(list, w)
			}
		}
	}
	if len(list) == 0 || len(list) > len(from) {
		return fieldWorlds{}, false
	}
	copy(from[:], list)
	return from, true
}

// madeWith returns the value of a field in the composite literal that makes the struct e. all lists the
// values of the field. madeWith returns nil if the literal is unknown, or if an assignment sets the field.
func (ws worlds) madeWith(e ast.Expr, all []trace.Source) ast.Expr {
	x := ws.values.Var(e)
	if x == nil || x.IsField() {
		return nil
	}
	made, _ := ws.values.Sources(x)
	if !ws.once(x, made) {
		return nil
	}
	l := ast.Unparen(made[0].Expr)
	if u, ok := l.(*ast.UnaryExpr); ok {
		l = ast.Unparen(u.X)
	}
	if again, kept := ws.apart(l, x); again || kept {
		return nil
	}
	var value ast.Expr
	for _, s := range all {
		if s.Expr == nil {
			return nil
		}
		literal := ws.literal(s.Expr)
		if literal == nil {
			return nil
		}
		if literal == l {
			value = s.Expr
		}
	}
	return value
}

// literal returns the composite literal that contains a value as a field, or nil.
func (ws worlds) literal(value ast.Expr) ast.Expr {
	at, ok := ws.in.Root().FindByPos(value.Pos(), value.End())
	if !ok {
		return nil
	}
	for c := range at.Enclosing((*ast.CompositeLit)(nil)) {
		l := c.Node().(*ast.CompositeLit)
		for _, element := range l.Elts {
			if kv, ok := element.(*ast.KeyValueExpr); ok && kv.Value == value || element == value {
				return l
			}
		}
	}
	return nil
}

// holder finds the assignment s.f = value and returns the place of the struct s.
func (ws worlds) holder(value ast.Expr, steps int) place {
	at, ok := ws.in.Root().FindByPos(value.Pos(), value.End())
	if !ok {
		return place{}
	}
	for c := range at.Enclosing((*ast.AssignStmt)(nil)) {
		n := c.Node().(*ast.AssignStmt)
		for i, to := range n.Lhs {
			if s, ok := ast.Unparen(to).(*ast.SelectorExpr); ok && len(n.Rhs) == len(n.Lhs) &&
				n.Rhs[i] == value {
				return ws.place(s.X, steps)
			}
		}
	}
	return place{}
}

// setsHere reports whether the function under analysis may assign the value s to a field, outside of
// composite literals.
func (ws worlds) setsHere(s trace.Source) bool {
	return s.Expr == nil || ws.within.Pos() <= s.Expr.Pos() && s.Expr.End() <= ws.within.End() &&
		ws.literal(s.Expr) == nil
}

// place returns the place that an expression refers to. It returns the zero place if the expression may refer
// to different structs at different times.
func (ws worlds) place(e ast.Expr, steps int) place {
	if steps == 0 {
		return place{}
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.StarExpr:
		return ws.place(e.X, steps)
	case *ast.UnaryExpr:
		return ws.place(e.X, steps)
	case *ast.Ident, *ast.SelectorExpr:
		x := ws.values.Var(e)
		if x == nil {
			return place{}
		}
		if _, pointer := x.Type().Underlying().(*types.Pointer); pointer && ws.values.Taken(x) {
			return place{}
		}
		all, _ := ws.values.Sources(x)
		if s, ok := e.(*ast.SelectorExpr); ok && x.IsField() {
			p := ws.place(s.X, steps-1)
			if p.root == nil || len(all) > 1 {
				return place{}
			}
			return place{p.root, p.path + "." + x.Name()}
		}
		if len(all) == 0 {
			return place{x, x.Name()}
		}
		if !ws.once(x, all) {
			return place{}
		}
		again, kept := ws.apart(all[0].Expr, x)
		if again {
			return place{}
		}
		if p := ws.place(all[0].Expr, steps-1); p.root != nil && !kept && all[0].Range == nil {
			return p
		}
		return place{x, x.Name()}
	}
	return place{}
}

// made returns the world of a call's result.
func (ws worlds) made(call *ast.CallExpr, steps int) world {
	name := lib.Callee(ws.values.Info, call)
	qualifier, last := lib.Split(name)
	pkg, _, method := strings.Cut(qualifier, ".")
	switch {
	case name == "vast.NewWorld":
		return world{from: call}
	case name == "sched.Context.World":
		if p := ws.place(lib.Receiver(call), steps); p.root != nil {
			return world{from: name, in: p}
		}
	case !slices.Contains([]string{"group", "prefab", "probe", "shared", "vast"}, pkg):
	case method:
		return ws.follow(lib.Receiver(call), steps)
	case len(call.Args) > 0 &&
		(pkg == "probe" || name == "shared.GroupByTarget" || strings.HasPrefix(last, "New")):
		return ws.follow(call.Args[0], steps)
	}
	return world{}
}
