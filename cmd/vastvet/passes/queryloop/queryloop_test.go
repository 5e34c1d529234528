package queryloop_test

import (
	"testing"

	"github.com/vastgo/vast/cmd/vastvet/internal/checktest"
	"github.com/vastgo/vast/cmd/vastvet/passes/queryloop"
)

func TestFindsEachMistakeAndNothingElse(t *testing.T) { checktest.Run(t, queryloop.Analyzer) }

// TestKnowsProgramsWithOneWorld checks that all values belong to the same world if a main package makes only
// one world.
func TestKnowsProgramsWithOneWorld(t *testing.T) {
	checktest.Analyze(t, queryloop.Analyzer, "oneworld", "twoworlds")
}
