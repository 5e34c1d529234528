// Package ttytest shows a command on a simulated terminal.
package ttytest

import (
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gdamore/tcell/v2"
	"github.com/vastgo/vast/cmd/vast/internal/tty"
)

// Screen is a simulated terminal on which a command runs. The method Show copies the cells for the test,
// because only the command's goroutine may read the cells of tcell's simulation.
type Screen struct {
	tcell.SimulationScreen
	Signals chan os.Signal
	status  chan int

	mu       sync.Mutex
	lines    []string
	columns  int
	coloured int
}

// Show starts a command on a screen of the given size and character set. The test must end the command.
func Show(t *testing.T, columns, rows int, charset string, fallbacks map[rune]string,
	command func(*Screen) (status int)) *Screen {
	t.Helper()
	s := &Screen{SimulationScreen: tcell.NewSimulationScreen(charset), Signals: make(chan os.Signal, 1),
		status: make(chan int, 1)}
	if err := s.Init(); err != nil {
		t.Fatal(err)
	}
	tty.Replace(s, fallbacks)
	s.SetSize(columns, rows)
	go func() { s.status <- command(s) }()
	return s
}

// Show shows and copies the cells. The command under test calls this method.
func (s *Screen) Show() {
	s.SimulationScreen.Show()
	s.mu.Lock()
	defer s.mu.Unlock()
	cells, columns, rows := s.GetContents()
	s.columns, s.coloured, s.lines = columns, 0, nil
	for row := range rows {
		var line strings.Builder
		for _, c := range cells[row*columns : (row+1)*columns] {
			line.Write(c.Bytes)
			if fg, bg, _ := c.Style.Decompose(); fg != tcell.ColorDefault || bg != tcell.ColorDefault {
				s.coloured++
			}
		}
		s.lines = append(s.lines, line.String())
	}
}

// Lines waits until the screen has the given size and shows the text, and returns the lines of the screen.
func (s *Screen) Lines(t *testing.T, columns, rows int, text string) []string {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for range 4000 {
		if s.columns == columns && len(s.lines) == rows &&
			strings.Contains(strings.Join(s.lines, "\n"), text) {
			return s.lines
		}
		s.mu.Unlock()
		time.Sleep(5 * time.Millisecond)
		s.mu.Lock()
	}
	t.Fatalf("the screen did not show %q at %d×%d in time; it shows:\n%s", text, columns, rows,
		strings.Join(s.lines, "\n"))
	return nil
}

// Coloured returns the number of cells whose colour is not the default.
func (s *Screen) Coloured() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.coloured
}

// ResizeTo changes the size of the screen, as if a user resized a window.
func (s *Screen) ResizeTo(columns, rows int) {
	s.SetSize(columns, rows)
	s.PostEvent(tcell.NewEventResize(columns, rows)) // a real terminal sends this event
}

// Type presses a key.
func (s *Screen) Type(key tcell.Key, r rune) { s.InjectKey(key, r, tcell.ModNone) }

// End presses a key that ends the command, and checks the exit status.
func (s *Screen) End(t *testing.T, key tcell.Key, r rune, status int) {
	t.Helper()
	s.Type(key, r)
	s.Ended(t, status)
}

// Ended waits for the end of the command and checks the exit status.
func (s *Screen) Ended(t *testing.T, status int) {
	t.Helper()
	if got := <-s.status; got != status {
		t.Errorf("exit status %d, want %d", got, status)
	}
}
