package handle_test

import (
	"testing"

	"github.com/vastgo/vast/cmd/vastvet/internal/checktest"
	"github.com/vastgo/vast/cmd/vastvet/passes/handle"
)

func TestFindsEachMistakeAndNothingElse(t *testing.T) { checktest.Run(t, handle.Analyzer) }
