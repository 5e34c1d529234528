// Command pack packs the outlines of land into a small file:
//
//	go run ./cmd/vast/earth/atlas/pack -o cmd/vast/earth/atlas/land.bin land-110m.json
//
// It reads a TopoJSON file of polygons, such as Natural Earth's land at 1:110 million. The same input
// gives the same bytes.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/vastgo/vast/cmd/vast/earth/atlas/internal/land"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("pack", flag.ContinueOnError)
	flags.SetOutput(stderr)
	out := flags.String("o", "land.bin", "write the packed land to `file`")
	flags.Usage = func() {
		fmt.Fprintln(stderr, "usage: pack [-o file] land.topojson")
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if flags.NArg() != 1 {
		flags.Usage()
		return 2
	}
	data, err := os.ReadFile(flags.Arg(0))
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 2
	}
	rings, err := readTopology(data)
	if err != nil {
		fmt.Fprintf(stderr, "%s: %v\n", flags.Arg(0), err)
		return 2
	}
	packed := land.Encode(rings)
	if err := os.WriteFile(*out, packed, 0o644); err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	fmt.Fprintf(stdout, "%s: %d rings, %d bytes\n", *out, len(rings), len(packed))
	return 0
}

// geometry is an object of a topology. Arcs is a nested list of indices of arcs: each innermost list is a
// ring. Type determines how deeply the list is nested.
type geometry struct {
	Type       string
	Arcs       json.RawMessage
	Geometries []geometry
}

// topology is the part of TopoJSON (github.com/topojson/topojson-specification) that polygons use. Rings
// share arcs. The positions of an arc are quantised and stored as differences.
type topology struct {
	Type      string
	Objects   map[string]geometry
	Arcs      [][][]float64
	Transform struct{ Scale, Translate []float64 }
}

// readTopology returns every ring of every polygon. Holes are rings like any other: the even-odd rule decides
// whether a point is on land.
func readTopology(data []byte) ([]land.Ring, error) {
	var t topology
	if err := json.Unmarshal(data, &t); err != nil {
		return nil, err
	}
	if t.Type != "Topology" || len(t.Transform.Scale) != 2 || len(t.Transform.Translate) != 2 {
		return nil, errors.New("not a quantised TopoJSON topology")
	}
	arcs := make([]land.Ring, len(t.Arcs))
	for i, arc := range t.Arcs {
		var x, y float64
		for _, step := range arc {
			if len(step) < 2 {
				return nil, fmt.Errorf("arc %d has a position of %d numbers", i, len(step))
			}
			x, y = x+step[0], y+step[1]
			arcs[i] = append(arcs[i], land.Point{
				Lon: float32(x*t.Transform.Scale[0] + t.Transform.Translate[0]),
				Lat: float32(y*t.Transform.Scale[1] + t.Transform.Translate[1]),
			})
		}
	}
	var rings []land.Ring
	for _, name := range slices.Sorted(maps.Keys(t.Objects)) {
		var err error
		if rings, err = appendRings(rings, t.Objects[name], arcs); err != nil {
			return nil, fmt.Errorf("object %q: %w", name, err)
		}
	}
	if len(rings) == 0 {
		return nil, errors.New("holds no polygons")
	}
	return rings, nil
}

func appendRings(rings []land.Ring, g geometry, arcs []land.Ring) ([]land.Ring, error) {
	var polygons [][][]int
	switch g.Type {
	case "GeometryCollection":
		for _, part := range g.Geometries {
			var err error
			if rings, err = appendRings(rings, part, arcs); err != nil {
				return nil, err
			}
		}
	case "MultiPolygon":
		if err := json.Unmarshal(g.Arcs, &polygons); err != nil {
			return nil, err
		}
	case "Polygon":
		polygons = make([][][]int, 1)
		if err := json.Unmarshal(g.Arcs, &polygons[0]); err != nil {
			return nil, err
		}
	}
	for _, polygon := range polygons {
		for _, indices := range polygon {
			ring, err := join(indices, arcs)
			if err != nil {
				return nil, err
			}
			rings = append(rings, cut(ring))
		}
	}
	return rings, nil
}

// join puts arcs end to end. A negative index i stands for arc ^i, followed backwards. The last point of an
// arc is the first point of the next arc.
func join(indices []int, arcs []land.Ring) (land.Ring, error) {
	var ring land.Ring
	for _, index := range indices {
		backwards := index < 0
		if backwards {
			index = ^index
		}
		if index >= len(arcs) || len(arcs[index]) == 0 {
			return nil, fmt.Errorf("a ring uses arc %d of %d, which is missing or empty", index, len(arcs))
		}
		arc := arcs[index]
		if backwards {
			arc = slices.Clone(arc)
			slices.Reverse(arc)
		}
		ring = append(ring, arc[:len(arc)-1]...)
	}
	return ring, nil
}

// cut turns a ring that crosses the antimeridian into a ring that a flat map can fill. Where the ring jumps
// across the antimeridian, cut adds a detour: along the antimeridian to a pole, and back on the other side of
// the map. If a ring jumps twice, its two detours cancel out. Only the ring of Antarctica jumps once: it
// encloses the pole, so its detour stays. The detour is not a coast: package atlas does not draw edges along
// the antimeridian, and its map does not contain the poles.
func cut(ring land.Ring) land.Ring {
	if len(ring) == 0 {
		return nil
	}
	var out land.Ring
	var pole float32
	prev := ring[len(ring)-1]
	for _, p := range ring {
		if step := p.Lon - prev.Lon; step > 180 || step < -180 {
			side := float32(180)
			if step > 180 {
				side = -180
			}
			if pole == 0 {
				pole = 90
				if p.Lat < 0 {
					pole = -90
				}
			}
			// The degrees of longitude from prev to the antimeridian, and from prev to p.
			to := side - prev.Lon
			whole := to + p.Lon + side
			lat := p.Lat
			if whole != 0 {
				lat = prev.Lat + (p.Lat-prev.Lat)*to/whole
			}
			out = append(out,
				land.Point{Lat: lat, Lon: side}, land.Point{Lat: pole, Lon: side},
				land.Point{Lat: pole, Lon: -side}, land.Point{Lat: lat, Lon: -side})
		}
		out = append(out, p)
		prev = p
	}
	return out
}
