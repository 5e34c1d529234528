package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/vastgo/vast"
	vastarrow "github.com/vastgo/vast/arrow"
	"github.com/vastgo/vast/cmd/vast/internal/cli"
	"github.com/vastgo/vast/cmd/vast/internal/saved"
	"github.com/vastgo/vast/probe"
	"github.com/vastgo/vast/store"
)

var importing = task{
	name:  "import",
	usage: "-data PATH [-moment N] -out FILE [-format FORMAT] [-partial] INPUT",
	about: "save a world with an entity for each row of a file",
	flags: func(f *flag.FlagSet) func(context.Context, streams, []string) error {
		var i importer
		f.StringVar(&i.path, "data", "",
			"add the entities to the world in this `path`: the folder of a store, or a\n"+
				"file of store.Save. The rows fill the components of this world")
		f.Uint64Var(&i.moment, "moment", 0,
			"with a folder: `number` in the name of the checkpoint's file; 0 is the newest")
		f.StringVar(&i.out, "out", "", "save the world in this new `file`, which store.Load reads")
		i.format = formatFlag(f, "by the extension of INPUT")
		f.BoolVar(&i.partial, "partial", false, "save the world even if some values do not fit their fields")
		return i.run
	},
}

// importer holds the flags of the command.
type importer struct {
	path    string
	moment  uint64
	out     string
	format  *string
	partial bool
}

func (i *importer) run(ctx context.Context, s streams, args []string) (err error) {
	switch {
	case i.path == "":
		return misuse{errors.New("name a saved world with -data")}
	case i.out == "":
		return misuse{errors.New("name the new file with -out")}
	case len(args) != 1:
		return misuse{errors.New("name one file to import")}
	}
	format, err := formatOf(*i.format, args[0])
	if err != nil {
		return err
	}
	rows, err := os.Open(args[0])
	if err != nil {
		return err
	}
	defer rows.Close()
	w, report, err := saved.LoadVerified(i.path, i.moment, defaultSlots())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	if len(report.Dropped) > 0 {
		return fmt.Errorf("the new file would lack %s, which only the program that saved the world can "+
			"read: call vastarrow.Read in that program", strings.Join(report.Dropped, ", "))
	}
	if err := i.fill(ctx, w, format, rows, s.notes); err != nil {
		return err
	}
	return cli.Create(i.out, nil, func(to io.Writer) error {
		var o store.Options
		for _, v := range probe.Resources(w) {
			o.Resources = append(o.Resources, v.Type())
		}
		return store.Save(w, to, o)
	})
}

// defaultSlots returns the number of slots that a world has by default. If the rows of a file do not fit, the
// user imports the file in a program whose world has more slots.
func defaultSlots() int {
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	return w.Options().MaxEntities
}

// fill makes an entity for each row. It writes to notes which columns and values do not fit the world or are
// missing, and how many entities are new.
func (i *importer) fill(ctx context.Context, w *vast.World, f vastarrow.Format, rows io.Reader,
	notes io.Writer) error {
	empty := probe.All(w.Query()).Exactly().Count() // the entities without components
	report, err := vastarrow.Read(ctx, w, rows, f, vastarrow.ReadOptions{})
	if err != nil {
		return err
	}
	for _, name := range report.Unknown {
		fmt.Fprintf(notes, "# column %q belongs to no component\n", name)
	}
	for _, name := range report.Missing {
		fmt.Fprintf(notes, "# the file has no column %s: the field is zero\n", name)
	}
	if report.Nulls > 0 {
		fmt.Fprintf(notes, "# %d values are missing: their fields are zero\n", report.Nulls)
	}
	for _, p := range report.Problems {
		fmt.Fprintf(notes, "# %v\n", p)
	}
	switch newEmpty := probe.All(w.Query()).Exactly().Count() - empty; {
	case report.Entities > 0 && newEmpty == report.Entities:
		return fmt.Errorf("no row has a value for a component of the world: name the columns of the file "+
			"like those of the world: %s", strings.Join(columns(w), ", "))
	case report.Refused > 0 && !i.partial:
		return fmt.Errorf("%d values do not fit, so the command writes no file: correct the values, or add "+
			"-partial", report.Refused)
	}
	fmt.Fprintf(notes, "# %d entities are new\n", report.Entities)
	return nil
}

// columns returns the names of the columns that an import can fill.
func columns(w *vast.World) (names []string) {
	for _, col := range probe.Columns(w) {
		source, err := vastarrow.Entities(w.Query(), col)
		if err != nil {
			continue // files cannot hold this column
		}
		for _, f := range source.Schema().Fields()[1:] { // field 0 is the column entity
			names = append(names, f.Name)
		}
	}
	return names
}
