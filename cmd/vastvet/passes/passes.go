// Package passes lists the analyzers of vastvet for other drivers, such as golangci-lint.
package passes

import (
	"golang.org/x/tools/go/analysis"

	"github.com/vastgo/vast/cmd/vastvet/passes/declared"
	"github.com/vastgo/vast/cmd/vastvet/passes/escape"
	"github.com/vastgo/vast/cmd/vastvet/passes/handle"
	"github.com/vastgo/vast/cmd/vastvet/passes/ignored"
	"github.com/vastgo/vast/cmd/vastvet/passes/offheap"
	"github.com/vastgo/vast/cmd/vastvet/passes/queryloop"
	"github.com/vastgo/vast/cmd/vastvet/passes/unchecked"
	"github.com/vastgo/vast/cmd/vastvet/passes/useafter"
)

var all = []*analysis.Analyzer{
	declared.Analyzer,
	escape.Analyzer,
	handle.Analyzer,
	offheap.Analyzer,
	queryloop.Analyzer,
	unchecked.Analyzer,
	useafter.Analyzer,
}

var comments = ignored.New(all)

// All returns the analyzers that find mistakes, and the analyzer "ignored", which checks vastvet:ignore
// comments. The caller may append to the result.
func All() []*analysis.Analyzer { return append(all[:len(all):len(all)], comments) }
