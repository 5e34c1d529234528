// Package cli has the exit statuses, the error output and the flag parsing that the commands of vast share.
package cli

import (
	"flag"
	"fmt"
	"io"
	"os"
	"syscall"
)

// Exit statuses of commands. [Status] returns the exit status for a signal.
const (
	Success     = 0
	Failure     = 1
	Misuse      = 2 // the command line is wrong
	Interrupted = 128 + int(syscall.SIGINT)
)

// Status returns the exit status of a program that a signal ends: 128 plus the signal's number, as in shells.
// If the signal has no number, Status returns Failure.
func Status(s os.Signal) int {
	if number, ok := s.(syscall.Signal); ok {
		return 128 + int(number)
	}
	return Failure
}

// UsageError is the error of a wrong command line.
type UsageError struct {
	Command string
	Err     error
}

func (e *UsageError) Error() string {
	return fmt.Sprintf("%v; `vast %s -h` shows the usage", e.Err, e.Command)
}

func (e *UsageError) Unwrap() error { return e.Err }

// Fail prints the error that ends a command, and returns status.
func Fail(stderr io.Writer, command string, err error, status int) int {
	fmt.Fprintf(stderr, "vast %s: %v\n", command, err)
	return status
}

// Parse reads the flags in args and returns all other arguments. Flags may stand before, between and after
// other arguments. After --, Parse reads no flags.
func Parse(f *flag.FlagSet, args []string) (rest []string, err error) {
	for {
		if err := f.Parse(args); err != nil {
			return nil, err
		}
		left := f.Args()
		if consumed := len(args) - len(left); consumed > 0 && args[consumed-1] == "--" {
			return append(rest, left...), nil
		}
		if len(left) == 0 {
			return rest, nil
		}
		rest, args = append(rest, left[0]), left[1:]
	}
}
