// Package check holds the parts that all analyzers of vastvet share. It skips packages that do not use Vast,
// and mistakes that a comment silences.
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

// New returns an analyzer. The first line of doc says what the analyzer finds. facts are the types of facts
// that the analyzer exports about functions.
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

// Pass is one run of an analyzer on one package.
type Pass struct {
	*analysis.Pass
	Inspector *inspector.Inspector
	provoked  []*ast.FuncLit // cached by Provoked
}

// Say reports a mistake at a node.
func (p *Pass) Say(at ast.Node, format string, args ...any) {
	p.Report(analysis.Diagnostic{Pos: at.Pos(), End: at.End(), Message: fmt.Sprintf(format, args...)})
}

// SayWithFix reports a mistake at a node, and a fix that applies edits. title describes the fix. If edits is
// nil, SayWithFix reports the mistake without a fix.
func (p *Pass) SayWithFix(at ast.Node, title string, edits []analysis.TextEdit, format string, args ...any) {
	d := analysis.Diagnostic{Pos: at.Pos(), End: at.End(), Message: fmt.Sprintf(format, args...)}
	if edits != nil {
		d.SuggestedFixes = []analysis.SuggestedFix{{Message: title, TextEdits: edits}}
	}
	p.Report(d)
}

// Functions calls f for the body of each function and function literal.
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

// InTest reports whether a node is in a test file.
func (p *Pass) InTest(n ast.Node) bool {
	return strings.HasSuffix(p.Fset.File(n.Pos()).Name(), "_test.go")
}

// Provoked reports whether a node is part of a function literal that makes a mistake on purpose. Such a
// literal is in a test, and has no parameters and only one statement besides declarations:
//
//	mustPanic(t, func() { vast.NewColumn[string](w) })
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
	return slices.ContainsFunc(p.provoked, func(lit *ast.FuncLit) bool {
		return lit.Pos() <= n.Pos() && n.End() <= lit.End()
	})
}
