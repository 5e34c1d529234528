package unchecked_test

import (
	"testing"

	"github.com/vastgo/vast/cmd/vastvet/internal/checktest"
	"github.com/vastgo/vast/cmd/vastvet/passes/unchecked"
)

func TestFindsEachMistakeAndNothingElse(t *testing.T) { checktest.Run(t, unchecked.Analyzer) }
