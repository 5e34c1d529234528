package store

import (
	"fmt"
	"maps"
	"slices"

	"github.com/vastgo/vast/internal/state"
)

// container is an entry of Options.Containers.
type container struct {
	name string
	state.Container
	contents state.Contents
	fields   []int // for each field of a table in the file, the number of the program's field, or -1
	reserved bool
	arrays   []*state.Array
}

// containersOf returns the containers of Options.Containers, sorted by name.
func containersOf(o Options, w *state.World) (all []container, err error) {
	known := make(map[any]string)
	for _, name := range slices.Sorted(maps.Keys(o.Containers)) {
		c := container{name: name}
		if c.Container, err = containerOf(o.Containers[name]); err != nil {
			return nil, fmt.Errorf("container %q: %w", name, err)
		}
		if name == "" || slices.ContainsFunc(w.Columns, func(c state.Column) bool { return c.Name == name }) {
			return nil, fmt.Errorf("the name %q of a container is empty, or a column has this name: "+
				"give the container another name", name)
		}
		for _, of := range c.Of() {
			if other, twice := known[of]; twice {
				return nil, fmt.Errorf("the containers %q and %q are the same, or one is a part of the "+
					"other: leave one out", other, name)
			}
			known[of] = name
		}
		all = append(all, c)
	}
	return all, nil
}

// containerOf returns the state of a container of package bulk, of a queue of package event, or of the jobs
// of package sched.
func containerOf(container any) (state.Container, error) {
	if s := schedules(); s != nil {
		if c := s.Container(container); c != nil {
			return c, nil
		}
	}
	if events, ok := state.Events.(interface{ Container(any) state.Container }); ok {
		if c := events.Container(container); c != nil {
			return c, nil
		}
	}
	return bulkEngine.Container(container)
}

// describe returns the arrays that Save writes for the container. number is the number of the container in
// the file, from 1 on.
func (c *container) describe(number int) []state.Array {
	c.contents = c.Describe()
	arrays := c.Arrays(c.contents, -1)
	for i := range arrays {
		arrays[i].Container = number
	}
	return arrays
}

func manifestOf(name string, c state.Contents) containerManifest {
	m := containerManifest{Name: name, Kind: c.Kind, Len: c.Len, Slots: c.Slots, Mark: c.Mark,
		Numbers: c.Numbers, Fields: c.Fields}
	for _, index := range c.Indices {
		m.Indices = append(m.Indices, manifestOf("", index))
	}
	return m
}

func (m *containerManifest) contents() state.Contents {
	c := state.Contents{Kind: m.Kind, Len: m.Len, Slots: m.Slots, Mark: m.Mark, Numbers: m.Numbers,
		Fields: m.Fields}
	for i := range m.Indices {
		c.Indices = append(c.Indices, m.Indices[i].contents())
	}
	return c
}

// matchContainers finds the program's container for each container of the file, by name.
func (l *loader) matchContainers() (err error) {
	if l.containers, err = containersOf(l.options, l.own); err != nil {
		return err
	}
	found := make(map[string]bool)
	for i := range l.m.Containers {
		m := &l.m.Containers[i]
		name := m.Name
		if now, ok := l.renamed[name]; ok {
			name = now
		}
		k := slices.IndexFunc(l.containers, func(c container) bool { return c.name == name })
		if k < 0 {
			l.report.Dropped = append(l.report.Dropped, m.Name)
			l.kept = append(l.kept, nil)
			continue
		}
		if found[name] {
			return fmt.Errorf("two containers of the file get the name %q: correct Options.Renamed", name)
		}
		found[name] = true
		c := &l.containers[k]
		c.contents = m.contents()
		own := c.Describe()
		if own.Kind != m.Kind {
			return fmt.Errorf("container %q is of the kind %q in the file and %q in the program: load into "+
				"a container of the old kind, and copy the elements", name, m.Kind, own.Kind)
		}
		if err := l.matchFields(c, own.Fields); err != nil {
			return err
		}
		l.kept = append(l.kept, c)
	}
	for i := range l.containers {
		if name := l.containers[i].name; !found[name] {
			l.report.Added = append(l.report.Added, name)
		}
	}
	return nil
}

