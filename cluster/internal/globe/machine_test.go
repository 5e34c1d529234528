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
		t.Error("a picture differs from what its text says")
	}
	for _, damaged := range []string{"!", "////", p.String()[:5] + "////"} {
		q.Add(damaged) // it does not panic
	}
}
