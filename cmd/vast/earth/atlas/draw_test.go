package atlas

import (
	"fmt"
	"math"
	"math/bits"
	"strings"
	"testing"
)

func cellAt(m *Map, g Grid, lat, lon float64) Cell {
	dot := m.Dot(lat, lon)
	return g.Cells[dot/m.width/dotsDown*g.Columns+dot%m.width/dotsAcross]
}

func counts(m *Map) []uint32 {
	width, height := m.Dots()
	return make([]uint32, width*height)
}

func brightness(c RGB) int { return int(c.R) + int(c.G) + int(c.B) }

func TestDrawLandAlone(t *testing.T) {
	m := New(120, 36)
	g := m.Draw(nil, nil, Style{})
	if got, want := cellAt(m, g, 23, 10), (Cell{Rune: ' ', Bg: landColour}); got != want {
		t.Errorf("the cell in the Sahara is %v, want %v", got, want)
	}
	if got, want := cellAt(m, g, 30, -40), (Cell{Rune: ' ', Bg: seaColour}); got != want {
		t.Errorf("the cell in the Atlantic is %v, want %v", got, want)
	}
	if c := cellAt(m, g, -34.82, 20); c.Rune <= brailleBlank || c.Rune > brailleBlank+0xff ||
		c.Fg != coastColour {
		t.Errorf("the cell at Cape Agulhas is %v, want braille in %v", c, coastColour)
	}
	if zero := m.Draw(counts(m), counts(m), Style{}); zero.String() != New(120, 36).Draw(nil, nil,
		Style{}).String() {
		t.Error("counts of zero draw another map than nil slices")
	}
}

func TestDrawDotsAreWherePeopleAre(t *testing.T) {
	m := New(120, 36)
	for _, noColor := range []bool{false, true} {
		density := counts(m)
		dot := m.Dot(30, -40)
		density[dot] = 1000
		g := m.Draw(density, nil, Style{NoColor: noColor})
		x, y := dot%m.width, dot/m.width
		if got, want := cellAt(m, g, 30, -40).Rune, brailleBlank+rune(brailleBit[y%4][x%2]); got != want {
			t.Errorf("NoColor %t: the cell is %q, want %q", noColor, got, want)
		}
		if g.NoColor != noColor {
			t.Errorf("the grid has NoColor %t", g.NoColor)
		}
		// The next frame must show nothing of this frame.
		if c := cellAt(m, m.Draw(nil, nil, Style{NoColor: noColor}), 30, -40); c.Rune != ' ' {
			t.Errorf("NoColor %t: %q is left over from the previous frame", noColor, c.Rune)
		}
	}
}

func TestDenserIsBrighterAndFuller(t *testing.T) {
	m := New(120, 36)
	bright, full := -1, -1
	for _, count := range []uint32{1, 4, 16, 64, 256} {
		density := counts(m)
		for i := range density {
			density[i] = count
		}
		c := cellAt(m, m.Draw(density, nil, Style{Full: 1024}), 30, -40)
		// With at most 4 people a dot, the cell may have no dot that is set, and so no brightness.
		if b := brightness(c.Fg); b <= bright && count > 4 {
			t.Errorf("%d people a dot: brightness %d, want more than %d", count, b, bright)
		} else {
			bright = b
		}
		set := 0
		g := m.Draw(density, nil, Style{Full: 1024, NoColor: true})
		for y := 20; y < 24; y++ { // a stretch of the Atlantic
			for x := 45; x < 49; x++ {
				if r := g.Cells[y*g.Columns+x].Rune; r != ' ' {
					set += bits.OnesCount32(uint32(r - brailleBlank))
				}
			}
		}
		if set <= full && count > 1 {
			t.Errorf("%d people a dot: %d dots are set, want more than %d", count, set, full)
		}
		full = set
	}
	if full != 4*4*8 {
		t.Errorf("at 256 people a dot %d of %d dots are set, want all", full, 4*4*8)
	}
}

func TestFullIsTakenFromTheFrame(t *testing.T) {
	m := New(120, 36)
	density := counts(m)
	for i := range density {
		density[i] = 10
	}
	dense := m.Dot(30, -40)
	for i := range 200 { // 200 of 34,560 dots are dense: one in 173
		density[dense-100+i] = 5000
	}
	g := m.Draw(density, nil, Style{})
	if got, want := cellAt(m, g, 30, -40).Fg,
		cellAt(m, m.Draw(density, nil, Style{Full: 5000}), 30, -40).Fg; got != want {
		t.Errorf("the densest cells are %v, want %v", got, want)
	}
}

func TestInfectionShows(t *testing.T) {
	m := New(120, 36)
	density, infected := counts(m), counts(m)
	dot := m.Dot(30, -40)
	density[dot] = 1000
	red := math.MinInt
	for _, ill := range []uint32{0, 10, 50, 100, 250} {
		infected[dot] = ill
		c := cellAt(m, m.Draw(density, infected, Style{}), 30, -40)
		if r := int(c.Fg.R) - int(c.Fg.B); r <= red {
			t.Errorf("%d of 1000 ill: red minus blue is %d, want more than %d", ill, r, red)
		} else {
			red = r
		}
	}
	whole := cellAt(m, m.Draw(density, infected, Style{}), 30, -40)
	infected[dot] = 2000 // more ill people than people, because the two counts may be of different moments
	if c := cellAt(m, m.Draw(density, infected, Style{}), 30, -40); c != whole {
		t.Errorf("with more ill than people the cell is %v, want %v", c, whole)
	}
	infected[dot] = 250
	if c := cellAt(m, m.Draw(density, infected, Style{FullInfected: 1}), 30, -40); c == whole {
		t.Error("FullInfected made no difference")
	}
}

func TestDrawAllocatesNothing(t *testing.T) {
	m := New(120, 36)
	density, infected := counts(m), counts(m)
	for i := range density {
		density[i], infected[i] = uint32(i), uint32(i/3)
	}
	if n := testing.AllocsPerRun(10, func() { m.Draw(density, infected, Style{}) }); n != 0 {
		t.Errorf("Draw makes %g allocations, want 0", n)
	}
}

func TestDrawOfWrongLengthPanics(t *testing.T) {
	m := New(20, 6)
	for _, c := range [][2][]uint32{{make([]uint32, 3), nil}, {counts(m), make([]uint32, 3)}} {
		func() {
			defer func() {
				message := fmt.Sprint(recover())
				if !strings.Contains(message, "map of 40×24 dots") ||
					!strings.Contains(message, "new slices after a resize") {
					t.Errorf("Draw panics with %q, want the number of dots and advice", message)
				}
			}()
			m.Draw(c[0], c[1], Style{})
		}()
	}
}

func TestClassesRise(t *testing.T) {
	before := -1
	for count := uint32(1); count < 1<<31; count += count/9 + 1 {
		c := class(count)
		if c < before || c >= classes {
			t.Fatalf("class(%d) = %d, want %d to %d", count, c, before, classes-1)
		}
		before = c
	}
	if c := class(math.MaxUint32); c != classes-1 {
		t.Errorf("class(MaxUint32) = %d, want %d", c, classes-1)
	}
}
