package store

import (
	"errors"
	"fmt"
	"io"
	"reflect"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/probe"
)

// Compare compares the world w with a saved world, which [Save] has written to src. It returns nil if the two
// worlds are in the same state. Otherwise it returns a [*Difference] that names the first difference. Compare
// compares in this order: the list of columns, the mark, entities, components and links by column, resources,
// and all other data that Save writes. Use Compare to find out why two programs compute different states that
// should be the same: one program saves its world, and the other program compares its world with the file.
//
// The two worlds must have the same mark. Worlds of different processes have the same mark if both programs
// set the same vast.Options.Mark, or if one world was loaded from a file of the other world.
//
// o says how the saved world is loaded; see [Load]. Compare leaves out the containers that o names. Compare
// loads the saved world into a second world with the columns and the limit of w. An error that is no
// [*Difference] says why the worlds could not be compared.
//
// Compare does not change w, and nothing may change w while Compare runs. Complexity: as Load and Save, and
// the memory of a second world.
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

// twinOf makes a world without entities that has the columns of w, in the same order. The caller closes the
// world, which may be nil if twinOf returns an error.
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
