package store

import (
	"errors"
	"fmt"
	"io"
	"reflect"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/probe"
)

// Compare compares the world w with a saved world, which [Save] has written to src. Compare returns nil if
// the worlds are in the same state. Otherwise it returns a [*Difference] that names the first difference, in
// this order: the list of columns, the mark, entities, components and links by column, resources, and all
// other data that Save writes. Compare is for two programs that should compute equal worlds but do not: one
// program saves its world, and the other program compares its world with the file.
//
// The worlds must have the same mark. Worlds of different processes have the same mark if both programs set
// the same vast.Options.Mark, or if one world was loaded from a file of the other world.
//
// Compare loads the saved world with the options o into a second world, which has the columns of w and uses
// the same vast.Options.Limit. It ignores the containers in o.Containers. If the worlds cannot be compared,
// the error is no [*Difference].
//
// Compare does not change w. The program must not change w while Compare runs. Complexity: the time of Load
// and Save, and the memory of a second world.
func Compare(w *vast.World, src io.Reader, o Options) error {
	d, err := compare(w, src, o)
	if err != nil {
		return fmt.Errorf("store: comparing world %q: %w", w.Options().Name, err)
	}
	if d != nil {
		d.World, d.saved = w.Options().Name, true
		return d
	}
	return nil
}

func compare(w *vast.World, src io.Reader, o Options) (d *Difference, err error) {
	containers := o.Containers
	o.Containers = nil
	saved, err := twinOf(w, o)
	if saved != nil {
		defer func() { err = errors.Join(err, saved.Close()) }()
	}
	if err != nil {
		return nil, err
	}
	report, err := Load(saved, src, o)
	if err != nil {
		return nil, err
	}
	for _, name := range report.Dropped {
		if _, container := containers[name]; !container {
			return &Difference{Column: name, Recorded: "there", Replayed: "not there"}, nil
		}
	}
	for _, name := range report.Added {
		return &Difference{Column: name, Recorded: "not there", Replayed: "there"}, nil
	}
	was, err := lookAt(saved, o)
	if err != nil {
		return nil, err
	}
	return was.compare(w, o)
}

// twinOf makes an empty world with the columns of w, in the order of w. If the world is not nil, the caller
// must close it, also after an error.
func twinOf(w *vast.World, o Options) (*vast.World, error) {
	s, err := engine.Describe(w)
	if err != nil {
		return nil, err
	}
	m, err := describe(s, codecsOf(o))
	if err != nil {
		return nil, err
	}
	own := w.Options()
	own.Mark = 0 // Load gives the world the mark of the file
	columns := probe.Columns(w)
	twin, _, err := makeWorld(m, own, func(column int, _ *schema, _ bool) (reflect.Type, error) {
		if e, ok := probe.EdgesOf(columns[column]); ok {
			return e.Type(), nil
		}
		return s.Columns[column].Type, nil
	})
	return twin, err
}
