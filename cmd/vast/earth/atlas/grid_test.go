package atlas

import "testing"

func TestPrintAndPaste(t *testing.T) {
	g := NewGrid(6, 3)
	g.Print(1, 0, "àb", RGB{1, 2, 3})
	if got, want := g.Cells[1], (Cell{'à', RGB{1, 2, 3}, seaColour}); got != want {
		t.Errorf("the cell is %v, want %v", got, want)
	}
	g.Print(-2, 1, "12345678901", RGB{})
	g.Print(0, -1, "x", RGB{})
	g.Print(0, 3, "x", RGB{})
	if got, want := g.String(), " àb   \n345678\n      \n"; got != want {
		t.Errorf("the grid is\n%swant\n%s", got, want)
	}

	part := NewGrid(2, 2)
	part.Print(0, 0, "AB", RGB{})
	part.Print(0, 1, "CD", RGB{})
	for _, at := range [][2]int{{-1, -1}, {5, 2}, {2, 1}, {6, 0}, {0, 3}, {-2, 0}, {0, -2}} {
		g.Paste(at[0], at[1], part)
	}
	if got, want := g.String(), "Dàb   \n34AB78\n  CD A\n"; got != want {
		t.Errorf("the grid is\n%swant\n%s", got, want)
	}
	if g := NewGrid(-1, 4); g.Columns != 0 || g.Rows != 0 || g.String() != "" {
		t.Errorf("a grid of negative size is %v", g)
	}
}
