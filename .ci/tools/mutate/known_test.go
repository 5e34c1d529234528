package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestKnown(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mutants.tsv")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("# why\n\nf.go\tless\t< → <=\tif a < b {\tb is odd\n")
	k, err := readKnown(path)
	if err != nil {
		t.Fatal(err)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	m := mutant{File: filepath.Join(here, "f.go"), Line: 7, Func: "less", Change: "< → <=",
		Text: "if a < b {"}
	if why := k.reason(m); why != "b is odd" {
		t.Errorf("reason %q, want %q", why, "b is odd")
	}
	m.Func = "more"
	if why := k.reason(m); why != "" {
		t.Errorf("the same change in another function has the reason %q", why)
	}
	m.Func, m.Change = "less", "< → >="
	if why := k.reason(m); why != "" {
		t.Errorf("another change has the reason %q", why)
	}
	write("f.go\t< → <=\tif a < b {\n")
	if _, err := readKnown(path); err == nil {
		t.Error("no error for a line with three columns")
	}
}
