package declared_test

import (
	"testing"

	"github.com/vastgo/vast/cmd/vastvet/internal/checktest"
	"github.com/vastgo/vast/cmd/vastvet/passes/declared"
)

func TestFindsEachMistakeAndNothingElse(t *testing.T) { checktest.Run(t, declared.Analyzer) }
