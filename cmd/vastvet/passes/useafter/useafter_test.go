package useafter_test

import (
	"testing"

	"github.com/vastgo/vast/cmd/vastvet/internal/checktest"
	"github.com/vastgo/vast/cmd/vastvet/passes/useafter"
)

func TestFindsEachMistakeAndNothingElse(t *testing.T) { checktest.Run(t, useafter.Analyzer) }
