package tty

import (
	"bytes"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/gdamore/tcell/v2"
)

func TestNoTerminals(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if Is(f) || Draws(f) || Is(new(bytes.Buffer)) || Is(nil) {
		t.Error("a file, a buffer or nothing is a terminal")
	}
}

func TestIsUnicode(t *testing.T) {
	for set, want := range map[string]bool{"UTF-8": true, "utf8": true, "US-ASCII": false, "ISO8859-1": false} {
		if got := IsUnicode(tcell.NewSimulationScreen(set)); got != want {
			t.Errorf("%s: %t", set, got)
		}
	}
}

// foreign is a signal of a system that does not number them.
type foreign struct{}

func (foreign) String() string { return "foreign" }
func (foreign) Signal()        {}

func TestStatus(t *testing.T) {
	for s, want := range map[os.Signal]int{os.Interrupt: 130, syscall.SIGTERM: 143, foreign{}: 1} {
		if got := Status(s); got != want {
			t.Errorf("%v: %d, want %d", s, got, want)
		}
	}
}
