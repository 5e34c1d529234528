package queryloop

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/ast/inspector"

	"github.com/vastgo/vast/cmd/vastvet/internal/check"
	"github.com/vastgo/vast/cmd/vastvet/internal/lib"
)

// single reports whether a program certainly has only one world: it calls NewWorld in one place that runs
// once, and imports no package that may make worlds.
func single(p *check.Pass) bool {
	return p.Pkg.Name() == "main" && !makesWorlds(p.Pkg, map[*types.Package]bool{}) &&
		runsOnce(p, lib.Module, "NewWorld", 16)
}

// makesWorlds reports whether a package imports, directly or indirectly, a package that may make worlds.
// Every package that imports Vast may make worlds, except package sched.
func makesWorlds(pkg *types.Package, seen map[*types.Package]bool) bool {
	for _, imported := range pkg.Imports() {
		path := imported.Path()
		if seen[imported] || path == lib.Module || path == lib.Module+"/sched" {
			continue
		}
		seen[imported] = true
		for _, known := range imported.Imports() {
			if known.Path() == lib.Module {
				return true
			}
		}
		if makesWorlds(imported, seen) {
			return true
		}
	}
	return false
}

// runsOnce reports whether a program certainly calls a function at most once. The only reference to the
// function must be a call outside of loops: in main, in another function that runs at most once, or in the
// declaration of a package-level variable.
func runsOnce(p *check.Pass, path, name string, steps int) bool {
	var use *ast.Ident
	for id, object := range p.TypesInfo.Uses {
		f, ok := object.(*types.Func)
		if !ok || f.Name() != name || f.Pkg() == nil || f.Pkg().Path() != path ||
			f.Signature().Recv() != nil {
			continue
		}
		if use != nil {
			return false
		}
		use = id
	}
	if use == nil || steps == 0 {
		return false
	}
	at, ok := p.Inspector.Root().FindByPos(use.Pos(), use.End())
	if !ok || !called(at, use) {
		return false
	}
	around := []ast.Node{(*ast.ForStmt)(nil), (*ast.RangeStmt)(nil), (*ast.LabeledStmt)(nil),
		(*ast.FuncLit)(nil), (*ast.FuncDecl)(nil)}
	for c := range at.Enclosing(around...) {
		f, ok := c.Node().(*ast.FuncDecl)
		if !ok || f.Recv != nil {
			return false
		}
		return f.Name.Name == "main" || runsOnce(p, p.Pkg.Path(), f.Name.Name, steps-1)
	}
	return true // in the declaration of a package-level variable
}

// called reports whether an identifier names the function in a call.
func called(at inspector.Cursor, name *ast.Ident) bool {
	for c := range at.Enclosing((*ast.CallExpr)(nil)) {
		fun := ast.Unparen(c.Node().(*ast.CallExpr).Fun)
		if s, ok := fun.(*ast.SelectorExpr); ok {
			fun = s.Sel
		}
		return fun == name
	}
	return false
}
