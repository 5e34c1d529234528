package store

import (
	"errors"
	"fmt"
	"io"
	"reflect"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/probe"
)

// Compare compares a world with a saved one, which [Save] has written. It returns nil if the worlds are in
// the same state, and a [*Difference] that names the first difference: it compares the list of columns,
// entities, components and links by column, resources, and all else that Save writes. Use it to find out why
// two programs that should compute the same do not: both save, and one of them compares.
//
// The two worlds must have the same mark. Worlds of different processes have the same one if their
// vast.Options.Mark says so, or if one was loaded from a file of the other.
//
// o says how the saved world is loaded; see [Load]. Compare leaves out the containers that it names. Any
// other error says why the saved world cannot be loaded into a second world with the columns and the limit of
// w.
//
// Compare does not change w, and nothing may change w while Compare runs. Complexity: as Load and Save. It
// takes the memory of a second world.
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

// twinOf makes a world with the columns of another one, in their order, and without entities. If it fails, it
// may return the world, too.
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
	own.Mark = 0 // the file decides
	columns := probe.Columns(w)
	twin, _, err := makeWorld(m, own, func(column int, _ *schema, _ bool) (reflect.Type, error) {
		if e, ok := probe.EdgesOf(columns[column]); ok {
			return e.Type(), nil
		}
		return s.Columns[column].Type, nil
	})
	return twin, err
}
