package tty

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"testing"
)

func TestNoTerminals(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if Is(f) || Draws(f) || Is(new(bytes.Buffer)) || Is(nil) {
		t.Error("Is or Draws reports that a file, a buffer or nil is a terminal")
	}
}

func TestGrouped(t *testing.T) {
	for n, want := range map[uint64]string{
		0: "0", 12: "12", 999: "999", 1000: "1,000", 123456: "123,456", 1234567: "1,234,567",
		math.MaxUint64: "18,446,744,073,709,551,615",
	} {
		if got := Grouped(n); got != want {
			t.Errorf("Grouped(%d) = %q, want %q", n, got, want)
		}
	}
	if got := Grouped(-1); got != "0" {
		t.Errorf("Grouped(-1) = %q", got)
	}
}
