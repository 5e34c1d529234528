// Package command runs the command that the command line names, and prints the list of commands. It also
// contains `vast version`. Each other command has its own package.
package command

import (
	"fmt"
	"io"

	"github.com/vastgo/vast/cmd/vast/internal/bench"
	"github.com/vastgo/vast/cmd/vast/internal/cli"
	"github.com/vastgo/vast/cmd/vast/internal/docs"
	"github.com/vastgo/vast/cmd/vast/internal/doctor"
	"github.com/vastgo/vast/cmd/vast/internal/earth"
	"github.com/vastgo/vast/cmd/vast/internal/query"
	"github.com/vastgo/vast/cmd/vast/internal/soak"
	"github.com/vastgo/vast/cmd/vast/internal/sql"
	"github.com/vastgo/vast/cmd/vast/internal/store"
	"github.com/vastgo/vast/cmd/vast/internal/top"
)

type command struct {
	name, about string
	run         func(args []string, stdout, stderr io.Writer) (status int)
}

var commands = []command{
	{"earth", "the Earth with a million travellers, live in the terminal", earth.Run},
	{"bench", "compare the speed of the containers with ordinary Go code", bench.Run},
	{"doctor", "the limits of this machine, with advice", doctor.Run},
	{"top", "an overview of a running program, live in the terminal", top.Run},
	{"query", "the entities of a running program that match a query", query.Run},
	{"sql", "ask a running program or the folder of a store in SQL", sql.Run},
	{"store", "the folder of a store: list, verify, look, export, compact", store.Run},
	{"soak", "exercise most of the library for a long time, and check for leaks", soak.Run},
	{"docs", "the guide and the other pages of the documentation, in a browser", docs.Run},
	{"version", "the version of this program", runVersion},
}

// Run runs the command that the first argument names, and returns the command's exit status. For help and -h,
// Run prints the help. If the first argument names no command, Run returns cli.Misuse.
func Run(args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		usage(stderr)
		return cli.Misuse
	}
	name := args[0]
	if isHelp(name) {
		return runHelp(args[1:], stdout, stderr)
	}
	for _, c := range commands {
		if c.name == name {
			return c.run(args[1:], stdout, stderr)
		}
	}
	fmt.Fprintf(stderr, "vast: unknown command %q; `vast help` lists the commands\n", name)
	return cli.Misuse
}

// runHelp prints the help of the command that args names, or the list of commands if args is empty.
func runHelp(args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 || isHelp(args[0]) {
		usage(stdout)
		return cli.Success
	}
	return Run([]string{args[0], "-h"}, stdout, stderr)
}

func isHelp(name string) bool {
	return name == "help" || name == "-h" || name == "-help" || name == "--help"
}

func usage(w io.Writer) {
	fmt.Fprint(w, "Vast keeps millions of long-lived records outside the garbage collector's heap.\n\n"+
		"usage: vast COMMAND [flags]\n\n")
	for _, c := range commands {
		fmt.Fprintf(w, "  %-8s %s\n", c.name, c.about)
	}
	fmt.Fprint(w, "\n`vast COMMAND -h` lists the flags of a command.\n")
}
