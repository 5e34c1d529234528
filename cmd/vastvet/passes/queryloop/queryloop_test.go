package queryloop_test

import (
	"path/filepath"
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/vastgo/vast/cmd/vastvet/internal/checktest"
	"github.com/vastgo/vast/cmd/vastvet/passes/queryloop"
)

func TestFindsEachMistakeAndNothingElse(t *testing.T) { checktest.Run(t, queryloop.Analyzer) }

// Where a program makes one world, which is certain only of a main package, all that it has is of that one.
func TestKnowsProgramsWithOneWorld(t *testing.T) {
	if testing.Short() {
		t.Skip("what an analyzer finds is the same in all builds: it is tested in whole runs")
	}
	root, err := filepath.Abs("../../../..")
	if err != nil {
		t.Fatal(err)
	}
	const below = "./cmd/vastvet/passes/queryloop/testdata/"
	results := analysistest.Run(t, root, queryloop.Analyzer, below+"oneworld", below+"twoworlds")
	if len(results) != 2 {
		t.Fatalf("%d programs were looked at, want 2", len(results))
	}
}
