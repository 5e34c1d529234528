package earth

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// TestGravityBetweenTowns compares the share of each town among the draws with the gravity model (see
// gravity.go). The draw approximates nothing, because every town lies in a cell of its own, far from the
// other cells.
func TestGravityBetweenTowns(t *testing.T) {
	towns := []struct{ lat, lon, people float64 }{
		{0, 0, 1e6}, {0, 20, 2e6}, {0, -40, 1e6}, {30, 60, 4e6}, {-30, 120, 8e6}, {2, 178, 1e6},
		{50, -100, 3e6},
	}
	var text strings.Builder
	text.WriteString("name,lat,lon,population\n")
	for i, p := range towns {
		fmt.Fprintf(&text, "T%d,%v,%v,%v\n", i, p.lat, p.lon, p.people)
	}
	list := listOf(t, text.String())
	e := newEarth(t, Config{Places: list})
	var from uint32
	for i := range list.Len() {
		if list.Name(i) == "T0" {
			from = uint32(i)
		}
	}
	const n = 200_000
	got := make([]float64, list.Len())
	s := draws(42, 0, 0, forTrip)
	for range n {
		got[e.gravity.destination(from, &s)]++
	}
	want := make([]float64, list.Len())
	total := 0.0
	for i := range want {
		if uint32(i) != from {
			want[i] = float64(list.Population(i)) / arc(e.sites[from].At.wide(), e.sites[i].At.wide())
		}
		total += want[i]
	}
	for i := range want {
		mean := want[i] / total * n
		if deviation := math.Abs(got[i] - mean); deviation > 5*math.Sqrt(mean)+0.5 {
			t.Errorf("%s was drawn %v times in %d draws, expected %.0f times", list.Name(i), got[i], n, mean)
		}
	}
}

// TestGravityNearby compares the draw among near places with the gravity model. The draw must be close to the
// model, and far from a draw by inhabitants alone.
func TestGravityNearby(t *testing.T) {
	var text strings.Builder
	text.WriteString("name,lat,lon,population\n")
	s := draws(5, 0, 0, forHome)
	for i := range 300 {
		fmt.Fprintf(&text, "T%d,%.3f,%.3f,%d\n", i, 40+9*s.unit(), 3+12*s.unit(), 1000+s.below(100_000))
	}
	list := listOf(t, text.String())
	e := newEarth(t, Config{Places: list})
	const from, n = 100, 200_000
	distance := func(i int) float64 {
		return arc(e.sites[from].At.wide(), e.sites[i].At.wide()) * earthRadius
	}
	band := func(i int) int { return min(int(distance(i)/200), 3) }
	var got, want, blind [4]float64
	total, people := 0.0, 0.0
	for i := range e.sites {
		if i != from {
			w := float64(list.Population(i)) / max(distance(i), minDistance)
			want[band(i)] += w
			total += w
			blind[band(i)] += float64(list.Population(i))
			people += float64(list.Population(i))
		}
	}
	for range n {
		to := int(e.gravity.destination(from, &s))
		if to == from {
			t.Fatal("the destination is the place where the trip begins")
		}
		got[band(to)]++
	}
	for b := range got {
		drawn, model, byPeople := got[b]/n, want[b]/total, blind[b]/people
		t.Logf("share from %d km on: drawn %.3f, model %.3f, by inhabitants %.3f", 200*b, drawn, model,
			byPeople)
		if math.Abs(drawn/model-1) > 0.2 {
			t.Errorf("share from %d km on: drawn %.3f, by the model %.3f", 200*b, drawn, model)
		}
	}
	if got[0]/n < 1.5*blind[0]/people {
		t.Errorf("share below 200 km: drawn %.3f, by inhabitants %.3f: the distance has no effect",
			got[0]/n, blind[0]/people)
	}
}

func TestCellsHoldEveryPlaceOnce(t *testing.T) {
	e := newEarth(t, Config{Places: village(t, 2000)})
	g := e.gravity
	seen := make([]bool, len(e.sites))
	next := 0
	for c, cell := range g.cells {
		if cell.first != next || cell.next <= cell.first {
			t.Fatalf("cell %d has the places from %d up to %d, want places from %d on", c, cell.first,
				cell.next, next)
		}
		next = cell.next
		for _, place := range g.order[cell.first:cell.next] {
			if seen[place] || g.cellOf[place] != uint16(c) {
				t.Fatalf("place %d of cell %d: already seen %v, cellOf says cell %d", place, c, seen[place],
					g.cellOf[place])
			}
			seen[place] = true
			if d := arc(e.sites[place].At.wide(), cell.centre) * earthRadius; d > 1000 {
				t.Errorf("place %d is %v km from the centre of its cell", place, d)
			}
		}
		row := g.rowOf(uint16(c))
		for to := 1; to < len(row); to++ {
			if row[to] < row[to-1] {
				t.Fatalf("the cumulative weights of cell %d decrease at cell %d", c, to)
			}
		}
	}
	if next != len(e.sites) {
		t.Errorf("the cells hold %d of %d places", next, len(e.sites))
	}
}
