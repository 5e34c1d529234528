// Package trace finds the expressions that values come from, within one package. It follows variables and
// fields that are assigned in one place, because their source is certain.
package trace

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ast/inspector"

	"github.com/vastgo/vast/cmd/vastvet/internal/lib"
)

// Source is one place where a variable gets a value.
type Source struct {
	// Expr is the value. If the value is one of several results, as in v, ok := m[k], Expr is the expression
	// that has the results. In a range statement, Expr is the operand. Expr is nil if the value is computed
	// from the old value, as in x++.
	Expr ast.Expr
	// Result is the index of the value among several results. In a range statement, Result is 0 for the first
	// variable and 1 for the second variable.
	Result int
	// Range is the range statement, or nil.
	Range *ast.RangeStmt
}

// Values holds the sources of all variables and fields of a package.
type Values struct {
	Info    *types.Info
	sources map[*types.Var][]Source
	taken   map[*types.Var]bool // variables whose address is taken with &, so that other code may write them
	read    map[*types.Var]bool // variables whose value may be used
	params  map[*types.Var]bool // parameters, receivers and results
}

// New collects the sources of a package.
func New(info *types.Info, in *inspector.Inspector) *Values {
	v := &Values{info, map[*types.Var][]Source{}, map[*types.Var]bool{}, map[*types.Var]bool{},
		map[*types.Var]bool{}}
	written := map[*ast.Ident]bool{}
	for n := range in.PreorderSeq((*ast.AssignStmt)(nil), (*ast.ValueSpec)(nil), (*ast.RangeStmt)(nil),
		(*ast.IncDecStmt)(nil), (*ast.CompositeLit)(nil), (*ast.UnaryExpr)(nil), (*ast.FuncType)(nil),
		(*ast.FuncDecl)(nil)) {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, to := range n.Lhs {
				switch {
				case n.Tok != token.ASSIGN && n.Tok != token.DEFINE:
					v.add(to, Source{})
				case len(n.Lhs) == len(n.Rhs):
					v.add(to, Source{Expr: n.Rhs[i]})
				default:
					v.add(to, Source{Expr: n.Rhs[0], Result: i})
				}
				if n.Tok == token.ASSIGN {
					if id := last(to); id != nil {
						written[id] = true
					}
				}
			}
		case *ast.ValueSpec:
			for i, name := range n.Names {
				switch {
				case len(n.Values) == len(n.Names):
					v.add(name, Source{Expr: n.Values[i]})
				case len(n.Values) == 1:
					v.add(name, Source{Expr: n.Values[0], Result: i})
				}
			}
		case *ast.RangeStmt:
			for i, to := range []ast.Expr{n.Key, n.Value} {
				if to != nil {
					v.add(to, Source{Expr: n.X, Result: i, Range: n})
				}
			}
		case *ast.IncDecStmt:
			v.add(n.X, Source{})
		case *ast.CompositeLit:
			v.literal(n)
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				if x := v.Var(n.X); x != nil {
					v.taken[x] = true
				}
			}
		case *ast.FuncDecl:
			v.addParams(n.Recv)
		case *ast.FuncType:
			v.addParams(n.Params)
			v.addParams(n.Results)
		}
	}
	for id, object := range info.Uses {
		if x, ok := object.(*types.Var); ok && !written[id] {
			v.read[x.Origin()] = true
		}
	}
	return v
}

func (v *Values) addParams(fields *ast.FieldList) {
	if fields == nil {
		return
	}
	for _, f := range fields.List {
		for _, name := range f.Names {
			if x, ok := v.Info.Defs[name].(*types.Var); ok {
				v.params[x] = true
			}
		}
	}
}

// last returns the identifier that names a variable or field, or nil.
func last(to ast.Expr) *ast.Ident {
	switch to := ast.Unparen(to).(type) {
	case *ast.Ident:
		return to
	case *ast.SelectorExpr:
		return to.Sel
	}
	return nil
}

func (v *Values) add(to ast.Expr, s Source) {
	if x := v.Var(to); x != nil {
		v.sources[x] = append(v.sources[x], s)
	}
}

