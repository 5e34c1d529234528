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

// Run analyzes packages below the analyzer's testdata: the package that has the analyzer's name, and others.
// The analyzer must find exactly the mistakes of the "// want" comments. If a package has files that end in
// .golden, the fixes must turn each source file into its golden file. Run returns the results of the
// packages.
func Run(t *testing.T, a *analysis.Analyzer, others ...string) []*analysistest.Result {
	t.Helper()
	if testing.Short() {
		t.Skip("only full runs test analyzers, because the findings are the same in all builds")
	}
	dir, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	var patterns []string // one load of all packages, because a load takes a second
	for _, p := range append([]string{a.Name}, others...) {
		patterns = append(patterns, "./cmd/vastvet/passes/"+a.Name+"/testdata/"+p)
	}
	golden, err := filepath.Glob(filepath.Join("testdata", "*", "*.golden"))
	if err != nil {
		t.Fatal(err)
	}
	run := analysistest.Run
	if len(golden) > 0 {
		run = analysistest.RunWithSuggestedFixes
	}
	results := run(t, dir, a, patterns...)
	if len(results) < len(patterns) {
		t.Fatalf("%d packages were analyzed, want %d", len(results), len(patterns))
	}
	return results
}
