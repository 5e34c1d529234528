package useafter

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/vastgo/vast/cmd/vastvet/internal/lib"
)

// place is a variable, a field, or the target of a pointer. A pointer to a struct and the struct are the same
// place.
type place struct {
	root *types.Var
	// path is the variable's name followed by a dot and a name for each field, including embedded fields.
	// ".*" stands for the dereference of a pointer to a pointer.
	path string
}

// field reports whether a place is a field, or the target of a pointer to a pointer.
func (p place) field() bool { return strings.Contains(p.path, ".") }

// below reports whether a place equals the other place or is a part of the other place.
func (p place) below(other place) bool {
	return p.root == other.root && (p.path == other.path || strings.HasPrefix(p.path, other.path+"."))
}

// through reports whether the path of a place contains one of the given fields.
func (p place) through(names map[string]bool) bool {
	for _, name := range strings.Split(p.path, ".")[1:] {
		if names[name] {
			return true
		}
	}
	return false
}

// String returns the name of a place in messages.
func (p place) String() string {
	path, star := strings.CutSuffix(p.path, ".*")
	path = strings.ReplaceAll(path, ".*", "")
	if star {
		return "*" + path
	}
	return path
}

// place returns the place that an expression refers to. It reports whether the analyzer can follow the
// expression.
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
			return place{x, e.Sel.Name} // a variable of another package
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

// embedding returns the place that contains a selector's field or method. The path includes the embedded
// fields that the selector omits, except embedded fields inside types of the library.
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

// owner returns the receiver of a method call, or the first argument of a function call.
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

// changes reports whether an unknown function may assign to a place: the place is a field, the target of a
// pointer to a pointer, a package-level variable, or a variable of a surrounding function that is assigned
// again after its declaration.
func (f *function) changes(p place) bool {
	if p.root == nil {
		return false
	}
	outside := p.root.Pos() < f.node.Pos() || p.root.Pos() >= f.node.End()
	return p.field() || p.root.Pkg() != nil && p.root.Parent() == p.root.Pkg().Scope() || outside &&
		f.rewritten[p.root]
}

func pointer(t types.Type) bool {
	_, ok := t.Underlying().(*types.Pointer)
	return ok
}

func isStruct(t types.Type) bool {
	_, ok := t.Underlying().(*types.Struct)
	return ok
}

// fields adds the names of a struct's fields to names, including fields of nested structs. It visits each
// struct type once, because the number of paths may be exponential.
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
