// Package lib identifies the packages, types and functions of Vast by name.
package lib

import (
	"go/ast"
	"go/types"
	"path"
	"strings"

	"golang.org/x/tools/go/types/typeutil"
)

// Module is the module path of Vast.
const Module = "github.com/vastgo/vast"

// Own reports whether a package belongs to Vast.
func Own(pkg *types.Package) bool {
	return pkg != nil && (pkg.Path() == Module || strings.HasPrefix(pkg.Path(), Module+"/"))
}

// Reaches reports whether a package belongs to Vast or imports it directly or indirectly.
func Reaches(pkg *types.Package) bool {
	seen := map[*types.Package]bool{}
	var reaches func(*types.Package) bool
	reaches = func(pkg *types.Package) bool {
		if Own(pkg) {
			return true
		}
		seen[pkg] = true
		for _, imported := range pkg.Imports() {
			if !seen[imported] && reaches(imported) {
				return true
			}
		}
		return false
	}
	return reaches(pkg)
}

// Callee returns the name of the called function or method of Vast, such as "bulk.NewPool" or
// "vast.Column.Get", or an empty string for other functions. The type in a method's name is the type of the
// receiver expression if this type is of Vast, otherwise the type that declares the method.
func Callee(info *types.Info, call *ast.CallExpr) string {
	f, ok := typeutil.Callee(info, call).(*types.Func)
	if !ok {
		return ""
	}
	return FuncName(info, call.Fun, f)
}

// FuncName returns the name of f in the form of [Callee]. fun is the expression that refers to f.
func FuncName(info *types.Info, fun ast.Expr, f *types.Func) string {
	if !Own(f.Pkg()) {
		return ""
	}
	recv := f.Signature().Recv()
	if recv == nil {
		return short(f.Pkg()) + "." + f.Name()
	}
	if s, ok := ast.Unparen(fun).(*ast.SelectorExpr); ok {
		if selection := info.Selections[s]; selection != nil {
			if t := TypeName(selection.Recv()); t != "" {
				return t + "." + f.Name()
			}
		}
	}
	return TypeName(recv.Type()) + "." + f.Name()
}

// TypeName returns the name of a type of Vast, such as "vast.Column", or an empty string for other types. The
// name of a pointer type is the name of its base type.
func TypeName(t types.Type) string {
	t = types.Unalias(t)
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
	}
	named, ok := t.(*types.Named)
	if !ok || !Own(named.Obj().Pkg()) {
		return ""
	}
	return short(named.Obj().Pkg()) + "." + named.Obj().Name()
}

// short returns the name of a package in messages and tables: its path within the module, or "vast" for the
// root.
func short(pkg *types.Package) string {
	below := strings.TrimPrefix(strings.TrimPrefix(pkg.Path(), Module), "/")
	if below == "" {
		return path.Base(Module)
	}
	return below
}

// Receiver returns the receiver expression of a method call. It returns nil for a call without a selector.
func Receiver(call *ast.CallExpr) ast.Expr {
	if s, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok {
		return s.X
	}
	return nil
}

// Unnamed strips parentheses from an expression, and calls of Vast's methods Named, which return their
// receiver.
func Unnamed(info *types.Info, e ast.Expr) ast.Expr {
	for {
		e = ast.Unparen(e)
		call, ok := e.(*ast.CallExpr)
		if !ok {
			return e
		}
		if _, last := Split(Callee(info, call)); last != "Named" {
			return e
		}
		e = Receiver(call)
	}
}

// Split splits a result of [Callee] at the last dot.
func Split(name string) (qualifier, last string) {
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		return name[:i], name[i+1:]
	}
	return "", name
}
