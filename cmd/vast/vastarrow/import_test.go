package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/vastgo/vast"
	vastarrow "github.com/vastgo/vast/arrow"
	"github.com/vastgo/vast/bulk"
	"github.com/vastgo/vast/store"
)

type place struct {
	X, Y float32
	Near vast.Entity
}

// secret has an encoding that only its program knows.
type secret struct{ text string }

func (s secret) MarshalBinary() ([]byte, error) { return []byte("!" + s.text), nil }

func (s *secret) UnmarshalBinary(b []byte) error {
	s.text = strings.TrimPrefix(string(b), "!")
	return nil
}

type season struct{ Warm bool }

// town is the world of a program, with its columns and the options of its store.
type town struct {
	*vast.World
	places  vast.Column[place]
	health  vast.Column[int8]
	secrets vast.HeapColumn[secret]
	ill     vast.Tag
	home    vast.Relation
	options store.Options
}

func newTown(t *testing.T) *town {
	w := vast.NewWorld(vast.Options{})
	t.Cleanup(func() { w.Close() })
	w.Names()
	return &town{w, vast.NewColumn[place](w), vast.NewColumn[int8](w).Named("Health"),
		vast.NewHeapColumn[secret](w), vast.NewTag(w, "Ill"),
		vast.NewRelation(w, "LivesIn", vast.RelationOptions{}),
		store.Options{Resources: []reflect.Type{reflect.TypeFor[season]()}}}
}

// fill makes a house, a person who lives in the house, and a resource.
func (w *town) fill(t *testing.T) {
	vast.SetResource(w.World, season{true})
	house := w.Archetype(w.places).New()
	w.places.Set(house, place{1, 2, house})
	person := w.Archetype(w.health, w.secrets).New()
	w.health.Set(person, 7)
	w.secrets.Set(person, secret{"gold"})
	w.home.Set(person, house)
	if _, err := w.Names().Set(house, "house"); err != nil {
		t.Fatal(err)
	}
}

// describe returns a line for each entity, sorted.
func (w *town) describe() (lines []string) {
	name := func(e vast.Entity) string {
		text, _ := w.Names().Of(e)
		return text
	}
	for e := range w.Query().All() {
		line := name(e) + " "
		if p := w.places.Get(e); p != nil {
			line += fmt.Sprintf("at %v,%v near %s ", p.X, p.Y, name(p.Near))
		}
		if h := w.health.Get(e); h != nil {
			line += fmt.Sprintf("health %d ", *h)
		}
		if s := w.secrets.Get(e); s != nil {
			line += "secret " + s.text + " "
		}
		if w.ill.Has(e) {
			line += "ill "
		}
		if to, ok := w.home.Target(e); ok {
			line += "in " + name(to)
		}
		lines = append(lines, strings.TrimSpace(line))
	}
	slices.Sort(lines)
	return lines
}

func (w *town) save(t *testing.T, path string) {
	t.Helper()
	var b bytes.Buffer
	if err := store.Save(w.World, &b, w.options); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
}

// load loads a saved world as the program that saved the world does.
func load(t *testing.T, path string) *town {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := newTown(t)
	if r, err := store.Load(w.World, f, w.options); err != nil || len(r.Dropped)+len(r.Converted) > 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	return w
}

const rows = `entity,name,place.x,place.y,place.near,Health,ill,lives_in,colour
10,mill,3,4,11,,false,,red
11,bakery,5,6,10,,false,,
12,,,,,-5,true,10,
`

