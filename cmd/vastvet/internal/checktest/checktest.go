// Package checktest runs an analyzer over its testdata: packages that use the real library, with comments that say what
// is to be found.
package checktest

import (
	"path/filepath"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/analysistest"

	_ "github.com/vastgo/vast" // which testdata uses, where the go command does not look for requirements
)

// root is the module's directory, seen from an analyzer's.
const root = "../.."

// Run looks at the package below testdata that has the analyzer's name. It must find what the comments "// want" there
// say and nothing else; where there are files that end in .golden, its fixes must make these of the others.
func Run(t *testing.T, a *analysis.Analyzer) {
	t.Helper()
	if testing.Short() {
		t.Skip("what an analyzer finds is the same in all builds: it is tested in whole runs")
	}
	dir, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	golden, err := filepath.Glob(filepath.Join("testdata", a.Name, "*.golden"))
	if err != nil {
		t.Fatal(err)
	}
	pattern := "./passes/" + a.Name + "/testdata/" + a.Name
	var results []*analysistest.Result
	if len(golden) > 0 {
		results = analysistest.RunWithSuggestedFixes(t, dir, a, pattern)
	} else {
		results = analysistest.Run(t, dir, a, pattern)
	}
	if len(results) == 0 {
		t.Fatal("nothing was looked at")
	}
}
