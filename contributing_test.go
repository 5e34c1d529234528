//go:build (linux || darwin || freebsd || windows) && !race && (amd64 || arm64 || ppc64 || ppc64le || riscv64 || s390x || loong64 || mips64 || mips64le)

package vast_test

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestContributingNamesEachFile(t *testing.T) {
	text, err := os.ReadFile("CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	_, tables, found := strings.Cut(string(text), "\n## Where each concept lives\n")
	tables, _, ended := strings.Cut(tables, "\n### The commands")
	if !found || !ended {
		t.Fatal("CONTRIBUTING.md lacks the tables of files")
	}
	named := make(map[string]bool)
	folder := ""
	heading := regexp.MustCompile("^### `([^`]*)`")
	for line := range strings.Lines(tables) {
		if m := heading.FindStringSubmatch(line); m != nil {
			folder = m[1]
			if strings.Count(line, "`") > 2 {
				folder = "." // in a table of several folders, each name includes its folder
			}
			continue
		}
		cells := strings.Split(line, "|")
		if len(cells) < 3 {
			continue
		}
		for _, m := range quoted.FindAllStringSubmatch(cells[2], -1) {
			name := path.Join(folder, m[1])
			named[name] = true
			if _, err := os.Stat(name); err != nil {
				t.Errorf("CONTRIBUTING.md names %s, which does not exist", name)
			}
		}
	}
	files := 0
	err = filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		name = filepath.ToSlash(name)
		switch {
		case err != nil:
			return err
		case d.IsDir() && (named[name] && name != "." || d.Name() == "testdata"),
			d.IsDir() && slices.Contains([]string{"cmd", "bench", "examples", "docs"}, name),
			d.IsDir() && strings.HasPrefix(name, ".") && name != ".":
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		files++
		if !named[name] {
			t.Errorf("no table of CONTRIBUTING.md names %s or its folder", name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 200 {
		t.Errorf("the walk found only %d files", files)
	}
}
