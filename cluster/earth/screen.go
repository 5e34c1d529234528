package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/gdamore/tcell/v2"
	"golang.org/x/term"

	"github.com/vastgo/vast/cluster/internal/globe"
	"github.com/vastgo/vast/cmd/vast/earth/atlas"
	"github.com/vastgo/vast/cmd/vast/earth/places"
)

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// ownerColours are the colours of processes that own regions. This process has the first colour.
var ownerColours = []atlas.RGB{{R: 255, G: 214, B: 102}, {R: 125, G: 232, B: 160}, {R: 255, G: 140, B: 200},
	{R: 130, G: 200, B: 255}, {R: 255, G: 160, B: 110}, {R: 190, G: 170, B: 255}}

var (
	dim    = atlas.RGB{R: 128, G: 144, B: 162}
	bright = atlas.RGB{R: 226, G: 232, B: 238}
	alarm  = atlas.RGB{R: 255, G: 96, B: 70}
)

// screen shows the map until the last tick, a signal, or one of the keys q, Escape and Ctrl-C. It returns the
// value from ended, or nil after a key. It returns an error at once if the terminal cannot show the map.
func (v *viewer) screen(ended <-chan error) error {
	s, err := tcell.NewScreen()
	if err == nil {
		err = s.Init()
	}
	if err != nil {
		return err
	}
	defer s.Fini()
	defer v.notices.show()()
	events, quit := make(chan tcell.Event, 16), make(chan struct{})
	defer close(quit)
	go s.ChannelEvents(events, quit)
	second := time.NewTicker(time.Second)
	defer second.Stop()
	now := v.sample()
	for {
		columns, rows := s.Size()
		show(s, v.compose(&now, columns, rows))
		select {
		case <-second.C:
			now = v.sample()
		case e := <-events:
			switch e := e.(type) {
			case nil, *tcell.EventError:
				return errors.New("the terminal is gone")
			case *tcell.EventResize:
				s.Sync()
			case *tcell.EventKey:
				q := e.Rune() == 'q' || e.Rune() == 'Q'
				if q || e.Key() == tcell.KeyCtrlC || e.Key() == tcell.KeyEscape {
					return nil
				}
			}
		case err := <-ended:
			return err
		}
	}
}

func show(s tcell.Screen, g atlas.Grid) {
	colour := func(c atlas.RGB) tcell.Color { return tcell.NewRGBColor(int32(c.R), int32(c.G), int32(c.B)) }
	for i, c := range g.Cells {
		style := tcell.StyleDefault
		if !g.NoColor {
			style = style.Foreground(colour(c.Fg)).Background(colour(c.Bg))
		}
		s.SetContent(i%g.Columns, i/g.Columns, c.Rune, nil, style)
	}
	s.Show()
}

const (
	// regionColumns is the width of one region in the list below the map.
	regionColumns = 36
	// mapColumns is the largest width of the map, in cells. A cell is two dots wide. A wider map would have
	// more dots in a row than the picture has squares in a row.
	mapColumns = globe.SquaresAcross / 2
)

// compose paints the map with the numbers of the regions, the sums, the list of the regions, the latest
// notice, and a line with the keys and addresses. It leaves out a list that needs more than half of the rows.
func (v *viewer) compose(s *sample, columns, rows int) atlas.Grid {
	g := atlas.NewGrid(columns, rows)
	g.NoColor = os.Getenv("NO_COLOR") != ""
	across := max(1, columns/regionColumns)
	listRows := (len(s.regions) + across - 1) / across
	if listRows > rows/2 { // too many regions for a list
		listRows = 0
	}
	mapRows := rows - listRows - 3
	if columns < 20 || mapRows < 4 {
		g.Print(0, 0, "too small", bright)
		return g
	}
	colours := v.colours(s)
	width := min(columns, mapColumns)
	g.Paste((columns-width)/2, 0, v.world(s, width, mapRows))
	for i, cell := range v.centres(width, mapRows) {
		g.Print((columns-width)/2+cell.x, cell.y, fmt.Sprint(i), colours[s.regions[i].Process])
	}
	t := &s.total
	g.Print(1, mapRows, fmt.Sprintf("tick %d   %.0f ticks/s   %d travellers   %d moving   %d infected   "+
		"%.0f cross a border each second   %d regions in %d processes", t.Tick, s.rate, t.Travellers,
		t.Moving, t.Infectious, s.crossing, len(s.regions), s.processes()), bright)
	for i, r := range s.regions {
		if listRows == 0 {
			break
		}
		x, y := 1+i/listRows*regionColumns, mapRows+1+i%listRows
		text, colour := fmt.Sprintf("%3d %-8.8s %9d travellers", i, r.Process, s.figures[i].Travellers),
			colours[r.Process]
		if r.Waiting != "" {
			text, colour = fmt.Sprintf("%3d %-8.8s %s", i, r.Process, r.Waiting), alarm
		}
		g.Print(x, y, cut(text, min(regionColumns-2, columns-x)), colour)
	}
	if notice := v.notices.latest(); notice != "" {
		g.Print(1, rows-2, cut(notice, columns-2), alarm)
	}
	keys := "q quit"
	if url := v.node.URL(); url != "" {
		keys += "   server " + url
	}
	if v.inspector != nil {
		keys += "   inspector " + v.inspector.URL()
	}
	if v.o.places == "" {
		keys += "   " + places.Attribution
	}
	g.Print(1, rows-1, cut(keys, columns-2), dim)
	return g
}

func cut(text string, columns int) string {
	if r := []rune(text); len(r) > columns {
		return string(r[:max(columns, 0)])
	}
	return text
}

func (v *viewer) colours(s *sample) map[string]atlas.RGB {
	c := map[string]atlas.RGB{v.node.Process(): ownerColours[0]}
	for _, r := range s.regions {
		if _, ok := c[r.Process]; !ok {
			c[r.Process] = ownerColours[len(c)%len(ownerColours)]
		}
	}
	return c
}

func (v *viewer) world(s *sample, columns, rows int) atlas.Grid {
	m := atlas.New(columns, rows)
	p := new(globe.Picture)
	for i := range s.figures {
		p.Add(s.figures[i].Picture)
	}
	width, height := m.Dots()
	density, infected := make([]uint32, width*height), make([]uint32, width*height)
	for i, n := range p.Travellers {
		if n == 0 {
			continue
		}
		lat, lon := globe.Centre(i)
		if dot := m.Dot(lat, lon); dot >= 0 {
			density[dot] += n
			infected[dot] += p.Infectious[i]
		}
	}
	return m.Draw(density, infected, atlas.Style{NoColor: os.Getenv("NO_COLOR") != ""})
}

type point struct{ x, y int }

// centres returns the cell of the map in which the largest place of each region lies.
func (v *viewer) centres(columns, rows int) []point {
	m := atlas.New(columns, rows)
	width, _ := m.Dots()
	var cells []point
	for i := range v.o.regions {
		lat, lon := v.planet.Capital(i)
		dot := max(0, m.Dot(lat, lon))
		cells = append(cells, point{dot % width / 2, dot / width / 4})
	}
	return cells
}
