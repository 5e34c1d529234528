package inspect

import (
	"cmp"
	"math"
	"net/http"
	"net/url"
	"strconv"

	"github.com/vastgo/vast"
)

type viewName struct {
	ID    string `json:"id"`
	Title string `json:"title"`
}

type viewAnswer struct {
	ID          string        `json:"id"`
	Title       string        `json:"title"`
	Bounds      Bounds        `json:"bounds"`
	Home        Bounds        `json:"home"`
	Down        bool          `json:"down"`
	Wraps       bool          `json:"wraps"`
	Sphere      bool          `json:"sphere"`
	Unit        string        `json:"unit"`
	Layers      []layerAnswer `json:"layers"`
	Picks       bool          `json:"picks"`     // whether the view has a function Pick
	Finds       bool          `json:"finds"`     // whether the view has a function Where
	Landmarks   bool          `json:"landmarks"` // whether the view has a function Landmarks
	Attribution []string      `json:"attribution"`
	Outlines    [][]float64   `json:"outlines"` // a list of x, y, x, y, … for each outline
}

type layerAnswer struct {
	Name   string `json:"name"`
	Colour string `json:"colour"`
	Part   bool   `json:"part"`
}

type pointAnswer struct {
	X float64 `json:"x"`
	Y float64 `json:"y"`
}

type pickedAnswer struct {
	Entity string  `json:"entity"` // empty for a thing that is not an entity
	Name   string  `json:"name"`
	Detail string  `json:"detail"`
	X      float64 `json:"x"`
	Y      float64 `json:"y"`
	Facts  []Fact  `json:"facts"`
	Links  []Link  `json:"links"`
}

type landmarkAnswer struct {
	X      float64 `json:"x"`
	Y      float64 `json:"y"`
	Name   string  `json:"name"`
	Weight float64 `json:"weight"`
}

func (in *Inspector) viewRoutes() []route {
	return []route{
		{method: "GET", pattern: "views", answer: in.listViews},
		{method: "GET", pattern: "views/{id}", answer: in.describeView},
		{method: "GET", pattern: "views/{id}/picture", raw: in.servePicture},
		{method: "GET", pattern: "views/{id}/pick", answer: in.pick},
		{method: "GET", pattern: "views/{id}/where", answer: in.where},
		{method: "GET", pattern: "views/{id}/landmarks", answer: in.landmarks},
		{method: "GET", pattern: "views/{id}/points", raw: in.servePoints},
	}
}

func (g *viewCache) names() []viewName {
	names := []viewName{}
	for _, e := range g.views {
		names = append(names, viewName{e.ID, e.Title})
	}
	return names
}

func (in *Inspector) listViews(*http.Request) (any, error) {
	return struct {
		Views []viewName `json:"views"`
	}{in.views.names()}, nil
}

func (in *Inspector) view(r *http.Request) (*servedView, error) {
	if e := in.views.find(r.PathValue("id")); e != nil {
		return e, nil
	}
	return nil, notFound("there is no view %q", r.PathValue("id"))
}

func (in *Inspector) describeView(r *http.Request) (any, error) {
	e, err := in.view(r)
	if err != nil {
		return nil, err
	}
	return e.describe(), nil
}

// description describes a view. The result never changes.
func (e *servedView) description() viewAnswer {
	a := viewAnswer{
		ID: e.ID, Title: e.Title, Bounds: e.Bounds, Home: e.Home, Down: e.Down, Wraps: e.Wraps,
		Sphere: e.Sphere, Unit: e.Unit,
		Picks: e.Pick != nil, Finds: e.Where != nil, Landmarks: e.View.Landmarks != nil,
		Attribution: append([]string{}, e.Attribution...), Outlines: [][]float64{},
	}
	for _, l := range e.Layers {
		a.Layers = append(a.Layers, layerAnswer(l))
	}
	if e.Outlines == nil {
		return a
	}
	for _, line := range e.Outlines() {
		numbers := make([]float64, 0, 2*len(line))
		for _, p := range line {
			if drawable(p.X) && drawable(p.Y) {
				numbers = append(numbers, p.X, p.Y)
			}
		}
		a.Outlines = append(a.Outlines, numbers)
	}
	return a
}

