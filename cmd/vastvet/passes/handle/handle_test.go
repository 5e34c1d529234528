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
		t.Skip("an analyzer finds the same in all builds: only full runs test it")
	}
	root, err := filepath.Abs("../../../..")
	if err != nil {
		t.Fatal(err)
	}
	results := analysistest.Run(t, root, handle.Analyzer, "./cmd/vastvet/passes/handle/testdata/unfixed")
	if len(results) != 1 {
		t.Fatalf("%d packages were examined, want 1", len(results))
	}
	for _, d := range results[0].Diagnostics {
		if len(d.SuggestedFixes) > 0 {
			t.Errorf("%q has a fix", d.Message)
		}
	}
}
