// Command vast runs a living Earth in Vast's memory, measures the library beside
// its peers, and says what the machine allows. `vast help` lists the commands.
package main

import (
	"os"

	"github.com/vastgo/vast/cmd/vast/internal/command"
)

func main() {
	os.Exit(command.Run(os.Args[1:], os.Stdout, os.Stderr))
}
