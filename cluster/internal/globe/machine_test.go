package globe

import "testing"

func TestPictureSurvivesItsText(t *testing.T) {
	var p, q Picture
	for i := range p.Travellers {
		if i%7 == 0 || i == len(p.Travellers)-1 {
			p.Travellers[i], p.Infectious[i] = uint32(i+1), uint32(i%3)
		}
	}
	q.Add(p.String())
	if p != q {
		t.Error("the decoded picture differs from the encoded one")
	}
	for _, damaged := range []string{"!", "////", p.String()[:5] + "////"} {
		q.Add(damaged) // must not panic
	}
}

func TestSquares(t *testing.T) {
	for square := range SquaresAcross * SquaresDown {
		if lat, lon := Centre(square); SquareAt(lat, lon) != square {
			t.Fatalf("%v, %v is the centre of square %d, and SquareAt returns %d", lat, lon, square,
				SquareAt(lat, lon))
		}
	}
	for _, c := range []struct {
		lat, lon float64
		want     int
	}{{90, -180, 0}, {90, 180, SquaresAcross - 1}, {-90, 180, SquaresAcross*SquaresDown - 1}} {
		if got := SquareAt(c.lat, c.lon); got != c.want {
			t.Errorf("%v, %v is in square %d, want %d", c.lat, c.lon, got, c.want)
		}
	}
}
