// Command vast runs the demonstration, measures and tests the library, examines running programs, stores and
// the machine, and shows the documentation. `vast help` lists the commands.
package main

import (
	"os"

	"github.com/vastgo/vast/cmd/vast/internal/command"
)

func main() {
	os.Exit(command.Run(os.Args[1:], os.Stdout, os.Stderr))
}
