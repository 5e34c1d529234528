// Package checktest runs an analyzer over its testdata: packages that use the real library, with comments
// that list the expected findings.
package checktest

import (
	"path/filepath"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/analysistest"

	_ "github.com/vastgo/vast" // testdata uses it, and the go command ignores the imports of testdata
)

// root is the folder of go.work, seen from an analyzer's: testdata uses the library that lies beside.
const root = "../../../.."

// Run analyzes the package below testdata that has the analyzer's name. The analyzer must find exactly the
// mistakes of the "// want" comments. If there are files that end in .golden, the fixes must turn the other
// files into them.
func Run(t *testing.T, a *analysis.Analyzer) {
	t.Helper()
	if testing.Short() {
		t.Skip("an analyzer finds the same in all builds: only full runs test it")
	}
	dir, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	golden, err := filepath.Glob(filepath.Join("testdata", a.Name, "*.golden"))
	if err != nil {
		t.Fatal(err)
	}
	pattern := "./cmd/vastvet/passes/" + a.Name + "/testdata/" + a.Name
	var results []*analysistest.Result
	if len(golden) > 0 {
		results = analysistest.RunWithSuggestedFixes(t, dir, a, pattern)
	} else {
		results = analysistest.Run(t, dir, a, pattern)
	}
	if len(results) == 0 {
		t.Fatal("no package was analyzed")
	}
}
