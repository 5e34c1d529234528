//go:build (linux || darwin || freebsd || windows) && !race && (amd64 || arm64 || ppc64 || ppc64le || riscv64 || s390x || loong64 || mips64 || mips64le)

package vast_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	code = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")
	// link does not match links to other sites.
	link       = regexp.MustCompile(`\]\(([^)#:]*)(?:#([^)]*))?\)`)
	heading    = regexp.MustCompile(`(?m)^#+ (.*)$`)
	declared   = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Example)\w*)`)
	quoted     = regexp.MustCompile("`([^`]*)`")
	notInLinks = regexp.MustCompile(`[^\p{L}\p{N} -]`)
)

func TestDocumentationLinks(t *testing.T) {
	var pages []string
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/guide/*.md", "docs/decisions/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, found...)
	}
	links := 0
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllSubmatch(code.ReplaceAll(text, nil), -1) {
			links++
			to := page
			if len(m[1]) > 0 {
				to = filepath.Join(filepath.Dir(page), string(m[1]))
			}
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s: %v", page, err)
			} else if len(m[2]) > 0 && !hasHeading(t, to, string(m[2])) {
				t.Errorf("%s links to the heading #%s of %s, which does not exist", page, m[2], to)
			}
		}
	}
	if links == 0 {
		t.Error("the documentation has no links")
	}
}

// hasHeading reports whether a page has a heading with this anchor. It forms anchors as GitHub does.
func hasHeading(t *testing.T, page, anchor string) bool {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range heading.FindAllSubmatch(text, -1) {
		made := strings.ToLower(notInLinks.ReplaceAllString(string(m[1]), ""))
		if strings.ReplaceAll(made, " ", "-") == anchor {
			return true
		}
	}
	return false
}

func TestSourcesAreShown(t *testing.T) {
	if testing.Short() {
		t.Skip("the document and the names are the same in every build: run this test without -short")
	}
	page, err := os.ReadFile("docs/sources.md")
	if err != nil {
		t.Fatal(err)
	}
	exists := make(map[string]bool)
	err = filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, name := range declared.FindAllSubmatch(text, -1) {
			exists[string(name[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	help, err := exec.Command("go", "run", "./cmd/vast", "bench", "-help").Output()
	if errors.Is(err, exec.ErrNotFound) {
		t.Skip("no go command:", err)
	}
	if err != nil {
		t.Fatal("vast bench -help fails:", err)
	}
	workloads := strings.FieldsFunc(string(help), func(r rune) bool {
		return r == ' ' || r == ',' || r == '\n'
	})
	names := 0
	for _, line := range strings.Split(string(page), "\n") {
		_, measured, _ := strings.Cut(line, "bench `")
		measured, _, _ = strings.Cut("`"+measured, ";")
		for _, name := range quoted.FindAllStringSubmatch(line, -1) {
			if declared.MatchString("func " + name[1]) {
				names++
				if !exists[name[1]] {
					t.Errorf("docs/sources.md names %s, which does not exist", name[1])
				}
			}
		}
		for _, name := range quoted.FindAllStringSubmatch(measured, -1) {
			names++
			if !slices.Contains(workloads, name[1]) {
				t.Errorf("docs/sources.md names the workload %s, which vast bench does not have", name[1])
			}
		}
	}
	if names < 100 {
		t.Errorf("docs/sources.md has %d names, want at least 100", names)
	}
}
