package handle_test

import (
	"strings"
	"testing"

	"github.com/vastgo/vast/cmd/vastvet/internal/checktest"
	"github.com/vastgo/vast/cmd/vastvet/passes/handle"
)

// TestFindsEachMistakeAndNothingElse: the analyzer must not fix the mistakes in the package unfixed, because
// one edit is not enough for them.
func TestFindsEachMistakeAndNothingElse(t *testing.T) {
	unfixed := 0
	for _, r := range checktest.Run(t, handle.Analyzer, "unfixed") {
		if !strings.HasSuffix(r.Pass.Pkg.Path(), "/unfixed") {
			continue
		}
		for _, d := range r.Diagnostics {
			unfixed++
			if len(d.SuggestedFixes) > 0 {
				t.Errorf("%q has a fix", d.Message)
			}
		}
	}
	if unfixed == 0 {
		t.Error("the analyzer finds no mistake in the package unfixed")
	}
}
