package earth

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vastgo/vast/cmd/vast/earth/places"
	"github.com/vastgo/vast/cmd/vast/internal/cli"
)

func TestCapture(t *testing.T) {
	file := filepath.Join(t.TempDir(), "earth.svg")
	var stdout strings.Builder
	w := &fakeWorld{}
	w.counts.Infectious = 4321
	if status := runWorld(w, options{ticks: 90, json: true, capture: file}, nil, &stdout,
		os.Stderr); status != cli.Success {
		t.Fatalf("exit status %d", status)
	}
	picture, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	decoder := xml.NewDecoder(strings.NewReader(string(picture)))
	for {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("not well-formed: %v", err)
		}
	}
	for _, want := range []string{"<svg", "vast earth", "travellers", ">4,321<", "day", "1 01:30", "Go heap",
		places.Attribution} {
		if !strings.Contains(string(picture), want) {
			t.Errorf("the picture lacks %q", want)
		}
	}
	if len(w.painted) != 1 || w.painted[0] != 90 {
		t.Errorf("painted at ticks %v, want only tick 90", w.painted)
	}
	if !strings.HasPrefix(stdout.String(), `{"seed":`) {
		t.Errorf("stdout %q, want the report", stdout.String())
	}
}

func TestCaptureCannotWrite(t *testing.T) {
	var stdout, stderr strings.Builder
	file := filepath.Join(t.TempDir(), "no", "such", "folder.svg")
	if status := runWorld(&fakeWorld{}, options{ticks: 1, json: true, capture: file}, nil, &stdout,
		&stderr); status != cli.Failure || !strings.Contains(stderr.String(), file) || stdout.String() != "" {
		t.Errorf("exit status %d, stdout %q, stderr %q; want %d and the file's name", status, stdout.String(),
			stderr.String(), cli.Failure)
	}
}
