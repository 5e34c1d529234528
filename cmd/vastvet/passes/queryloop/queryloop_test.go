package queryloop_test

import (
	"testing"

	"github.com/vastgo/vast/cmd/vastvet/internal/checktest"
	"github.com/vastgo/vast/cmd/vastvet/passes/queryloop"
)

func TestFindsEachMistakeAndNothingElse(t *testing.T) {
	checktest.Run(t, queryloop.Analyzer, "oneworld", "twoworlds")
}
