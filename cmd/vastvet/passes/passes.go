// Package passes lists the analyzers of vastvet, for programs that run analyzers themselves. Each is a package of its own
// below this one.
package passes

import (
	"golang.org/x/tools/go/analysis"

	"github.com/vastgo/vast/cmd/vastvet/passes/declared"
	"github.com/vastgo/vast/cmd/vastvet/passes/escape"
	"github.com/vastgo/vast/cmd/vastvet/passes/handle"
	"github.com/vastgo/vast/cmd/vastvet/passes/offheap"
	"github.com/vastgo/vast/cmd/vastvet/passes/queryloop"
	"github.com/vastgo/vast/cmd/vastvet/passes/unchecked"
	"github.com/vastgo/vast/cmd/vastvet/passes/useafter"
)

// All returns the analyzers in the order of their names.
func All() []*analysis.Analyzer {
	return []*analysis.Analyzer{
		declared.Analyzer,
		escape.Analyzer,
		handle.Analyzer,
		offheap.Analyzer,
		queryloop.Analyzer,
		unchecked.Analyzer,
		useafter.Analyzer,
	}
}
