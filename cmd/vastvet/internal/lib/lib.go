// Package lib knows what belongs to Vast: its packages, types and functions by their names.
package lib

import (
	"go/ast"
	"go/types"
	"path"
	"strings"

	"golang.org/x/tools/go/types/typeutil"
)

// Module is the path of the module whose users are checked.
const Module = "github.com/vastgo/vast"

// Own reports whether a package is one of the module's.
func Own(pkg *types.Package) bool {
	return pkg != nil && (pkg.Path() == Module || strings.HasPrefix(pkg.Path(), Module+"/"))
}

// Reaches reports whether a package is one of the module's or imports one, be it by way of others.
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

// Callee returns the name of the module's function or method that is called, such as "bulk.NewPool" or "vast.Column.Get";
// empty for others. A method is that of the type it is called on, also where the type embeds another one that has it.
func Callee(info *types.Info, call *ast.CallExpr) string {
	f, ok := typeutil.Callee(info, call).(*types.Func)
	if !ok {
		return ""
	}
	return FuncName(info, call.Fun, f)
}

// FuncName returns the name of a function or method as [Callee] does, which fun, an expression, stands for.
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

// TypeName returns the name of a type of the module, or of what a pointer to it leads to, such as "vast.Column"; empty for
// others.
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

// short is the name by which messages and tables call a package. Those below internal, cmd and the like have their whole
// path, so that they are nobody else's.
func short(pkg *types.Package) string {
	below := strings.TrimPrefix(strings.TrimPrefix(pkg.Path(), Module), "/")
	if below == "" {
		return path.Base(Module)
	}
	return below
}

// Receiver returns the expression that a method is called on, or nil.
func Receiver(call *ast.CallExpr) ast.Expr {
	if s, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok {
		return s.X
	}
	return nil
}

// Split takes a name that [Callee] returned apart into what comes before its last dot and what behind.
func Split(name string) (of, last string) {
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		return name[:i], name[i+1:]
	}
	return "", name
}