// matchFields finds the program's field for each field of a table in the file. own are the names of the
// program's fields.
func (l *loader) matchFields(c *container, own []string) error {
	for _, name := range c.contents.Fields {
		now, err := l.nameOfField(c.name, name)
		if err != nil {
			return err
		}
		k := slices.Index(own, now)
		if k < 0 {
			l.report.Dropped = append(l.report.Dropped, c.name+"."+name)
		} else if slices.Contains(c.fields, k) {
			return fmt.Errorf("two fields of the file get the name %s.%s: correct Options.Renamed", c.name,
				now)
		}
		c.fields = append(c.fields, k)
	}
	for k, name := range own {
		if !slices.Contains(c.fields, k) {
			l.report.Added = append(l.report.Added, c.name+"."+name)
		}
	}
	c.contents.Fields = own
	return nil
}

// reserveContainers makes room in the containers, and returns the arrays for the elements of the file.
func (l *loader) reserveContainers() (arrays []state.Array, err error) {
	for i, c := range l.kept {
		if c == nil {
			continue
		}
		if err := c.Reserve(c.contents); err != nil {
			return nil, fmt.Errorf("container %q: %w", c.name, err)
		}
		c.reserved = true
		for _, a := range c.Arrays(c.contents, -1) {
			if a.Bits {
				a = state.ArrayOf(a.Kind, -1, a.Number, make([]uint64, a.Len))
			}
			a.Container = i + 1
			arrays = append(arrays, a)
		}
	}
	return arrays, nil
}

func (l *loader) takeArrays(arrays []state.Array) {
	for i := range arrays {
		c := l.kept[arrays[i].Container-1]
		c.arrays = append(c.arrays, &arrays[i])
	}
}

// number returns the number that an array of the file has in the program. If the array holds a field that the
// program's table lacks, the result is -1. Arrays that hold no field of a table keep the numbers that they
// have in the file, and so do all arrays of a container that the program lacks.
func (l *loader) number(a *arrayManifest) int {
	if a.Kind != state.Fields || a.Container == 0 || l.kept[a.Container-1] == nil {
		return a.Number
	}
	if fields := l.kept[a.Container-1].fields; a.Number >= 0 && a.Number < len(fields) {
		return fields[a.Number]
	}
	return -1
}

// conversionInContainer returns the conversion from elements in the file to elements of a container.
func (l *loader) conversionInContainer(own *state.Array, a *arrayManifest, to *schema) (*conversion, error) {
	if own.Derived && !sameFields(a.Type, to) {
		return new(conversion), nil // only marks the array as converted: Load ignores the array in the file
	}
	c := l.kept[a.Container-1]
	path := c.name
	if a.Kind == state.Fields {
		path += "." + c.contents.Fields[own.Number]
	}
	k, err := l.conversionOf(a.Type, to, path)
	if err != nil && a.Kind == state.Pairs {
		err = fmt.Errorf("%w; or leave the index out of Options.Containers, and add its pairs after Load",
			err)
	}
	return k, err
}

// sameFields reports whether two types have the same fields. It ignores the offsets of the fields, because
// they depend on the processor.
func sameFields(a, b *schema) bool {
	return a.same(b) || a.Kind == "struct" && b.Kind == "struct" &&
		slices.EqualFunc(a.Fields, b.Fields, func(a, b member) bool {
			return a.Name == b.Name && a.Type.same(b.Type)
		})
}

// writeTo reads a block of the file into an array whose elements are not adjacent in memory.
func (l *loader) writeTo(t *target, b block) error {
	src, err := l.r().bytes(b)
	if err != nil {
		return err
	}
	if t.conversion != nil {
		dst := make([]byte, int(b.count)*t.to)
		if err := t.run(dst, src, int(b.first), int(b.count)); err != nil {
			return err
		}
		src = dst
	}
	return t.array.Write(src, int(b.first))
}

func (l *loader) settleContainers() error {
	for _, c := range l.kept {
		if c == nil {
			continue
		}
		arrays := make([]state.Array, len(c.arrays))
		for i, a := range c.arrays {
			arrays[i] = *a
		}
		if err := c.Settle(c.contents, arrays); err != nil {
			return fmt.Errorf("container %q: %w", c.name, err)
		}
	}
	return nil
}

// abandonContainers empties the containers that Load has begun to fill.
func (l *loader) abandonContainers() {
	for _, c := range l.kept {
		if c != nil && c.reserved {
			c.Abandon(c.contents)
		}
	}
}
