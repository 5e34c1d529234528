// Package checktest runs an analyzer over its testdata: packages that use the real library, with comments
// that list the expected findings.
package checktest

import (
	"path/filepath"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/analysistest"

	_ "github.com/vastgo/vast" // keeps the requirement that testdata needs: go mod tidy ignores testdata
)

// root is the path from an analyzer's folder to the folder of go.work. The analyzer runs there, because
// testdata uses the library of this workspace.
const root = "../../../.."

// Run analyzes the package below testdata that has the analyzer's name. The analyzer must find exactly the
// mistakes of the "// want" comments. If the package has files that end in .golden, the fixes must turn each
// source file into its golden file.
func Run(t *testing.T, a *analysis.Analyzer) {
	t.Helper()
	golden, err := filepath.Glob(filepath.Join("testdata", a.Name, "*.golden"))
	if err != nil {
		t.Fatal(err)
	}
	if len(golden) > 0 {
		analyze(t, analysistest.RunWithSuggestedFixes, a, a.Name)
	} else {
		Analyze(t, a, a.Name)
	}
}

// Analyze is like Run, for the given packages below the analyzer's testdata. Analyze returns the results of
// the packages, and does not apply fixes.
func Analyze(t *testing.T, a *analysis.Analyzer, packages ...string) []*analysistest.Result {
	t.Helper()
	return analyze(t, analysistest.Run, a, packages...)
}

type runner func(analysistest.Testing, string, *analysis.Analyzer, ...string) []*analysistest.Result

func analyze(t *testing.T, run runner, a *analysis.Analyzer, packages ...string) []*analysistest.Result {
	t.Helper()
	if testing.Short() {
		t.Skip("only full runs test analyzers, because the findings are the same in all builds")
	}
	dir, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	patterns := make([]string, len(packages))
	for i, p := range packages {
		patterns[i] = "./cmd/vastvet/passes/" + a.Name + "/testdata/" + p
	}
	results := run(t, dir, a, patterns...)
	if len(results) < len(packages) {
		t.Fatalf("%d packages were analyzed, want %d", len(results), len(packages))
	}
	return results
}
