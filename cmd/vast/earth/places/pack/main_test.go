package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vastgo/vast/cmd/vast/earth/places"
)

func TestPack(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.csv"), filepath.Join(dir, "out.bin")
	if err := os.WriteFile(in, []byte("name,lat,lon\nA,1,2\nB,3,4\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	if status := run([]string{"-o", out, in}, &stdout, &stderr); status != 0 ||
		!strings.Contains(stdout.String(), "2 places") {
		t.Fatalf("status %d, %q, %q", status, &stdout, &stderr)
	}
	l, err := places.Open(out, places.Options{})
	if err != nil || l.Len() != 2 {
		t.Fatalf("the packed file gives %v, %v", l, err)
	}
	first, _ := os.ReadFile(out)
	run([]string{"-o", out, out}, &stdout, &stderr)
	if second, _ := os.ReadFile(out); !bytes.Equal(first, second) {
		t.Error("packing the packed list gave other bytes")
	}

	stderr.Reset()
	if status := run([]string{"-o", out, filepath.Join(dir, "none")}, &stdout, &stderr); status != 2 ||
		!strings.Contains(stderr.String(), "none: ") {
		t.Errorf("a missing file: status %d, %q", status, &stderr)
	}
	if status := run(nil, &stdout, &stderr); status != 2 {
		t.Errorf("no argument: status %d", status)
	}
}
