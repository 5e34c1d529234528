package check

import (
	"go/ast"
	"go/token"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// Prefix begins a comment that silences an analyzer, as in
//
//	//vastvet:ignore useafter: this test provokes the panic
//
// A comment after code applies to the line of that code. A comment on a line of its own applies to the whole
// statement or declaration that begins on the next line. A comment in a function's doc comment applies to the
// function.
const Prefix = "//vastvet:ignore"

// Parse splits a comment into the name of an analyzer and the reason. ok reports whether the comment begins
// with the word [Prefix]. A missing name or reason is empty.
func Parse(comment string) (name, reason string, ok bool) {
	rest, ok := strings.CutPrefix(comment, Prefix)
	if !ok || rest != "" && !strings.ContainsAny(rest[:1], " \t:") {
		return "", "", false
	}
	// The text after a second // is for other tools.
	rest, _, _ = strings.Cut(rest, "//")
	name, reason, found := strings.Cut(rest, ":")
	if !found {
		return strings.TrimSpace(name), "", true
	}
	return strings.TrimSpace(name), strings.TrimSpace(reason), true
}

// ignore is a comment that silences an analyzer.
type ignore struct {
	comment     *ast.Comment
	file        string
	first, last int  // lines that the comment applies to
	used        bool // whether the comment has silenced a mistake
}

type ignores struct {
	name string
	all  []*ignore
}

// ignoresOf returns the comments of a package that silence the pass's analyzer.
func ignoresOf(p *analysis.Pass) *ignores {
	is := &ignores{name: p.Analyzer.Name}
	for _, f := range p.Files {
		var code *layout // nil before the first comment
		for _, group := range f.Comments {
			for _, c := range group.List {
				if name, reason, ok := Parse(c.Text); ok && name == is.name && reason != "" {
					if code == nil {
						code = layoutOf(p.Fset, f)
					}
					first, last := code.lines(p.Fset, c)
					is.all = append(is.all, &ignore{comment: c, file: p.Fset.Position(c.Pos()).Filename,
						first: first, last: last})
				}
			}
		}
	}
	return is
}

// layout describes which lines of a file have code. The keys of begins, ends and last are line numbers.
type layout struct {
	begins map[int]token.Pos              // first position on the line where a node begins
	ends   map[int]token.Pos              // first position on the line where a node ends
	last   map[int]int                    // last line of the code that begins on the line
	docs   map[*ast.Comment]*ast.FuncDecl // function whose doc comment has the comment
}

func layoutOf(fset *token.FileSet, f *ast.File) *layout {
	l := &layout{map[int]token.Pos{}, map[int]token.Pos{}, map[int]int{}, map[*ast.Comment]*ast.FuncDecl{}}
	first := func(places map[int]token.Pos, line int, pos token.Pos) {
		if old, ok := places[line]; !ok || pos < old {
			places[line] = pos
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case nil, *ast.Comment, *ast.CommentGroup, *ast.File:
			return true
		case *ast.FuncDecl:
			if n.Doc != nil {
				for _, c := range n.Doc.List {
					l.docs[c] = n
				}
			}
		}
		begin, end := fset.Position(n.Pos()).Line, fset.Position(n.End()).Line
		first(l.begins, begin, n.Pos())
		first(l.ends, end, n.End())
		switch n.(type) {
		case ast.Stmt, ast.Decl, ast.Spec, *ast.Field, *ast.KeyValueExpr:
			l.last[begin] = max(l.last[begin], end)
		}
		return true
	})
	return l
}

func (l *layout) lines(fset *token.FileSet, c *ast.Comment) (first, last int) {
	line := fset.Position(c.Pos()).Line
	if begins, ok := l.begins[line]; ok && begins < c.Pos() {
		return line, line
	}
	if ends, ok := l.ends[line]; ok && ends <= c.Pos() {
		return line, line
	}
	last = max(line+1, l.last[line+1])
	// A comment in a function's doc comment applies to the function.
	if d := l.docs[c]; d != nil {
		last = max(last, fset.Position(d.End()).Line)
	}
	return line + 1, last
}

// hide reports whether a comment silences the analyzer at a position. It marks the comment as used.
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

func (is *ignores) unused(report func(analysis.Diagnostic)) {
	for _, i := range is.all {
		if !i.used {
			report(analysis.Diagnostic{
				Pos:     i.comment.Pos(),
				End:     i.comment.End(),
				Message: "this comment silences nothing: " + is.name + " finds no mistake here; remove it",
				SuggestedFixes: []analysis.SuggestedFix{{
					Message:   "Remove the comment",
					TextEdits: []analysis.TextEdit{{Pos: i.comment.Pos(), End: i.comment.End()}},
				}},
			})
		}
	}
}
