package offheap_test

import (
	"testing"

	"github.com/vastgo/vast/cmd/vastvet/internal/checktest"
	"github.com/vastgo/vast/cmd/vastvet/passes/offheap"
)

func TestFindsEachMistakeAndNothingElse(t *testing.T) { checktest.Run(t, offheap.Analyzer) }
