package store

import (
	"errors"
	"fmt"
	"io"

	"github.com/vastgo/vast/cmd/vast/internal/cli"
	"github.com/vastgo/vast/cmd/vast/internal/saved"
	"github.com/vastgo/vast/probe"
	library "github.com/vastgo/vast/store"
)

func export(o options, stdout, stderr io.Writer) int {
	w, report, err := saved.LoadVerified(o.path, o.moment, 0)
	if err != nil {
		return finish(stderr, "store export", err)
	}
	for _, name := range report.Dropped {
		fmt.Fprintf(stderr, "# %q is left out: only the program that saved it can read it\n", name)
	}
	var resources library.Options
	for _, v := range probe.Resources(w) {
		resources.Resources = append(resources.Resources, v.Type())
	}
	err = cli.Create(o.out, stdout, func(to io.Writer) error {
		return library.WriteJSON(w, to, resources)
	})
	return finish(stderr, "store export", errors.Join(err, w.Close()))
}
