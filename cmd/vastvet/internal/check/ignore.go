package check

import (
	"go/ast"
	"go/token"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// Prefix begins a comment that tells an analyzer to be silent, as in
//
//	//vastvet:ignore useafter: this test provokes the panic
//
// It holds for its own line where code stands before it, else for the statement or declaration that begins on the next
// line, to its end.
const Prefix = "//vastvet:ignore"

// Parse takes a comment apart into the name of an analyzer and the reason. ok reports whether it is one that tells an analyzer
// to be silent at all; where the name or the reason is missing it is empty.
func Parse(comment string) (name, reason string, ok bool) {
	rest, ok := strings.CutPrefix(comment, Prefix)
	if !ok || rest != "" && !strings.ContainsAny(rest[:1], " \t:") {
		return "", "", false
	}
	// Behind a second comment mark is something for others.
	rest, _, _ = strings.Cut(rest, "//")
	name, reason, found := strings.Cut(rest, ":")
	if !found {
		return strings.TrimSpace(name), "", true
	}
	return strings.TrimSpace(name), strings.TrimSpace(reason), true
}

// ignore is such a comment, for one analyzer.
type ignore struct {
	comment     *ast.Comment
	file        string
	first, last int // lines
	used        bool
}

type ignores struct {
	name string
	all  []*ignore
}

// ignoresOf returns the comments of a package that concern the pass's analyzer.
func ignoresOf(p *analysis.Pass) *ignores {
	is := &ignores{name: p.Analyzer.Name}
	for _, f := range p.Files {
		for _, group := range f.Comments {
			for _, c := range group.List {
				if name, reason, ok := Parse(c.Text); ok && name == is.name && reason != "" {
					at := p.Fset.Position(c.Pos())
					first, last := lines(p.Fset, f, c)
					is.all = append(is.all, &ignore{comment: c, file: at.Filename, first: first, last: last})
				}
			}
		}
	}
	return is
}

// lines returns the lines that a comment is about.
func lines(fset *token.FileSet, f *ast.File, c *ast.Comment) (first, last int) {
	own := fset.Position(c.Pos()).Line
	first, last = own+1, own+1
	before := false // whether code stands before the comment on its line
	ast.Inspect(f, func(n ast.Node) bool {
		if n == nil || n.Pos() > c.Pos() && fset.Position(n.Pos()).Line > own+1 {
			return false
		}
		switch n.(type) {
		case *ast.Comment, *ast.CommentGroup, *ast.File:
			return true
		}
		from, to := fset.Position(n.Pos()).Line, fset.Position(n.End()).Line
		if from == own && n.Pos() < c.Pos() || to == own && n.End() <= c.Pos() {
			before = true
		}
		// A comment in a group that ends further down is about what comes behind the group.
		if d, ok := n.(*ast.FuncDecl); ok && d.Doc != nil && d.Doc.Pos() <= c.Pos() && c.End() <= d.Doc.End() {
			first, last = own+1, to
		}
		if from == own+1 {
			switch n.(type) {
			case ast.Stmt, ast.Decl, ast.Spec, *ast.Field, *ast.KeyValueExpr:
				last = max(last, to)
			}
		}
		return true
	})
	if before {
		return own, own
	}
	return first, last
}

// hide reports whether a comment says that what is found at a place is to be passed over.
func (is *ignores) hide(fset *token.FileSet, pos token.Pos) bool {
	at := fset.Position(pos)
	for _, i := range is.all {
		if i.file == at.Filename && i.first <= at.Line && at.Line <= i.last {
			i.used = true
			return true
		}
	}
	return false
}

// unused reports the comments that had nothing to pass over.
func (is *ignores) unused(report func(analysis.Diagnostic)) {
	for _, i := range is.all {
		if !i.used {
			report(analysis.Diagnostic{
				Pos:     i.comment.Pos(),
				End:     i.comment.End(),
				Message: "this comment silences nothing: " + is.name + " finds no fault here; remove it",
				SuggestedFixes: []analysis.SuggestedFix{{
					Message:   "Remove the comment",
					TextEdits: []analysis.TextEdit{{Pos: i.comment.Pos(), End: i.comment.End()}},
				}},
			})
		}
	}
}
