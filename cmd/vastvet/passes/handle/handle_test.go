package handle_test

import (
	"testing"

	"github.com/vastgo/vast/cmd/vastvet/internal/checktest"
	"github.com/vastgo/vast/cmd/vastvet/passes/handle"
)

func TestFindsEachMistakeAndNothingElse(t *testing.T) { checktest.Run(t, handle.Analyzer) }

func TestNoFixIfOneEditIsNotEnough(t *testing.T) {
	for _, d := range checktest.Analyze(t, handle.Analyzer, "unfixed")[0].Diagnostics {
		if len(d.SuggestedFixes) > 0 {
			t.Errorf("%q has a fix", d.Message)
		}
	}
}