// literal adds a source to each field that a composite literal sets.
func (v *Values) literal(l *ast.CompositeLit) {
	t := v.Info.TypeOf(l)
	if t == nil {
		return
	}
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	s, ok := t.Underlying().(*types.Struct)
	if !ok {
		return
	}
	for i, element := range l.Elts {
		if kv, ok := element.(*ast.KeyValueExpr); ok {
			v.add(kv.Key, Source{Expr: kv.Value})
		} else if i < s.NumFields() {
			x := s.Field(i).Origin()
			v.sources[x] = append(v.sources[x], Source{Expr: element})
		}
	}
}

// Var returns the variable or field that an expression refers to, or nil.
func (v *Values) Var(e ast.Expr) *types.Var {
	id := last(e)
	if id == nil {
		return nil
	}
	if x, ok := v.Info.ObjectOf(id).(*types.Var); ok {
		return x.Origin()
	}
	return nil
}

// Sources returns the places of the package where a variable gets a value. sure reports whether the variable
// gets no other values: it is not a parameter, receiver or result, its address is not taken with &, and it is
// not exposed.
func (v *Values) Sources(x *types.Var) (all []Source, sure bool) {
	return v.sources[x], !v.params[x] && !v.taken[x] && !exposed(x)
}

// exposed reports whether other packages can write a variable or field by its name. It assumes that no other
// package writes variables and fields of a package below a folder "internal".
func exposed(x *types.Var) bool {
	pkg := x.Pkg()
	if !x.Exported() || pkg == nil || !x.IsField() && x.Parent() != pkg.Scope() {
		return false
	}
	return pkg.Name() != "main" && !strings.Contains("/"+pkg.Path()+"/", "/internal/")
}

// Read reports whether the package may use the value of a variable.
func (v *Values) Read(x *types.Var) bool { return v.read[x] }

// Taken reports whether the address of a variable is taken with &.
func (v *Values) Taken(x *types.Var) bool { return v.taken[x] }

// Parameter reports whether a variable is a parameter, a receiver or a result.
func (v *Values) Parameter(x *types.Var) bool { return v.params[x] }

// Only returns the source of an expression's value. It follows variables with one source, and strips calls of
// Vast's methods Named. It stops at a range statement, at an expression with several results, at the first
// expression that it cannot follow, and after 16 variables.
func (v *Values) Only(e ast.Expr) Source {
	for range 16 {
		e = lib.Unnamed(v.Info, e)
		x := v.Var(e)
		if x == nil {
			return Source{Expr: e}
		}
		all, sure := v.Sources(x)
		if !sure || len(all) != 1 || all[0].Expr == nil {
			return Source{Expr: e}
		}
		if s := all[0]; s.Range != nil || s.Result > 0 || v.several(s.Expr) {
			return s
		}
		e = all[0].Expr
	}
	return Source{Expr: e}
}

// several reports whether an expression has several results: a call, or a form such as m[k] in v, ok := m[k].
func (v *Values) several(e ast.Expr) bool {
	t, ok := v.Info.TypeOf(e).(*types.Tuple)
	return ok && t.Len() > 1
}

// Base returns the pointer or slice through which an expression is reached, such as p for p.Place.X and s for
// s[i].X. A map does not count: Base returns p for p.m[k], and nil for m[k]. It also returns nil if the
// expression is a variable, is a part of a variable or of a call's result, or is reached only through an
// embedded pointer.
func Base(info *types.Info, e ast.Expr) ast.Expr {
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
		t := info.TypeOf(x)
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

// Path describes an expression that is a variable or a field of a variable. path is the text of the
// expression without * and &, such as "s.Place.X", and root is the variable, such as s. Expressions with
// equal paths and roots mean the same variable or field, except that p, *p and &p have the same path. For
// other expressions, path is empty and root is nil.
func Path(info *types.Info, e ast.Expr) (path string, root *types.Var) {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		if x, ok := info.ObjectOf(e).(*types.Var); ok {
			return e.Name, x
		}
	case *ast.SelectorExpr:
		if x, ok := info.Uses[e.Sel].(*types.Var); ok && !x.IsField() {
			return e.Sel.Name, x // a variable of another package
		}
		if s := info.Selections[e]; s != nil && s.Kind() == types.FieldVal {
			if path, root = Path(info, e.X); root != nil {
				return path + "." + e.Sel.Name, root
			}
		}
	case *ast.StarExpr:
		return Path(info, e.X)
	case *ast.UnaryExpr:
		if e.Op == token.AND {
			return Path(info, e.X)
		}
	}
	return "", nil
}
