package escape_test

import (
	"testing"

	"github.com/vastgo/vast/cmd/vastvet/internal/checktest"
	"github.com/vastgo/vast/cmd/vastvet/passes/escape"
)

func TestFindsEachMistakeAndNothingElse(t *testing.T) { checktest.Run(t, escape.Analyzer) }
