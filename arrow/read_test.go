package vastarrow

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/vastgo/vast"
)

// TestReport reads values that do not fit, a name that is taken, and links that cannot be made.
func TestReport(t *testing.T) {
	f := newFixture(t)
	other := f.Archetype().New()
	if _, err := f.names.Set(other, "taken"); err != nil {
		t.Fatal(err)
	}
	text := strings.Join([]string{
		"entity,POSITION.x,position.y,body.kind,body.alive,body.color,health,parent,Name,strange,sick," +
			"note.at",
		`1,1.5,2,255,true,"[1,2,3]",7,,first,x,true,2020-01-02T03:04:05Z`,
		`2,,3,256,,,2147483648,1,taken,y,false,`,
		`3,abc,4,,maybe,"[1,2]",1.5,9,,z,,yesterday`,
		`4,1e999,5,-1,0,"[1,2,300]",-7,4,,z,yes,`,
	}, "\n")
	report, err := Read(t.Context(), f.World, strings.NewReader(text), CSV, ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if report.Entities != 4 || report.Nulls != 4 || fmt.Sprint(report.Unknown) != "[strange]" ||
		len(report.Missing) != 8 {
		t.Errorf("%+v", report)
	}
	var got []string
	for _, p := range report.Problems {
		got = append(got, p.String())
	}
	want := []string{
		"row 1, column body.kind: 256 is out of the range of uint8",
		"row 1, column health: 2147483648 is out of the range of int32",
		`row 2, column position.x: "abc" does not fit into float64`,
		`row 2, column body.alive: "maybe" does not fit into bool`,
		"row 2, column body.color: the list has 2 values, and the field has 3",
		"row 2, column health: 1.5 does not fit into int32",
		`row 2, column note.at: "yesterday" is not a time such as 2006-01-02T15:04:05Z`,
		"row 3, column position.x: 1e999 is out of the range of float64",
		"row 3, column body.kind: -1 is out of the range of uint8",
		"row 3, column body.color: 300 is out of the range of uint8",
		`row 3, column sick: "yes" does not fit into bool`,
		`row 1, column name: vast: Names.Set: `,
		"row 2, column parent: the file has no entity 9",
		"row 3, column parent: the link to entity 4 closes a circle",
	}
	if len(got) != len(want) || report.Refused != len(want) {
		t.Errorf("%d problems, want %d", report.Refused, len(want))
	}
	for i := range min(len(got), len(want)) {
		if !strings.HasPrefix(got[i], want[i]) && !(strings.Contains(want[i], "Names.Set") &&
			strings.Contains(got[i], "taken")) {
			t.Errorf("got  %s\nwant %s", got[i], want[i])
		}
	}
	e, _ := f.names.Find("first")
	if *f.position.Get(e) != (position{1.5, 2}) || *f.health.Get(e) != 7 || !f.tag.Has(e) ||
		f.body.Get(e).Color != [3]uint8{1, 2, 3} {
		t.Error(f.Sprint(e))
	}
	if n := f.parent.CountSources(e); n != 1 {
		t.Errorf("%d sources", n)
	}
}

func TestLongNames(t *testing.T) {
	f := newFixture(t)
	line := `{"x` + strings.Repeat("ü", 40) + `":1}` + "\n"
	report, err := Read(t.Context(), f.World, strings.NewReader(line+line), JSONLines, ReadOptions{})
	if want := "x" + strings.Repeat("ü", 29) + "…"; err != nil || len(report.Unknown) != 1 ||
		report.Unknown[0] != want {
		t.Errorf("%q, %v, want %s", report.Unknown, err, want)
	}
}

func TestReadErrors(t *testing.T) {
	f := newFixture(t)
	f.fill(t, 300)
	parquet := mustWrite(t, Parquet, mustEntities(t, f.Query(), f.columns()...))
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	broken := errors.New("broken")
	small := vast.NewWorld(vast.Options{MaxEntities: 64})
	defer small.Close()
	vast.NewColumn[position](small)
	for _, c := range []struct {
		name string
		w    *vast.World
		ctx  context.Context
		r    io.Reader
		f    Format
		o    ReadOptions
		text string
	}{
		{"too many rows", f.World, t.Context(), bytes.NewReader(parquet), Parquet, ReadOptions{MaxRows: 299},
			"more than 299 rows: set ReadOptions.MaxRows"},
		{"too many bytes", f.World, t.Context(), bytes.NewReader(parquet), Parquet,
			ReadOptions{MaxBytes: 1000},
			"larger than 1000 bytes: set ReadOptions.MaxBytes"},
		{"long line", f.World, t.Context(), strings.NewReader(`{"health":1}` + "\n" + strings.Repeat(" ",
			100)), JSONLines,
			ReadOptions{MaxBytes: 50}, "longer than 50 bytes: set ReadOptions.MaxBytes"},
		{"full world", small, t.Context(), bytes.NewReader(parquet), Parquet,
			ReadOptions{MaxBytes: math.MaxInt}, "the world cannot grow"},
		{"cancelled", f.World, cancelled, bytes.NewReader(parquet), Parquet, ReadOptions{},
			"context canceled"},
		{"no Parquet", f.World, t.Context(), strings.NewReader("PAR1"), Parquet, ReadOptions{},
			"no valid parquet"},
		{"no Arrow", f.World, t.Context(), strings.NewReader("ARROW1"), ArrowFile, ReadOptions{},
			"no valid arrow file"},
		{"no stream", f.World, t.Context(), strings.NewReader("hello, world"), ArrowStream, ReadOptions{},
			"no valid arrow stream"},
		{"no JSON", f.World, t.Context(), strings.NewReader("{}\n\n[1]\n"), JSONLines, ReadOptions{},
			"line 3: "},
		{"no CSV", f.World, t.Context(), strings.NewReader("a,b\n1\n"), CSV, ReadOptions{}, "no valid csv"},
		{"broken CSV", f.World, t.Context(), iotest.ErrReader(broken), CSV, ReadOptions{},
			"reading the file: broken"},
		{"CSV breaks", f.World, t.Context(), io.MultiReader(strings.NewReader("a,b\n1"),
			iotest.ErrReader(broken)), CSV, ReadOptions{}, "reading the file: broken"},
		{"broken JSON", f.World, t.Context(), iotest.ErrReader(broken), JSONLines, ReadOptions{}, "broken"},
		{"broken Parquet", f.World, t.Context(), iotest.ErrReader(broken), Parquet, ReadOptions{}, "broken"},
	} {
		before := c.w.Len()
		report, err := Read(c.ctx, c.w, c.r, c.f, c.o)
		if err == nil || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v, want %s", c.name, err, c.text)
		}
		if made := c.w.Len() - before; made != report.Entities {
			t.Errorf("%s: %d entities, and the report says %d", c.name, made, report.Entities)
		}
	}
}

