package ignored_test

import (
	"testing"

	"github.com/vastgo/vast/cmd/vastvet/internal/checktest"
	"github.com/vastgo/vast/cmd/vastvet/passes"
)

func TestFindsEachMistakeAndNothingElse(t *testing.T) {
	for _, a := range passes.All() {
		if a.Name == "ignored" {
			checktest.Run(t, a)
			return
		}
	}
	t.Fatal("passes.All does not contain the analyzer \"ignored\"")
}
