package command

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/vastgo/vast/cmd/vast/internal/cli"
)

func runVersion(args []string, stdout, stderr io.Writer) int {
	if len(args) > 0 {
		switch args[0] {
		case "-h", "-help", "--help":
			fmt.Fprintln(stdout, "usage: vast version\n\nPrints the versions of this program and of Go, and "+
				"the system that the program was built for.")
			return cli.Success
		}
		fmt.Fprintf(stderr, "vast version: unexpected argument %q\n", args[0])
		return cli.Misuse
	}
	fmt.Fprintf(stdout, "vast %s %s %s/%s\n", moduleVersion(debug.ReadBuildInfo()), runtime.Version(),
		runtime.GOOS, runtime.GOARCH)
	return cli.Success
}

// moduleVersion returns the version that the go command stored in the program: a tag, or a pseudo-version
// with the commit. If the program has no version, moduleVersion returns "(devel)".
func moduleVersion(info *debug.BuildInfo, ok bool) string {
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}
