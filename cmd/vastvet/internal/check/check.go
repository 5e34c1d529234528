// Package check makes the analyzers of vastvet alike: they pass over packages that have nothing to do with Vast, and over
// what a comment tells them to.
package check

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/vastgo/vast/cmd/vastvet/internal/lib"
)

const address = "https://pkg.go.dev/" + lib.Module + "/cmd/vastvet"

// New returns an analyzer. Its documentation begins with a line that says what it finds. Facts are what it knows of
// functions of packages that others import.
func New(name, doc string, run func(*Pass), facts ...analysis.Fact) *analysis.Analyzer {
	return &analysis.Analyzer{
		Name:      name,
		Doc:       doc,
		URL:       address,
		Requires:  []*analysis.Analyzer{inspect.Analyzer},
		FactTypes: facts,
		Run: func(p *analysis.Pass) (any, error) {
			if !lib.Reaches(p.Pkg) {
				return nil, nil
			}
			ignores := ignoresOf(p)
			report := p.Report
			pass := *p
			pass.Report = func(d analysis.Diagnostic) {
				if !ignores.hide(p.Fset, d.Pos) {
					report(d)
				}
			}
			run(&Pass{Pass: &pass, Inspector: p.ResultOf[inspect.Analyzer].(*inspector.Inspector)})
			ignores.unused(report)
			return nil, nil
		},
	}
}

// Pass is what an analyzer is given: one package.
type Pass struct {
	*analysis.Pass
	Inspector *inspector.Inspector
	provoked  []*ast.FuncLit
}

// Say reports what is wrong at a node.
func (p *Pass) Say(at ast.Node, format string, args ...any) {
	p.Report(analysis.Diagnostic{Pos: at.Pos(), End: at.End(), Message: fmt.Sprintf(format, args...)})
}

// SayWithFix is Say with a change of the source that mends it. Without edits it is Say.
func (p *Pass) SayWithFix(at ast.Node, mend string, edits []analysis.TextEdit, format string, args ...any) {
	d := analysis.Diagnostic{Pos: at.Pos(), End: at.End(), Message: fmt.Sprintf(format, args...)}
	if edits != nil {
		d.SuggestedFixes = []analysis.SuggestedFix{{Message: mend, TextEdits: edits}}
	}
	p.Report(d)
}

// Functions yields the bodies of all functions and function literals, each with the node that it belongs to.
func (p *Pass) Functions(f func(function ast.Node, typ *ast.FuncType, body *ast.BlockStmt)) {
	for n := range p.Inspector.PreorderSeq((*ast.FuncDecl)(nil), (*ast.FuncLit)(nil)) {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Body != nil {
				f(n, n.Type, n.Body)
			}
		case *ast.FuncLit:
			f(n, n.Type, n.Body)
		}
	}
}

// InTest reports whether a node stands in a file with tests.
func (p *Pass) InTest(n ast.Node) bool {
	return strings.HasSuffix(p.Fset.File(n.Pos()).Name(), "_test.go")
}

// Provoked reports whether a node stands in a function literal of one statement, and declarations for it, without parameters,
// in a test: such as
//
//	mustPanic(t, func() { vast.NewColumn[string](w) })
//
// It is there to see a mistake be caught.
func (p *Pass) Provoked(n ast.Node) bool {
	if !p.InTest(n) {
		return false
	}
	if p.provoked == nil {
		p.provoked = []*ast.FuncLit{}
		for n := range p.Inspector.PreorderSeq((*ast.FuncLit)(nil)) {
			lit := n.(*ast.FuncLit)
			statements := len(lit.Body.List)
			for _, s := range lit.Body.List {
				if _, declaration := s.(*ast.DeclStmt); declaration {
					statements--
				}
			}
			if statements == 1 && lit.Type.Params.NumFields() == 0 {
				p.provoked = append(p.provoked, lit)
			}
		}
	}
	return slices.ContainsFunc(p.provoked, func(lit *ast.FuncLit) bool { return lit.Pos() <= n.Pos() && n.End() <= lit.End() })
}