// drawable reports whether a number can be sent as JSON and drawn.
func drawable(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

func coordinate(q url.Values, name string) (float64, error) {
	v, err := strconv.ParseFloat(q.Get(name), 64)
	if err != nil || !drawable(v) {
		return 0, badRequest("%s must be a number", name)
	}
	return v, nil
}

func coordinates(q url.Values, into map[string]*float64) error {
	for name, v := range into {
		var err error
		if *v, err = coordinate(q, name); err != nil {
			return err
		}
	}
	return nil
}

func (e *servedView) windowOf(q url.Values) (b Bounds, err error) {
	if err := coordinates(q, map[string]*float64{"x0": &b.X0, "y0": &b.Y0, "x1": &b.X1,
		"y1": &b.Y1}); err != nil {
		return b, err
	}
	return e.window(b)
}

func wholeFrom1(q url.Values, name string, most int) (int, error) {
	n, err := strconv.Atoi(q.Get(name))
	if err != nil || n < 1 || n > most {
		return 0, badRequest("%s must be a whole number from 1 to %d", name, most)
	}
	return n, nil
}

// servePicture sends a picture in the format of Picture.bytes.
func (in *Inspector) servePicture(w http.ResponseWriter, r *http.Request) error {
	e, err := in.view(r)
	if err != nil {
		return err
	}
	q, key := r.URL.Query(), pictureKey{view: e}
	if key.window, err = e.windowOf(q); err != nil {
		return err
	}
	most := maxCells / len(e.Layers)
	if key.columns, err = wholeFrom1(q, "columns", most); err != nil {
		return err
	}
	if key.rows, err = wholeFrom1(q, "rows", most/key.columns); err != nil {
		return err
	}
	body, err := in.picture(r.Context(), key)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	extend(w)
	_, _ = w.Write(body) // a client that is gone is not an error
	return nil
}

// pick answers with the things near a point.
func (in *Inspector) pick(r *http.Request) (any, error) {
	e, err := in.view(r)
	if err != nil {
		return nil, err
	}
	var x, y, radius float64
	if err := coordinates(r.URL.Query(), map[string]*float64{"x": &x, "y": &y,
		"radius": &radius}); err != nil {
		return nil, err
	}
	if most := max(e.Bounds.X1-e.Bounds.X0, e.Bounds.Y1-e.Bounds.Y0); radius < 0 || radius > most {
		return nil, badRequest("radius must be from 0 to %g", most)
	}
	answer := struct {
		Picked []pickedAnswer `json:"picked"`
	}{[]pickedAnswer{}}
	if e.Pick == nil {
		return answer, nil
	}
	p := newPicking(&e.View, x, y, radius)
	err = in.look(r.Context(), func() bool {
		if !e.Pick(p) {
			return false
		}
		for i := range p.found {
			if k := &p.found[i]; k.Name == "" {
				k.Name = cmp.Or(in.nameOf(k.Entity), k.Entity.String())
			}
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	for _, k := range p.found {
		a := pickedAnswer{Name: k.Name, Detail: k.Detail, X: k.X, Y: k.Y, Facts: []Fact{},
			Links: append([]Link{}, k.Links...)}
		if k.Entity != (vast.Entity{}) {
			a.Entity = k.Entity.String()
		}
		for _, f := range k.Facts {
			if drawable(f.Value) {
				a.Facts = append(a.Facts, f)
			}
		}
		answer.Picked = append(answer.Picked, a)
	}
	return answer, nil
}

func (in *Inspector) where(r *http.Request) (any, error) {
	e, err := in.view(r)
	if err != nil {
		return nil, err
	}
	id := r.URL.Query().Get("entity")
	var a pointAnswer
	found := false
	if e.Where != nil {
		err = in.look(r.Context(), func() bool {
			if who, ok := in.entity(id); ok {
				a.X, a.Y, found = e.Where(who)
			}
			return true
		})
	}
	switch {
	case err != nil:
		return nil, err
	case !found || !drawable(a.X) || !drawable(a.Y):
		return nil, notFound("entity %q has no position in this view", id)
	}
	return a, nil
}

const maxLandmarks = 200

// landmarks answers with the named places in a window.
func (in *Inspector) landmarks(r *http.Request) (any, error) {
	e, err := in.view(r)
	if err != nil {
		return nil, err
	}
	window, err := e.windowOf(r.URL.Query())
	if err != nil {
		return nil, err
	}
	most, err := wholeFrom1(r.URL.Query(), "most", maxLandmarks)
	if err != nil {
		return nil, err
	}
	answer := struct {
		Landmarks []landmarkAnswer `json:"landmarks"`
	}{[]landmarkAnswer{}}
	if e.View.Landmarks != nil {
		for _, l := range e.View.Landmarks(window, most) {
			if drawable(l.X) && drawable(l.Y) && drawable(l.Weight) {
				answer.Landmarks = append(answer.Landmarks, landmarkAnswer(l))
			}
		}
	}
	return answer, nil
}
