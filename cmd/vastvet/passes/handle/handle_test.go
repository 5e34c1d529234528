package handle_test

import (
	"path/filepath"
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/vastgo/vast/cmd/vastvet/internal/checktest"
	"github.com/vastgo/vast/cmd/vastvet/passes/handle"
)

func TestFindsEachMistakeAndNothingElse(t *testing.T) { checktest.Run(t, handle.Analyzer) }

func TestLeavesToPeopleWhatNeedsMoreThanOneEdit(t *testing.T) {
	if testing.Short() {
		t.Skip("what an analyzer finds is the same in all builds: it is tested in whole runs")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	results := analysistest.Run(t, root, handle.Analyzer, "./passes/handle/testdata/unfixed")
	if len(results) != 1 {
		t.Fatalf("%d packages were looked at, want 1", len(results))
	}
	for _, d := range results[0].Diagnostics {
		if len(d.SuggestedFixes) > 0 {
			t.Errorf("%q has a fix", d.Message)
		}
	}
}
