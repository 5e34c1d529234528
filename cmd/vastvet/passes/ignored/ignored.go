// Package ignored finds vastvet:ignore comments without a valid analyzer or without a reason.
package ignored

import (
	"go/ast"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/vastgo/vast/cmd/vastvet/internal/check"
)

// New returns the analyzer. others are the analyzers that a comment can name.
func New(others []*analysis.Analyzer) *analysis.Analyzer {
	var names []string
	for _, a := range others {
		names = append(names, a.Name)
	}
	return check.New("ignored", `find vastvet:ignore comments without a valid analyzer or reason

A comment silences one analyzer for the code beside or below the comment, and gives the reason:

	//vastvet:ignore             // wrong: no analyzer
	//vastvet:ignore escape      // wrong: no reason
	//vastvet:ignore escape: the world is never closed // right`, func(p *check.Pass) {
		for _, f := range p.Files {
			for _, group := range f.Comments {
				for _, c := range group.List {
					look(p, c, names)
				}
			}
		}
	})
}

func look(p *check.Pass, c *ast.Comment, names []string) {
	name, reason, ok := check.Parse(c.Text)
	switch {
	case !ok:
	case !slices.Contains(names, name):
		p.Say(c, "%q is not an analyzer of vastvet: name one of %s, as in %s escape: the reason", name,
			strings.Join(names, ", "), check.Prefix)
	case reason == "":
		p.Say(c, "this comment has no reason, and so silences nothing: write %s %s: the reason", check.Prefix,
			name)
	}
}
