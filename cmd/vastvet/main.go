package main

import (
	"golang.org/x/tools/go/analysis/multichecker"

	"github.com/vastgo/vast/cmd/vastvet/passes"
)

func main() { multichecker.Main(passes.All()...) }
