package vastarrow

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/invariants"
)

func TestRecordsShareMemory(t *testing.T) {
	f := newFixture(t)
	f.fill(t, 100)
	q := f.Query(f.position).Optional(f.health)
	rows := 0
	for run, r := range Records(q, f.position, f.health) {
		if r.NumRows() != int64(run.Len()) || r.ColumnName(0) != "position" || r.ColumnName(1) != "health" {
			t.Fatal(r)
		}
		list := r.Column(0).(*array.FixedSizeList)
		values := list.ListValues().(*array.Float64)
		for i, e := range run.All() {
			p := f.position.Get(e)
			if values.Value(2*i) != p.X || values.Value(2*i+1) != p.Y {
				t.Fatalf("row %d is %v %v, want %v", i, values.Value(2*i), values.Value(2*i+1), *p)
			}
			h := f.health.Get(e)
			if r.Column(1).IsNull(i) != (h == nil) {
				t.Fatalf("row %d: null is %v", i, r.Column(1).IsNull(i))
			}
			if h != nil && r.Column(1).(*array.Int32).Value(i) != int32(*h) {
				t.Fatalf("row %d", i)
			}
		}
		address := unsafe.Pointer(unsafe.SliceData(values.Values()))
		if shared := address == unsafe.Pointer(&f.position.Slice(run)[0]); shared == invariants.Enabled {
			t.Errorf("shares memory: %v", shared)
		}
		rows += run.Len()
		r.Release()
	}
	if rows != 100 {
		t.Errorf("%d rows", rows)
	}
}

// TestRecordsOfPartialRuns reads components that only some entities of a run have.
func TestRecordsOfPartialRuns(t *testing.T) {
	f := newFixture(t)
	f.fill(t, 500)
	n := 0
	for run, r := range Records(f.Query(), f.columns()...) {
		at := func(name string) arrow.Array {
			i := r.Schema().FieldIndices(name)
			if len(i) != 1 {
				t.Fatalf("column %s: %v in %v", name, i, r.Schema())
			}
			return r.Column(i[0])
		}
		for i, e := range run.All() {
			b := f.body.Get(e)
			if got := at("body.mass").(*array.Float32).Value(i); got != b.Mass {
				t.Fatal(got, b.Mass)
			}
			if got := at("body.alive").(*array.Boolean).Value(i); got != b.Alive {
				t.Fatal(got, b.Alive)
			}
			if got := at("body.home").(*array.Uint64).Value(i); got != b.Home.ID() {
				t.Fatal(got, b.Home)
			}
			if got := at("sick").(*array.Boolean).Value(i); got != f.tag.Has(e) {
				t.Fatal(got, f.tag.Has(e))
			}
			if h := f.health.Get(e); at("health").IsValid(i) != (h != nil) {
				t.Fatal(i)
			} else if h != nil && at("health").(*array.Int32).Value(i) != int32(*h) {
				t.Fatal(i, *h)
			}
			if v := f.note.Get(e); at("note.text").IsValid(i) != (v != nil) {
				t.Fatal(i)
			} else if v != nil && at("note.text").(*array.String).Value(i) != v.Text {
				t.Fatal(i, *v)
			}
			target, ok := f.parent.Target(e)
			if at("parent").IsValid(i) != ok || ok && at("parent").(*array.Uint64).Value(i) != target.ID() {
				t.Fatal(i, target)
			}
			n++
		}
		r.Release()
	}
	if n != 500 {
		t.Errorf("%d rows", n)
	}
}

// TestBatchesOfOneRun reads the batches of a run that is as long as three batches. All rows of the first
// batch and 100 rows of the second have a component that the other rows lack.
func TestBatchesOfOneRun(t *testing.T) {
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	positions, healths := vast.NewColumn[position](w), vast.NewColumn[health](w)
	w.Archetype(positions).NewN(3*batchRows, nil)
	for i, e := range slices.Collect(w.Query(positions).All())[:batchRows+100] {
		healths.Add(e, health(i))
	}
	source := mustEntities(t, w.Query(positions), positions, healths)
	row := 0
	for r, err := range source.Records() {
		if err != nil {
			t.Fatal(err)
		}
		column := r.Column(r.Schema().FieldIndices("health")[0]).(*array.Int32)
		for i := range column.Len() {
			if column.IsValid(i) != (row < batchRows+100) ||
				column.IsValid(i) && int(column.Value(i)) != row {
				t.Fatalf("row %d has the health %v", row, column.ValueStr(i))
			}
			row++
		}
		r.Release()
	}
	if row != 3*batchRows {
		t.Errorf("%d rows, want %d", row, 3*batchRows)
	}
}

