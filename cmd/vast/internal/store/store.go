// Package store implements the command `vast store`, which examines the folder of a store or a file of
// store.Save. The command does not need the program that wrote the data. A moment is the state of the world
// at a checkpoint.
package store

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"

	"github.com/vastgo/vast/cmd/vast/internal/cli"
)

// task is a subcommand of `vast store`.
type task struct {
	name, about string
	flags       func(f *flag.FlagSet, o *options) // declares the flags
	run         func(o options, stdout, stderr io.Writer) (status int)
}

type options struct {
	path   string // the folder or the file
	json   bool
	deep   bool
	moment uint64 // number of a checkpoint; 0 is the newest
	out    string
	addr   string
	browse bool
}

var tasks = []task{
	{"ls", "list the checkpoints and the journal", flagJSON, list},
	{"verify", "read every byte, and name the damaged files", func(f *flag.FlagSet, o *options) {
		flagJSON(f, o)
		f.BoolVar(&o.deep, "deep", false, "also load each checkpoint, and check that its parts are "+
			"consistent with each other")
	}, verify},
	{"export", "write a moment as a JSON document", func(f *flag.FlagSet, o *options) {
		flagMoment(f, o)
		f.StringVar(&o.out, "out", "", "write into this new `file` instead of standard output")
	}, export},
	{"look", "show the moments in a browser, and compare two of them", func(f *flag.FlagSet, o *options) {
		flagMoment(f, o)
		f.StringVar(&o.addr, "addr", "127.0.0.1:0",
			"address to listen on, as `host:port`; port 0 stands for any free port")
		f.BoolVar(&o.browse, "open", false, "open a browser")
	}, look},
	{"compact", "make the newest checkpoint one complete file, and remove all others",
		func(*flag.FlagSet, *options) {}, compact},
}

func flagJSON(f *flag.FlagSet, o *options) {
	f.BoolVar(&o.json, "json", false, "print one JSON object")
}

func flagMoment(f *flag.FlagSet, o *options) {
	f.Uint64Var(&o.moment, "moment", 0, "`number` in the name of the checkpoint's file; 0 is the newest")
}

// Run runs the command with the arguments after `vast store`, and returns the exit status.
func Run(args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		return misuse(stderr, "store",
			errors.New("a command is missing: ls, verify, export, look or compact"))
	}
	switch args[0] {
	case "-h", "-help", "--help":
		usage(stdout)
		return cli.Success
	}
	for _, t := range tasks {
		if t.name == args[0] {
			return t.parse(args[1:], stdout, stderr)
		}
	}
	return misuse(stderr, "store", fmt.Errorf("unknown command %q", args[0]))
}

func misuse(stderr io.Writer, command string, err error) int {
	return cli.Fail(stderr, command, &cli.UsageError{Command: command, Err: err}, cli.Misuse)
}

func usage(w io.Writer) {
	fmt.Fprint(w, "usage: vast store COMMAND PATH [flags]\n\n"+
		"Examines the folder of a store, or a file that store.Save has written. The program\n"+
		"that wrote the folder or the file is not needed. A moment is the state of the world\n"+
		"at a checkpoint. Only compact changes the folder.\n\n")
	for _, t := range tasks {
		fmt.Fprintf(w, "  %-8s %s\n", t.name, t.about)
	}
	fmt.Fprint(w, "\n`vast store COMMAND -h` lists the flags.\n")
}

func (t *task) parse(args []string, stdout, stderr io.Writer) int {
	var o options
	command := "store " + t.name
	f := flag.NewFlagSet("vast "+command, flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.Usage = func() {}
	t.flags(f, &o)
	rest, err := cli.Parse(f, args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		var b bytes.Buffer
		f.SetOutput(&b)
		f.PrintDefaults()
		fmt.Fprintf(stdout, "usage: vast %s PATH [flags]\n\n%s\n", command, about[t.name])
		if b.Len() > 0 {
			fmt.Fprintf(stdout, "\n%s", b.String())
		}
		return cli.Success
	case err != nil:
		return misuse(stderr, command, err)
	case len(rest) == 0:
		return misuse(stderr, command, errors.New("the path of a folder or file is missing"))
	case len(rest) > 1:
		return misuse(stderr, command, fmt.Errorf("unexpected argument %q", rest[1]))
	}
	o.path = rest[0]
	return t.run(o, stdout, stderr)
}

// about holds the help text of each task.
var about = map[string]string{
	"ls": `Lists the files of the folder, with the last tick of each checkpoint. A program may have the
folder open.`,
	"verify": `Reads every byte of all checkpoints and of the journal, including checkpoints that newer
checkpoints have replaced. The exit status is 1 if a file is damaged or missing. The
output names each of these files and the position of the damage. A program may have the
folder open.`,
	"export": `Writes a moment of the folder, or the world of a saved file, as a JSON document for
store.ReadJSON. A program may have the folder open.`,
	"look": `Serves a page with the inspector of a moment, a slider through all moments of the folder,
and the differences between two moments. A program may have the folder open. The page
shows the moments that the folder had when the command started.`,
	"compact": `Makes the newest checkpoint one file that holds the complete world, and removes all other
checkpoints. The journal that follows the newest checkpoint stays. Before compact removes
files, it verifies the newest checkpoint and the journal. No program may have the folder
open.`,
}
