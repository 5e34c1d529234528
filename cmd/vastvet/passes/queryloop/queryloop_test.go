package queryloop_test

import (
	"path/filepath"
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/vastgo/vast/cmd/vastvet/internal/checktest"
	"github.com/vastgo/vast/cmd/vastvet/passes/queryloop"
)

func TestFindsEachMistakeAndNothingElse(t *testing.T) { checktest.Run(t, queryloop.Analyzer) }

// TestKnowsProgramsWithOneWorld checks that in a main package that makes one world everything belongs to that
// world.
func TestKnowsProgramsWithOneWorld(t *testing.T) {
	if testing.Short() {
		t.Skip("an analyzer finds the same in all builds: only full runs test it")
	}
	root, err := filepath.Abs("../../../..")
	if err != nil {
		t.Fatal(err)
	}
	const below = "./cmd/vastvet/passes/queryloop/testdata/"
	results := analysistest.Run(t, root, queryloop.Analyzer, below+"oneworld", below+"twoworlds")
	if len(results) != 2 {
		t.Fatalf("%d programs were examined, want 2", len(results))
	}
}
