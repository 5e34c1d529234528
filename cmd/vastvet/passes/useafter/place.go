package useafter

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/vastgo/vast/cmd/vastvet/internal/lib"
)

// place is a variable, or what is reached from one: its path has the fields behind the variable's name, those of embedding
// too, and a star for what a pointer to a pointer leads to. A pointer to a struct and the struct are one place.
type place struct {
	root *types.Var
	path string
}

// field reports whether a place is more than a variable.
func (p place) field() bool { return strings.Contains(p.path, ".") }

// below reports whether a place is another one or a part of it.
func (p place) below(other place) bool {
	return p.root == other.root && (p.path == other.path || strings.HasPrefix(p.path, other.path+"."))
}

// through reports whether a place is reached by one of some fields.
func (p place) through(names map[string]bool) bool {
	for _, name := range strings.Split(p.path, ".")[1:] {
		if names[name] {
			return true
		}
	}
	return false
}

// String is what messages call a place.
func (p place) String() string {
	path, star := strings.CutSuffix(p.path, ".*")
	path = strings.ReplaceAll(path, ".*", "")
	if star {
		return "*" + path
	}
	return path
}

// place returns what an expression names, if that can be followed.
func (f *function) place(e ast.Expr) (place, bool) {
	if e == nil {
		return place{}, false
	}
	p := f.path(e)
	if p.root == nil || f.shared[p.root] || f.values.Taken(p.root) || p.path == "_" {
		return place{}, false
	}
	return p, true
}

func (f *function) path(e ast.Expr) place {
	info := f.p.TypesInfo
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		if x, ok := info.ObjectOf(e).(*types.Var); ok {
			return place{x, e.Name}
		}
	case *ast.SelectorExpr:
		if x, ok := info.Uses[e.Sel].(*types.Var); ok && !x.IsField() {
			return place{x, e.Sel.Name} // of another package
		}
		if s := info.Selections[e]; s != nil && s.Kind() == types.FieldVal {
			if p := f.embedding(e, s); p.root != nil {
				return place{p.root, p.path + "." + e.Sel.Name}
			}
		}
	case *ast.StarExpr:
		p := f.path(e.X)
		if p.root != nil && pointer(info.TypeOf(e)) {
			p.path += ".*"
		}
		return p
	case *ast.UnaryExpr:
		if e.Op == token.AND && isStruct(info.TypeOf(e.X)) {
			return f.path(e.X)
		}
	}
	return place{}
}

// embedding is the path of what a selector's field or method belongs to, with the embedded fields that the selector leaves
// out. It ends at a type of the library: what that embeds is its own affair.
func (f *function) embedding(e *ast.SelectorExpr, s *types.Selection) place {
	p := f.path(e.X)
	if p.root == nil {
		return p
	}
	t := s.Recv()
	for _, i := range s.Index()[:len(s.Index())-1] {
		if q, ok := t.Underlying().(*types.Pointer); ok {
			t = q.Elem()
		}
		of, ok := t.Underlying().(*types.Struct)
		if !ok || lib.Own(of.Field(i).Pkg()) && of.Field(i).Pkg() != f.p.Pkg {
			break
		}
		p.path += "." + of.Field(i).Name()
		t = of.Field(i).Type()
	}
	return p
}

// owner returns what a call is made on or for.
func (f *function) owner(call *ast.CallExpr) (place, bool) {
	if s, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok && f.p.TypesInfo.Types[s.X].IsValue() {
		if selection := f.p.TypesInfo.Selections[s]; selection != nil {
			if _, ok := f.place(s.X); ok {
				return f.embedding(s, selection), true
			}
		}
		return place{}, false
	}
	if len(call.Args) == 0 {
		return place{}, false
	}
	return f.place(call.Args[0])
}

// changes reports whether a function that is not known may give a place a value: a field, a variable of a package, or one
// that belongs to the function around this one and gets values behind its declaration.
func (f *function) changes(p place) bool {
	if p.root == nil {
		return false
	}
	outside := p.root.Pos() < f.node.Pos() || p.root.Pos() >= f.node.End()
	return p.field() || p.root.Pkg() != nil && p.root.Parent() == p.root.Pkg().Scope() || outside && f.rewritten[p.root]
}

func pointer(t types.Type) bool {
	_, ok := t.Underlying().(*types.Pointer)
	return ok
}

func isStruct(t types.Type) bool {
	_, ok := t.Underlying().(*types.Struct)
	return ok
}

// fields adds the names of a struct's fields, and of those of the structs in it. Each struct is seen once: there may be
// more ways to it than can be gone.
func fields(t types.Type, names map[string]bool, seen map[types.Type]bool) {
	s, ok := t.Underlying().(*types.Struct)
	if !ok || seen[s] {
		return
	}
	seen[s] = true
	for x := range s.Fields() {
		names[x.Name()] = true
		fields(x.Type(), names, seen)
	}
}
