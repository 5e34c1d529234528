package store

import (
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/probing"
	"github.com/vastgo/vast/internal/state"
	"github.com/vastgo/vast/probe"
)

// LoadAny loads a file that [Save] has written, without the program that saved the world. LoadAny makes the
// world, with all columns, tags, relations, edges and names that the file describes, and the resources.
// Package probe reads and writes the components, and package inspect shows them. Close the world after use.
//
// LoadAny makes the component types from the description in the file: structs with equal fields, at equal
// offsets if this processor allows them. A file does not describe everything. LoadAny loses:
//
//   - the methods of types: [WriteJSON] writes the fields of a type, even if the saved type has MarshalJSON;
//   - the structure of values that a codec or a method of their type has encoded: they become bytes, but
//     a time.Time stays a time.Time;
//   - the names of declared types that are not structs;
//   - containers, and resources whose type is not a declared struct, [time.Duration] or [vast.Entity]: the
//     report names them;
//   - room that Grow promised, and callbacks.
//
// LoadAny keeps everything else: [Save] and [WriteJSON] can write the loaded world again. Pass them the types
// of [probe.Resources] in Options.Resources.
//
// LoadAny makes the world with the options o. It raises MaxEntities if the file needs more slots.
//
// For a damaged file, LoadAny returns an error as [Load] does. A forged file may have types of any size:
// limit the memory with o.Limit if you do not trust the file.
func LoadAny(src io.Reader, o vast.Options) (*vast.World, *Report, error) {
	from, end := sourceOf(src)
	file, err := openSaved(from)
	var w *vast.World
	var report *Report
	if err == nil {
		w, report, err = readAny([]*layer{file}, o, false)
	}
	if err == nil {
		if err = end(); err != nil {
			err = errors.Join(err, w.Close())
		}
	}
	if err != nil {
		return nil, nil, fmt.Errorf("store: loading a world: %w", err)
	}
	return w, report, nil
}

// readAny reads a world without the program that saved it. If maps is true, elements may be memory-mapped
// from the file: see mapElements.
func readAny(layers []*layer, o vast.Options, maps bool) (*vast.World, *Report, error) {
	m := layers[len(layers)-1].m
	w, resources, err := makeWorld(m, o, func(_ int, s *schema, encoded bool) (reflect.Type, error) {
		return typeOf(s, encoded)
	})
	var report *Report
	if err == nil {
		report, err = readWorld(w, layers, Options{Resources: resources}, maps)
	}
	if err != nil {
		if w != nil {
			err = errors.Join(err, w.Close())
		}
		return nil, nil, err
	}
	slices.Sort(report.Dropped)
	return w, report, nil
}

// typesOf returns a Go type for the values of a column or of edges. s is the schema of the values in the
// file. encoded is true for the values of a HeapColumn.
type typesOf func(column int, s *schema, encoded bool) (reflect.Type, error)

// makeWorld makes the world that a file describes, with its columns and without entities. It returns the
// types of the resources, too.
func makeWorld(m *manifest, o vast.Options, types typesOf) (w *vast.World, resources []reflect.Type,
	err error) {
	defer func() {
		// Functions of package vast panic if there is no memory, or if the file has impossible columns, such
		// as two tags of one name.
		if v := recover(); v != nil {
			err = fmt.Errorf("making the world: %v", v)
		}
	}()
	if m.Used < 0 || m.Used > maxWords {
		return nil, nil, fmt.Errorf("the world has %d words, but may have only 0 to %d", m.Used, maxWords)
	}
	o.MaxEntities = max(o.MaxEntities, m.Used*64, 64)
	for _, c := range m.Columns {
		if c.Linked == "" && c.Pool != nil && c.Pool.Slots <= maxWords*64 {
			o.MaxEntities = max(o.MaxEntities, c.Pool.Slots)
		}
	}
	w = vast.NewWorld(o)
	for i := range m.Columns {
		if err := makeColumn(w, m, i, types); err != nil {
			return w, nil, fmt.Errorf("column %s: %w", m.Columns[i].Name, err)
		}
	}
	for i, col := range probe.Columns(w) {
		if i >= len(m.Columns) {
			break
		}
		for range min(len(m.Columns[i].Notes), maxNotes) {
			vast.NewTracker(w, col)
		}
	}
	for i := range m.Resources {
		t, err := resourceOf(&m.Resources[i])
		if err != nil {
			return w, nil, fmt.Errorf("resource %s: %w", m.Resources[i].Name, err)
		}
		if t != nil {
			resources = append(resources, t)
		}
	}
	return w, resources, nil
}

const (
	maxWords = min(1<<26, math.MaxInt/64) // a word has 64 slots; a slot is a 32-bit number
	maxNotes = 64                         // largest number of trackers that LoadAny makes for a column
)

func makeColumn(w *vast.World, m *manifest, i int, types typesOf) error {
	c := &m.Columns[i]
	switch {
	case c.Private: // makeLinks makes this column with the relation or the edges
		return nil
	case c.Names:
		w.Names()
		return nil
	case c.Linked != "":
		return makeLinks(w, m, i, types)
	}
	s := slices.Index(storages[:], c.Storage)
	if s < 0 {
		return fmt.Errorf("the storage %q is unknown", c.Storage)
	}
	if s == probing.StorageTag && c.Disabled {
		return makeDisabled(w, m, i)
	}
	if s == probing.StorageTag {
		probe.NewColumn(w, c.Name, probe.StorageTag, nil)
		return nil
	}
	t, err := types(i, c.Type, s == probing.StorageHeap)
	if err == nil {
		probe.NewColumn(w, c.Name, probe.Storage(s), t)
	}
	return err
}

// makeDisabled makes column i of a file: the tag of a vast.Disabled.
func makeDisabled(w *vast.World, m *manifest, i int) error {
	var cols []vast.AnyColumn
	made := probe.Columns(w)
	for _, k := range m.Columns[i].Disables {
		if k < 0 || k >= min(i, len(made)) {
			return fmt.Errorf("it disables the components of column %d, which is not an earlier column", k)
		}
		cols = append(cols, made[k])
	}
	vast.NewDisabled(w, m.Columns[i].Name, cols...)
	return nil
}

func makeLinks(w *vast.World, m *manifest, i int, types typesOf) error {
	c := &m.Columns[i]
	rule := slices.Index(rulesOnDelete[:], c.OnDelete)
	if rule < 0 {
		return fmt.Errorf("the rule on deletion %q is unknown", c.OnDelete)
	}
	o := vast.RelationOptions{Cyclic: c.Cyclic, OnDelete: vast.OnDelete(rule)}
	if c.Pool == nil {
		engine.NewLinks(w, c.Name, nil, 0, o)
		return nil
	}
	k := slices.IndexFunc(m.Arrays, func(a arrayManifest) bool {
		return a.Kind == state.PoolElements && a.Column == i
	})
	if k < 0 {
		return errors.New("the array of edges is missing")
	}
	fields := m.Arrays[k].Type.Fields
	value := slices.IndexFunc(fields, func(f member) bool { return f.Name == "value" })
	if value < 0 {
		return errors.New("the edges have no field named \"value\"")
	}
	t, err := types(i, fields[value].Type, false)
	if err != nil {
		return err
	}
	capacity := 0
	if c.Pool.Slots > 4*w.Options().MaxEntities {
		capacity = c.Pool.Slots
	}
	engine.NewLinks(w, c.Name, t, capacity, o)
	return nil
}
