// Command fragmentation does three steps with each of three allocators: it allocates many blocks, frees every
// second block, and makes one allocation that is as large as the freed blocks together. For each allocator it
// prints three figures: the growth of resident memory from the start to the end of each step. If the freed
// blocks stay resident and the large allocation cannot use their memory, the third figure is about 1.5 times
// the first.
//
// The experiment follows an example in "Virtual Memory Tricks" (Niklas Gray, 2017).
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"text/tabwriter"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// row holds the growth of resident memory, in bytes, after each step with one allocator.
type row struct {
	Allocator string `json:"allocator"`
	Allocated int    `json:"allocated"` // after all blocks were allocated and written
	Freed     int    `json:"freed"`     // after every second block was freed
	Large     int    `json:"large"`     // after the large allocation was made and written
}

// run executes the command and returns its exit status: 0, 1 if a measurement or the output failed, or 2 if
// the command line is wrong.
func run(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("fragmentation", flag.ContinueOnError)
	flags.SetOutput(stderr)
	count := flags.Int("n", 20_000, "number of `blocks`")
	size := flags.Int("size", 16<<10, "`bytes` per block")
	asJSON := flags.Bool("json", false, "print one JSON object instead of a table")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return 0
	} else if err != nil {
		return 2
	}
	const maxBytes = 16 << 30
	if *count < 2 || *size < 1 || int64(*count) > maxBytes/int64(*size) || flags.NArg() > 0 {
		fmt.Fprintf(stderr, "fragmentation: -n %d -size %d %v: want at least two blocks of at least one "+
			"byte, at most 16 GiB together, and no other arguments\n", *count, *size, flags.Args())
		return 2
	}
	var rows []row
	for _, a := range allocators {
		r, err := fragment(a, *count, *size)
		if err != nil {
			fmt.Fprintf(stderr, "fragmentation: %s: %v\n", a.name, err)
			return 1
		}
		rows = append(rows, r)
	}
	if err := print(stdout, *asJSON, *count, *size, rows); err != nil {
		fmt.Fprintln(stderr, "fragmentation:", err)
		return 1
	}
	return 0
}

func print(out io.Writer, asJSON bool, count, size int, rows []row) error {
	if asJSON {
		return json.NewEncoder(out).Encode(struct {
			Blocks int   `json:"blocks"`
			Size   int   `json:"size"`
			Rows   []row `json:"rows"`
		}{count, size, rows})
	}
	fmt.Fprintf(out, "resident MB after each step: allocate %d blocks of %d bytes, free every second block, "+
		"allocate one block of %d bytes\n\n", count, size, count/2*size)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "allocator\tallocated\tfreed\tlarge\tlarge/allocated\t")
	for _, r := range rows {
		fmt.Fprintf(w, "%s\t%.1f\t%.1f\t%.1f\t%.2f\t\n", r.Allocator, float64(r.Allocated)/1e6,
			float64(r.Freed)/1e6,
			float64(r.Large)/1e6, float64(r.Large)/float64(max(1, r.Allocated)))
	}
	return w.Flush()
}
