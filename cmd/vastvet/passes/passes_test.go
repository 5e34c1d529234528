package passes_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/analysistest"

	_ "github.com/vastgo/vast" // keeps the requirement that testdata needs: go mod tidy ignores testdata
	"github.com/vastgo/vast/cmd/vastvet/passes"
)

// root is the folder of go.work. The analyzers run there, because testdata uses the library of the workspace.
const root = "../../.."

// TestAnalyzersFindEachMistakeAndNothingElse runs each analyzer over the packages below its testdata, which
// use the real library. The analyzer must find exactly the mistakes of the "// want" comments. The fixes must
// turn each source file that has a golden file into this golden file.
func TestAnalyzersFindEachMistakeAndNothingElse(t *testing.T) {
	if testing.Short() {
		t.Skip("only full runs test analyzers, because the findings are the same in all builds")
	}
	dir, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	var patterns []string
	for _, a := range passes.All() {
		folders, err := filepath.Glob(filepath.Join(a.Name, "testdata", "*"))
		if err != nil || len(folders) == 0 {
			t.Fatalf("the analyzer %s has the testdata %q, error %v", a.Name, folders, err)
		}
		for _, f := range folders {
			patterns = append(patterns, "./cmd/vastvet/passes/"+filepath.ToSlash(f))
		}
	}
	results := analysistest.RunWithSuggestedFixes(t, dir, together(), patterns...)
	if len(results) < len(patterns) {
		t.Fatalf("%d packages were analyzed, want %d", len(results), len(patterns))
	}
	unfixed := 0
	for _, r := range results {
		if !strings.HasSuffix(r.Pass.Pkg.Path(), "/handle/testdata/unfixed") {
			continue
		}
		for _, d := range r.Diagnostics {
			unfixed++
			if len(d.SuggestedFixes) > 0 {
				t.Errorf("%q has a fix, but one edit is not enough", d.Message)
			}
		}
	}
	if unfixed == 0 {
		t.Error("the analyzer handle finds no mistake in the package unfixed")
	}
}

// together returns an analyzer that runs each analyzer on its own testdata. So package analysistest loads the
// library once and not once for each analyzer: a load takes a second.
func together() *analysis.Analyzer {
	all := &analysis.Analyzer{Name: "together", Doc: "runs the analyzers of vastvet on their testdata"}
	for _, a := range passes.All() {
		for _, r := range a.Requires {
			if !slices.Contains(all.Requires, r) {
				all.Requires = append(all.Requires, r)
			}
		}
		all.FactTypes = append(all.FactTypes, a.FactTypes...)
	}
	all.Run = func(pass *analysis.Pass) (any, error) {
		for _, a := range passes.All() {
			own := strings.Contains(pass.Pkg.Path(), "/passes/"+a.Name+"/testdata/")
			if !own && len(a.FactTypes) == 0 {
				continue
			}
			p := *pass
			p.Analyzer = a
			if !own { // the analyzer collects facts about a package that the testdata uses
				p.Report = func(analysis.Diagnostic) {}
			}
			if _, err := a.Run(&p); err != nil {
				return nil, err
			}
		}
		return nil, nil
	}
	return all
}
