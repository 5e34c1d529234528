package inspect

import (
	"context"
	"encoding/binary"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// picturePath requests a picture of the fixture's plane. The people start at the lower border of the picture
// and walk upwards. They reach its upper border after 40 s.
const picturePath = prefix + "views/plane/picture?x0=0&y0=0&x1=1000&y1=8000&columns=100&rows=10"

func layerSums(t *testing.T, b []byte) (sums []int) {
	t.Helper()
	if len(b) < pictureHead || string(b[:4]) != pictureMagic {
		t.Fatalf("not a picture: %.100q", b)
	}
	number := func(i int) int { return int(binary.LittleEndian.Uint32(b[4*i:])) }
	cells, layers := number(1)*number(2), number(3)
	if len(b) != pictureHead+4*cells*layers {
		t.Fatalf("the picture has %d bytes for %d layers of %d cells", len(b), layers, cells)
	}
	for layer := range layers {
		sum := 0
		for cell := range cells {
			sum += number(pictureHead/4 + layer*cells + cell)
		}
		sums = append(sums, sum)
	}
	return sums
}

func TestPictureOfPlane(t *testing.T) {
	// In a world of this size, a painting takes several calls of Paint.
	f := newFixtureOf(t, Options{}, 100_000)
	status, body := f.do(t, "GET", strings.Replace(picturePath, "x1=1000", "x1=8000", 1), "", "")
	if status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	// The picture shows the three towns and the first 8,001 people. The last of them is on the border.
	if got := fmt.Sprint(layerSums(t, body)); got != "[8004 801 81]" {
		t.Errorf("the layers count %s, want [8004 801 81]", got)
	}
}

func TestPicturesRefused(t *testing.T) {
	f := newFixture(t, Options{})
	for _, c := range []struct{ from, to string }{
		{"x0=0", "x0=NaN"}, {"x0=0", "x0=Inf"}, {"x0=0", "x0=1e309"}, {"x0=0", "x0="}, {"x0=0&", ""},
		{"x0=0", "x0=0x10z"},
		{"x0=0", "x0=1000"}, {"y1=8000", "y1=8001"}, {"x1=1000", "x1=1e-7"}, {"columns=100", "columns=0"},
		{"columns=100", "columns=-1"}, {"columns=100", "columns=1048577"},
		{"columns=100", "columns=99999999999999999999"},
		{"rows=10", "rows=3496"}, {"rows=10", "rows=1e3"}, {"rows=10", ""},
	} {
		path := strings.Replace(strings.TrimPrefix(picturePath, prefix), c.from, c.to, 1)
		f.refused(t, http.StatusBadRequest, "GET", path, "", "")
	}
	for _, path := range []string{
		"views/nothing", "views/nothing/picture", "views/nothing/pick", "views/nothing/where",
		"views/nothing/landmarks",
		"views/plane/where?entity=9999.1", "views/plane/where?entity=x", "views/plane/where",
		"views/plane/nothing",
		"views/%2e%2e%2f",
	} {
		f.refused(t, http.StatusNotFound, "GET", path, "", "")
	}
	for _, path := range []string{
		"views/plane/pick", "views/plane/pick?x=1&y=1&radius=-1", "views/plane/pick?x=1&y=1&radius=1e9",
		"views/plane/pick?x=NaN&y=1&radius=1",
		"views/plane/landmarks?x0=0&y0=0&x1=1&y1=1&most=201",
		"views/plane/landmarks?x0=0&y0=0&x1=0&y1=1&most=1",
	} {
		f.refused(t, http.StatusBadRequest, "GET", path, "", "")
	}
	f.refused(t, http.StatusMethodNotAllowed, "POST", "views/plane", "", "")
}

func TestPickAndWhere(t *testing.T) {
	f := newFixture(t, Options{})
	var picked struct{ Picked []pickedAnswer }
	f.get(t, "views/plane/pick?x=1.9&y=50&radius=0.5", &picked)
	found := false
	for _, k := range picked.Picked {
		found = found || k.Name == hostileName && k.Entity == f.hostile.String() && k.X == 2 && k.Y == 50
	}
	if !found {
		t.Errorf("picked %+v, want the town with the hostile name", picked)
	}
	var at pointAnswer
	if f.get(t, "views/plane/where?entity="+f.london.String(), &at); at != (pointAnswer{1, 50}) {
		t.Errorf("London is at %v, want {1 50}", at)
	}
}

type painter struct {
	begun atomic.Int64  // number of started paintings
	calls int           // number of calls of Paint per painting
	hold  chan struct{} // if not nil, a painting waits until hold is closed
	fails atomic.Bool   // whether Paint panics
}

func (p *painter) view() View {
	return View{ID: "painted", Bounds: Bounds{0, 0, 1, 1}, Layers: []Layer{{Name: "things"}},
		Paint: func(q *Picture) bool {
			if q.Next == 0 {
				p.begun.Add(1)
			}
			if p.fails.Load() {
				panic("out of paint")
			}
			if p.hold != nil {
				select {
				case <-p.hold:
				default:
					q.Next = 1
					return false
				}
			}
			if q.Next++; q.Next < p.calls {
				return false
			}
			q.Add(0, q.Cell(0.5, 0.5), 3)
			return true
		}}
}

const paintedPath = "views/painted/picture?x0=0&y0=0&x1=1&y1=1&columns=2&rows=2"

func TestManyClientsCostOnePainting(t *testing.T) {
	p := &painter{calls: 2, hold: make(chan struct{})}
	f := newFixture(t, Options{Views: []View{p.view()}})
	const clients = 20
	var all sync.WaitGroup
	for range clients {
		all.Go(func() {
			status, body := f.do(t, "GET", prefix+paintedPath, "", "")
			if status != http.StatusOK {
				t.Errorf("%d %s", status, body)
			} else if got := fmt.Sprint(layerSums(t, body)); got != "[3]" {
				t.Errorf("the layers count %s, want [3]", got)
			}
		})
	}
	for len(f.views.waiting) < clients {
		f.see(t, func() {}) // the world still admits visits
	}
	close(p.hold)
	all.Wait()
	if n := p.begun.Load(); n != 1 {
		t.Errorf("%d clients cost %d paintings, want 1", clients, n)
	}
}

// TestPainterLeaves: if a client hangs up while its request paints a picture, another waiting request paints
// the picture.
func TestPainterLeaves(t *testing.T) {
	p := &painter{calls: 2, hold: make(chan struct{})}
	f := newFixture(t, Options{Views: []View{p.view()}})
	e := f.views.find("painted")
	key := pictureKey{e, e.Bounds, 2, 2}
	ctx, leave := context.WithCancel(context.Background())
	left := make(chan error)
	go func() {
		_, err := f.picture(ctx, key)
		left <- err
	}()
	for p.begun.Load() == 0 {
		f.see(t, func() {})
	}
	stays := make(chan error)
	go func() {
		b, err := f.picture(context.Background(), key)
		if err == nil && fmt.Sprint(layerSums(t, b)) != "[3]" {
			err = fmt.Errorf("the bytes of the picture are %q", b)
		}
		stays <- err
	}()
	for len(f.views.waiting) < 2 {
		f.see(t, func() {})
	}
	leave()
	if err := <-left; err == nil {
		t.Error("the client that left got a picture")
	}
	close(p.hold)
	if err := <-stays; err != nil {
		t.Error(err)
	}
}

func TestPaintingThatPanics(t *testing.T) {
	p := &painter{calls: 2}
	p.fails.Store(true)
	f := newFixture(t, Options{Views: []View{p.view()}})
	if got := f.refused(t, http.StatusInternalServerError, "GET", paintedPath, "",
		""); !strings.Contains(got.Message, "out of paint") {
		t.Errorf("the error is %q, want out of paint in it", got.Message)
	}
	p.fails.Store(false)
	if status, body := f.do(t, "GET", prefix+paintedPath, "", ""); status != http.StatusOK {
		t.Errorf("%d %s", status, body)
	}
}

func TestInvalidViews(t *testing.T) {
	good := (&painter{}).view()
	for _, c := range []struct {
		message string
		change  func(*View)
	}{
		{"ID must be 1 to 32", func(v *View) { v.ID = "" }},
		{"ID must be 1 to 32", func(v *View) { v.ID = "../x" }},
		{"Bounds and Home", func(v *View) { v.Bounds = Bounds{} }},
		{"Bounds and Home", func(v *View) { v.Home = Bounds{1, 1, 1, 2} }},
		{"Paint is nil", func(v *View) { v.Paint = nil }},
		{"0 layers", func(v *View) { v.Layers = nil }},
		{"9 layers", func(v *View) { v.Layers = make([]Layer, 9) }},
		{"must not have Part", func(v *View) { v.Layers = []Layer{{Part: true}} }},
		{"unknown colour", func(v *View) { v.Layers = []Layer{{Colour: "url(//x)"}} }},
	} {
		v := good
		c.change(&v)
		expectPanic(t, c.message, func() { newViewCache([]View{v}) })
	}
	expectPanic(t, "two views", func() { newViewCache([]View{good, good}) })
}

func expectPanic(t *testing.T, want string, f func()) {
	t.Helper()
	defer func() {
		if r := recover(); !strings.Contains(fmt.Sprint(r), want) {
			t.Errorf("panics with %v, want %q", r, want)
		}
	}()
	f()
}
