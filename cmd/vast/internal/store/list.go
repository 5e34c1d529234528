package store

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/vastgo/vast/cmd/vast/internal/cli"
	"github.com/vastgo/vast/cmd/vast/internal/tty"
	library "github.com/vastgo/vast/store"
	"github.com/vastgo/vast/vm"
)

// file is the JSON form of a [library.File].
type file struct {
	Name    string    `json:"name"`
	Kind    string    `json:"kind"`
	Bytes   int64     `json:"bytes"`
	Written time.Time `json:"written,omitzero"`
	Number  uint64    `json:"number,omitempty"`
	Tick    *uint64   `json:"tick,omitempty"` // checkpoints only
	Taken   time.Time `json:"taken,omitzero"` // checkpoints only
	Base    uint64    `json:"base,omitempty"` // number of the checkpoint that this file continues, 0 for none
	Problem string    `json:"problem,omitempty"`
}

func describe(f library.File) file {
	one := file{Name: f.Name, Kind: string(f.Kind), Bytes: f.Bytes, Written: f.Written.UTC(),
		Number: f.Number, Base: f.Base}
	if f.Written.IsZero() {
		one.Written = time.Time{}
	}
	if f.Kind == library.FileCheckpoint {
		one.Tick = &f.Tick
		if !f.Taken.IsZero() {
			one.Taken = f.Taken.UTC()
		}
	}
	if f.Err != nil {
		one.Problem = f.Err.Error()
	}
	return one
}

func list(o options, stdout, stderr io.Writer) int {
	files, err := library.Files(o.path)
	if err == nil && o.json {
		err = writeJSON(stdout, files)
	} else if err == nil {
		_, err = io.WriteString(stdout, table(files))
	}
	return finish(stderr, "store ls", err)
}

func finish(stderr io.Writer, command string, err error) int {
	if err != nil {
		return cli.Fail(stderr, command, fmt.Errorf("%s", tty.Clean(err.Error())), cli.Failure)
	}
	return cli.Success
}

func writeJSON(w io.Writer, files []library.File) error {
	all := make([]file, len(files))
	for i, f := range files {
		all[i] = describe(f)
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(struct {
		Files []file `json:"files"`
	}{all})
}

func table(files []library.File) string {
	rows := [][]string{{"file", "kind", "tick", "continues", "size", "time"}}
	total := int64(0)
	counts := make(map[library.FileKind]int)
	for _, f := range files {
		tick, base, when := "", "", f.Taken
		if f.Kind == library.FileCheckpoint {
			tick = strconv.FormatUint(f.Tick, 10)
		}
		if f.Base > 0 {
			base = strconv.FormatUint(f.Base, 10)
		}
		if when.IsZero() {
			when = f.Written
		}
		clock := ""
		if !when.IsZero() {
			clock = when.Format(time.DateTime)
		}
		kind := string(f.Kind)
		if f.Err != nil {
			kind = "damaged " + kind
		}
		rows = append(rows, []string{tty.Clean(f.Name), kind, tick, base, vm.Bytes(int(f.Bytes)), clock})
		total += f.Bytes
		counts[f.Kind]++
	}
	return align(rows) + fmt.Sprintf("\n%s, %s of the journal, %s in all\n",
		number(counts[library.FileCheckpoint], "checkpoint"), number(counts[library.FileJournal], "segment"),
		vm.Bytes(int(total)))
}

func number(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// align formats rows as a table. The columns tick, continues and size are right-aligned.
func align(rows [][]string) string {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], tty.Width(cell))
		}
	}
	var b strings.Builder
	for _, row := range rows {
		line := ""
		for i, cell := range row {
			gap := strings.Repeat(" ", widths[i]-tty.Width(cell))
			if i >= 2 && i <= 4 {
				line += gap + cell + "  "
			} else {
				line += cell + gap + "  "
			}
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}