func TestTranspose(t *testing.T) {
	for _, size := range []int{1, 2, 4, 8, 12} {
		for n := range 20 {
			for i, stride := range []int{size, 3 * size, 8 * size, 3 * size} {
				align := size
				if i == 3 {
					align = 1
				}
				src := make([]byte, max(0, (n-1)*stride+size))
				for i := range src {
					src[i] = byte(i*7 + 1)
				}
				dst := make([]byte, n*size)
				gather(dst, src, stride, size, align, n)
				back := make([]byte, len(src))
				scatter(back, dst, stride, size, align, n)
				for i := range n {
					want := src[i*stride : i*stride+size]
					if !slices.Equal(dst[i*size:(i+1)*size], want) ||
						!slices.Equal(back[i*stride:i*stride+size], want) {
						t.Fatalf("size %d, stride %d, value %d of %d", size, stride, i, n)
					}
				}
			}
		}
	}
}

func TestNamesakes(t *testing.T) {
	w := vast.NewWorld(vast.Options{MaxEntities: 1 << 12})
	defer w.Close()
	a, b := vast.NewColumn[int32](w).Named("n"), vast.NewTag(w, "n")
	id := vast.NewColumn[uint8](w).Named("entity")
	w.Archetype(a, b, id).New()
	s := mustEntities(t, w.Query(), a, b, id)
	var names []string
	for _, f := range s.Schema().Fields() {
		names = append(names, f.Name)
	}
	if got := strings.Join(names, " "); got != "entity n n#1 entity#2" {
		t.Error(got)
	}
	p, r := vast.NewColumn[position](w).Named("p"), vast.NewColumn[rare](w).Named("p")
	w.Archetype(p, r).New()
	for _, record := range Records(w.Query(p), p, r) {
		names = nil
		for _, f := range record.Schema().Fields() {
			names = append(names, f.Name)
		}
		if got := strings.Join(names, " "); got != "p p#4" {
			t.Error(got)
		}
		record.Release()
	}
}

func TestEdgesDoNotFit(t *testing.T) {
	w := vast.NewWorld(vast.Options{MaxEntities: 64})
	defer w.Close()
	roads := vast.NewEdges[float64](w, "roads", vast.EdgesOptions{})
	if _, err := Entities(w.Query(), roads.TargetColumn()); err == nil || !strings.Contains(err.Error(),
		"leave it out") {
		t.Error(err)
	}
	if _, err := Read(t.Context(), w, strings.NewReader("a\n1\n"), CSV, ReadOptions{}); err != nil {
		t.Error(err) // without ReadOptions.Columns, Read leaves the edges out
	}
}

// TestShapes writes and reads a component with unusual fields.
func TestShapes(t *testing.T) {
	type inner struct {
		_ [3]byte
		C complex64
	}
	type odd struct {
		Flags [3]bool
		None  struct{}
		Zero  [0]int
		Inner inner
		Long  [40]struct{ A int16 }
		Many  [300]uint16
		Word  uintptr
	}
	world := func() (*vast.World, vast.Column[odd]) {
		w := vast.NewWorld(vast.Options{MaxEntities: 1 << 12})
		t.Cleanup(func() { w.Close() })
		return w, vast.NewColumn[odd](w)
	}
	w, col := world()
	for i, s := range w.Archetype(col).NewEach(100) {
		o := col.At(s)
		o.Flags[i%3], o.Inner.C, o.Many[i] = true, complex(float32(i), float32(math.Inf(1))), uint16(i)
		o.Word, o.Long[39].A = uintptr(i), int16(-i)
	}
	names := ""
	for _, f := range mustEntities(t, w.Query(), col).Schema().Fields() {
		names += f.Name + " "
	}
	if want := "entity odd.flags.0 odd.flags.1 odd.flags.2 odd.inner.c.real odd.inner.c.imag odd.long " +
		"odd.many odd.word "; names !=
		want {
		t.Errorf("%s, want %s", names, want)
	}
	for _, f := range allFormats {
		got, read := world()
		file := mustWrite(t, f, mustEntities(t, w.Query(), col))
		report, err := Read(t.Context(), got, bytes.NewReader(file), f, ReadOptions{})
		if err != nil || report.Entities != 100 || report.Refused > 0 {
			t.Fatalf("%s: %+v, %v", f, report, err)
		}
		for s := range got.Query(read).Slots() {
			o := read.At(s)
			i := int(o.Word)
			want := odd{Inner: inner{C: complex(float32(i), float32(math.Inf(1)))}, Word: uintptr(i)}
			want.Flags[i%3], want.Many[i], want.Long[39].A = true, uint16(i), int16(-i)
			if *o != want {
				t.Fatalf("%s: got %v, want %v", f, *o, want)
			}
		}
	}
}