// TestImport adds rows to the world in a saved file, and to the world in the folder of a store. Each import
// writes a new file. The program of the world loads this file.
func TestImport(t *testing.T) {
	dir := t.TempDir()
	w := newTown(t)
	w.fill(t)
	file := filepath.Join(dir, "town.world")
	w.save(t, file)
	folder := filepath.Join(dir, "folder")
	stored := newTown(t)
	st, err := store.Open(folder, stored.World, stored.options)
	if err != nil {
		t.Fatal(err)
	}
	stored.fill(t)
	if err := errors.Join(st.Recover(nil, nil), st.Close()); err != nil {
		t.Fatal(err)
	}
	csv := filepath.Join(dir, "rows.csv")
	if err := os.WriteFile(csv, []byte(rows), 0o666); err != nil {
		t.Fatal(err)
	}
	want := []string{"bakery at 5,6 near mill", "health -5 ill in mill", "health 7 secret gold in house",
		"house at 1,2 near house", "mill at 3,4 near bakery"}
	for i, path := range []string{file, folder} {
		out := filepath.Join(dir, fmt.Sprint(i, ".world"))
		args := []string{"import", "-data", path, "-out", out, csv}
		status, stdout, notes := runTask(t, args...)
		if status != 0 || stdout != "" || notes !=
			"# column \"colour\" belongs to no component\n# 3 entities are new\n" {
			t.Errorf("exit status %d\n%s%s", status, stdout, notes)
		}
		n := load(t, out)
		if got := n.describe(); !slices.Equal(got, want) {
			t.Errorf("the world has\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if s := vast.FindResource[season](n.World); s == nil || !s.Warm {
			t.Error("the resource is lost")
		}
		if status, _, notes := runTask(t, args...); status != 1 || !strings.Contains(notes, "exists") {
			t.Errorf("into the same file again: exit status %d\n%s", status, notes)
		}
	}
}

// TestImportOfFormats imports what vastarrow.Write has written.
func TestImportOfFormats(t *testing.T) {
	dir := t.TempDir()
	w := newTown(t)
	template := filepath.Join(dir, "empty.world")
	w.save(t, template)
	w.fill(t)
	want := w.describe()
	for i := range want {
		want[i] = strings.ReplaceAll(want[i], "secret gold ", "") // the source below has no secrets
	}
	for _, f := range formats {
		var b bytes.Buffer
		source, err := vastarrow.Entities(w.Query(), w.places, w.health, w.home, w.Names())
		if err == nil {
			err = vastarrow.Write(t.Context(), &b, f.format, source)
		}
		if err != nil {
			t.Fatal(err)
		}
		in, out := filepath.Join(dir, "rows"+f.extensions[0]), filepath.Join(dir, f.name+".world")
		if err := os.WriteFile(in, b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
		if status, _, notes := runTask(t, "import", in, "-data", template, "-out", out); status != 0 ||
			notes != "# 2 entities are new\n" {
			t.Errorf("%s: exit status %d\n%s", f.name, status, notes)
			continue
		}
		if got := load(t, out).describe(); !slices.Equal(got, want) {
			t.Errorf("%s: the world has\n%s\nwant\n%s", f.name, strings.Join(got, "\n"),
				strings.Join(want, "\n"))
		}
	}
}

func TestImportOfWrongValues(t *testing.T) {
	dir := t.TempDir()
	w := newTown(t)
	template := filepath.Join(dir, "empty.world")
	w.save(t, template)
	csv, out := filepath.Join(dir, "rows.csv"), filepath.Join(dir, "out.world")
	for _, c := range []struct {
		rows   string
		args   []string
		status int
		notes  []string
	}{
		{"Health,place.x\n300,1\n5,\n", nil, 1, []string{"# row 0, column health: ", "int8",
			"# the file has no column place.y", "1 values do not fit"}},
		{"Health,place.x\n300,1\n5,\n", []string{"-partial"}, 0, []string{"# row 0, column health: ",
			"# 2 entities are new"}},
		{"Height\n1\n", nil, 1, []string{`"Height" belongs to no component`,
			"like those of the world: name, place.x, place.y, place.near, health, secret, ill, lives_in"}},
		{"Health\n\"\n", nil, 1, []string{"no valid csv"}},
	} {
		if err := os.WriteFile(csv, []byte(c.rows), 0o666); err != nil {
			t.Fatal(err)
		}
		args := append([]string{"import", "-data", template, "-out", out, csv}, c.args...)
		status, _, notes := runTask(t, args...)
		if status != c.status {
			t.Errorf("%q: exit status %d, want %d", c.rows, status, c.status)
		}
		for _, want := range c.notes {
			if !strings.Contains(notes, want) {
				t.Errorf("%q: no %q in\n%s", c.rows, want, notes)
			}
		}
		if _, err := os.Stat(out); (err == nil) != (status == 0) {
			t.Errorf("%q: exit status %d, but Stat of the output returns %v", c.rows, status, err)
		}
		os.Remove(out)
	}
}

// TestImportWithoutTheProgram checks that an import refuses a file with a container of the program
// (store.Options.Containers): vastarrow cannot read the container, so the new file would lack it.
func TestImportWithoutTheProgram(t *testing.T) {
	dir := t.TempDir()
	w := newTown(t)
	numbers, err := bulk.NewArray[int](bulk.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer numbers.Close()
	numbers.Append(5)
	w.options.Containers = map[string]any{"numbers": numbers}
	template, csv := filepath.Join(dir, "a.world"), filepath.Join(dir, "rows.csv")
	w.save(t, template)
	if err := os.WriteFile(csv, []byte("Health\n1\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	status, _, notes := runTask(t, "import", "-data", template, "-out", filepath.Join(dir, "out"), csv)
	if status != 1 || !strings.Contains(notes, "would lack numbers") ||
		!strings.Contains(notes, "vastarrow.Read") {
		t.Errorf("exit status %d\n%s", status, notes)
	}
}
