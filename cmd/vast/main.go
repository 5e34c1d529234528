// Command vast runs a living Earth in Vast's memory, compares the library with its peers, and examines the
// limits of the machine. `vast help` lists the commands.
package main

import (
	"os"

	"github.com/vastgo/vast/cmd/vast/internal/command"
)

func main() {
	os.Exit(command.Run(os.Args[1:], os.Stdout, os.Stderr))
}
