// Command pack writes the packed form of a list of places:
//
//	go run ./cmd/vast/earth/places/pack -o cmd/vast/earth/places/places.bin cities500.txt.gz
//
// It reads every form that package places reads. The order of the rows does not change the packed bytes.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/vastgo/vast/cmd/vast/earth/places"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("pack", flag.ContinueOnError)
	flags.SetOutput(stderr)
	out := flags.String("o", "places.bin", "write the packed list to `file`")
	flags.Usage = func() {
		fmt.Fprintln(stderr, "usage: pack [-o file] list-of-places")
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if flags.NArg() != 1 {
		flags.Usage()
		return 2
	}
	list, err := places.Open(flags.Arg(0), places.Options{})
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 2
	}
	var packed bytes.Buffer
	if err := list.Write(&packed); err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	if err := os.WriteFile(*out, packed.Bytes(), 0o644); err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	fmt.Fprintf(stdout, "%s: %d places, %d bytes\n", *out, list.Len(), packed.Len())
	return 0
}