func TestMisuse(t *testing.T) {
	f, g := newFixture(t), newFixture(t)
	for text, call := range map[string]func(){
		"there is no format 9":  func() { Write(t.Context(), io.Discard, 9, mustEntities(t, f.Query())) },
		"belong to two worlds":  func() { Entities(f.Query(), f.position, g.health) },
		"an option is negative": func() { Read(t.Context(), f.World, nil, CSV, ReadOptions{MaxRows: -1}) },
		"belongs to another world": func() {
			Read(t.Context(), f.World, nil, CSV,
				ReadOptions{Columns: g.columns()})
		},
	} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.Contains(got, text) {
					t.Errorf("got %s, want %s", got, text)
				}
			}()
			call()
		}()
	}
}

type failing struct{ left int }

var errFull = errors.New("full")

func (f *failing) Write(b []byte) (int, error) {
	if f.left -= len(b); f.left < 0 {
		return 0, errFull
	}
	return len(b), nil
}

func TestWriteErrors(t *testing.T) {
	f := newFixture(t)
	f.fill(t, 1000)
	for _, format := range allFormats {
		whole := len(mustWrite(t, format, mustEntities(t, f.Query(), f.columns()...)))
		for _, left := range []int{0, whole / 2, whole - 1} {
			err := Write(t.Context(), &failing{left}, format, mustEntities(t, f.Query(), f.columns()...))
			if !errors.Is(err, errFull) {
				t.Errorf("%s after %d bytes: %v", format, left, err)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		err := Write(ctx, io.Discard, format, mustEntities(t, f.Query(), f.columns()...))
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", format, err)
		}
	}
	for _, cols := range [][]vast.AnyColumn{nil, {f.position}} {
		s := mustEntities(t, f.Query(), cols...)
		f.Archetype().New()
		if err := Write(t.Context(), io.Discard, CSV, s); !errors.Is(err, errChanged) {
			t.Error(err)
		}
		var got error
		for _, err := range mustEntities(t, f.Query(), cols...).Records() {
			if got = err; err == nil {
				f.Archetype().New()
			}
		}
		if !errors.Is(got, errChanged) {
			t.Errorf("after a change in the last step: %v", got)
		}
	}
	type bad struct{ F func() }
	col := vast.NewHeapColumn[bad](f.World)
	col.Add(f.Archetype().New(), bad{func() {}})
	err := Write(t.Context(), io.Discard, CSV, mustEntities(t, f.Query(col), col))
	if err == nil || !strings.Contains(err.Error(), "leave the component out") {
		t.Error(err)
	}
}
