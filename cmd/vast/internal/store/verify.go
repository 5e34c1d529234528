package store

import (
	"fmt"
	"io"
	"strings"

	"github.com/vastgo/vast/cmd/vast/internal/cli"
	"github.com/vastgo/vast/cmd/vast/internal/tty"
	library "github.com/vastgo/vast/store"
	"github.com/vastgo/vast/vm"
)

func verify(o options, stdout, stderr io.Writer) int {
	files, err := library.Verify(o.path, o.deep)
	if err == nil && o.json {
		err = writeJSON(stdout, files)
	} else if err == nil {
		_, err = io.WriteString(stdout, findings(files))
	}
	status := finish(stderr, "store verify", err)
	for _, f := range files {
		if f.Err != nil {
			status = cli.Failure
		}
	}
	return status
}

// findings returns one line for each damaged, missing, unknown or leftover file, and a last line with totals.
func findings(files []library.File) string {
	var b strings.Builder
	bad, total := 0, int64(0)
	for _, f := range files {
		total += f.Bytes
		name := tty.Clean(f.Name)
		switch {
		case f.Err != nil && f.Kind == library.FileMissing:
			bad++
			fmt.Fprintf(&b, "missing  %s: %s\n", name, tty.Clean(f.Err.Error()))
		case f.Err != nil:
			bad++
			fmt.Fprintf(&b, "damaged  %s: %s\n", name, tty.Clean(f.Err.Error()))
		case f.Kind == library.FileUnknown:
			fmt.Fprintf(&b, "unknown  %s: not a file of a store\n", name)
		case f.Kind == library.FileUnfinished:
			fmt.Fprintf(&b, "leftover %s: a checkpoint that is unfinished or no longer needed\n", name)
		}
	}
	verdict := "all sound"
	if bad > 0 {
		verdict = fmt.Sprintf("%d damaged or missing", bad)
	}
	fmt.Fprintf(&b, "%s, %s: %s\n", number(len(files), "file"), vm.Bytes(int(total)), verdict)
	return b.String()
}

func compact(o options, stdout, stderr io.Writer) int {
	size := func() (total int64) {
		files, _ := library.Files(o.path)
		for _, f := range files {
			total += f.Bytes
		}
		return total
	}
	before := size()
	err := library.Compact(o.path)
	if err == nil {
		_, err = fmt.Fprintf(stdout, "%s before, %s now\n", vm.Bytes(int(before)), vm.Bytes(int(size())))
	}
	return finish(stderr, "store compact", err)
}
