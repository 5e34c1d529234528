package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vastgo/vast/cmd/vast/earth/atlas/internal/land"
)

// squares is a topology of two squares that share arc 1. Its positions are in tenths of a degree.
const squares = `{"type":"Topology","transform":{"scale":[0.1,0.1],"translate":[0,0]},
"objects":{"land":{"type":"GeometryCollection","geometries":[
  {"type":"Polygon","arcs":[[0,1]]},
  {"type":"MultiPolygon","arcs":[[[2,-2]]]}]}},
"arcs":[[[10,10],[-10,0],[0,-10],[10,0]],[[10,0],[0,10]],[[10,0],[10,0],[0,10],[-10,0]]]}`

func TestReadTopology(t *testing.T) {
	rings, err := readTopology([]byte(squares))
	if err != nil {
		t.Fatal(err)
	}
	want := []land.Ring{
		{{Lat: 1, Lon: 1}, {Lat: 1, Lon: 0}, {Lat: 0, Lon: 0}, {Lat: 0, Lon: 1}},
		{{Lat: 0, Lon: 1}, {Lat: 0, Lon: 2}, {Lat: 1, Lon: 2}, {Lat: 1, Lon: 1}},
	}
	if !slices.EqualFunc(rings, want, func(a, b land.Ring) bool { return slices.Equal(a, b) }) {
		t.Errorf("got %v\nwant %v", rings, want)
	}
}

func TestCutLeadsAroundThePole(t *testing.T) {
	got := cut(land.Ring{{Lat: 10, Lon: 179}, {Lat: 12, Lon: -179}, {Lat: 20, Lon: -179},
		{Lat: 20, Lon: 179}})
	want := land.Ring{
		{Lat: 10, Lon: 179},
		{Lat: 11, Lon: 180}, {Lat: 90, Lon: 180}, {Lat: 90, Lon: -180}, {Lat: 11, Lon: -180},
		{Lat: 12, Lon: -179}, {Lat: 20, Lon: -179},
		{Lat: 20, Lon: -180}, {Lat: 90, Lon: -180}, {Lat: 90, Lon: 180}, {Lat: 20, Lon: 180},
		{Lat: 20, Lon: 179},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	plain := land.Ring{{Lat: 1, Lon: 1}, {Lat: 2, Lon: 1}, {Lat: 2, Lon: 2}}
	if got := cut(plain); !slices.Equal(got, plain) {
		t.Errorf("a ring that does not jump became %v", got)
	}
}

func TestRun(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "land.json"), filepath.Join(dir, "land.bin")
	if err := os.WriteFile(in, []byte(squares), 0o600); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	if status := run([]string{"-o", out, in}, &stdout, &stderr); status != 0 ||
		!strings.Contains(stdout.String(), "2 rings") {
		t.Fatalf("status %d, %q, %q", status, &stdout, &stderr)
	}
	packed, _ := os.ReadFile(out)
	if rings, err := land.Decode(packed); err != nil || len(rings) != 2 {
		t.Errorf("the packed file gives %v, %v", rings, err)
	}
}

func TestBadInput(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"empty":   {"", "unexpected end"},
		"no JSON": {"land", "invalid character"},
		"GeoJSON": {`{"type":"FeatureCollection"}`, "not a quantised TopoJSON"},
		"no land": {`{"type":"Topology","transform":{"scale":[1,1],"translate":[0,0]}}`,
			"holds no polygons"},
		"no arc":     {strings.Replace(squares, "[[0,1]]", "[[0,7]]", 1), "arc 7 of 3"},
		"bad point":  {strings.Replace(squares, "[10,10]", "[10]", 1), "a position of 1 numbers"},
		"wrong tree": {strings.Replace(squares, "[[0,1]]", "[0,1]", 1), "cannot unmarshal"},
	} {
		file := filepath.Join(t.TempDir(), "in")
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		var stdout, stderr bytes.Buffer
		if status := run([]string{"-o", file + ".bin", file}, &stdout, &stderr); status != 2 ||
			!strings.Contains(stderr.String(), c.want) {
			t.Errorf("%s: status %d, %q; want 2 and %q", name, status, &stderr, c.want)
		}
	}
}
