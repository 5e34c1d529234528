// Package ignored finds comments to the analyzers of vastvet that say nothing to any of them.
package ignored

import (
	"go/ast"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/vastgo/vast/cmd/vastvet/internal/check"
)

// New returns the analyzer that knows the names of the others.
func New(others []*analysis.Analyzer) *analysis.Analyzer {
	var names []string
	for _, a := range others {
		names = append(names, a.Name)
	}
	return check.New("ignored", `find vastvet:ignore comments that nobody understands

A comment silences one analyzer for the code beside it or below it, and says why:

	//vastvet:ignore             // wrong: whom?
	//vastvet:ignore escape      // wrong: why?
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
		p.Say(c, "%q is no analyzer of vastvet: name one of %s, as in %s escape: the reason", name, strings.Join(names, ", "), check.Prefix)
	case reason == "":
		p.Say(c, "this comment silences nothing without a reason: write %s %s: and why", check.Prefix, name)
	}
}
