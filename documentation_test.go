//go:build (linux || darwin || freebsd || windows) && !race && (amd64 || arm64 || ppc64 || ppc64le || riscv64 || s390x || loong64 || mips64 || mips64le)

package vast_test

import (
	"go/format"
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
	goBlock = regexp.MustCompile("(?s)```go\n(.*?)```")
	code    = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")
	// A program says what it prints in the comments of a last paragraph, as an example does, or beside its fmt.Println.
	outputAtEnd  = regexp.MustCompile(`(?s)// Output:(.*?)\n}`)
	outputBeside = regexp.MustCompile(`(?m)fmt\.Println\(.*\) +// (.*)$`)
	// A link leads to a file of the repository, a heading of one, or elsewhere.
	link       = regexp.MustCompile(`\]\(([^)#:]*)(?:#([^)]*))?\)`)
	heading    = regexp.MustCompile(`(?m)^#+ (.*)$`)
	declared   = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Example)\w*)`)
	quoted     = regexp.MustCompile("`([^`]*)`")
	notInLinks = regexp.MustCompile(`[^\p{L}\p{N} -]`)
)

// TestDocumentation compiles and runs the programs in the README and in docs, each of which is complete, and compares
// what they print with what they say.
func TestDocumentation(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go command:", err)
	}
	pages, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	programs := 0
	for _, page := range append(pages, "README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for i, block := range goBlock.FindAllSubmatch(text, -1) {
			programs++
			t.Run(strings.TrimSuffix(filepath.Base(page), ".md")+"/"+string(rune('a'+i)), func(t *testing.T) {
				t.Parallel()
				runProgram(t, string(block[1]))
			})
		}
	}
	if programs == 0 {
		t.Error("the documentation has no programs")
	}
}

// TestDocumentationLinks looks for the files and headings that the pages link to.
func TestDocumentationLinks(t *testing.T) {
	var pages []string
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/decisions/*.md"} {
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
				t.Errorf("%s links to the heading #%s of %s, which is not there", page, m[2], to)
			}
		}
	}
	if links == 0 {
		t.Error("the documentation has no links")
	}
}

// hasHeading reports whether a page has a heading with an anchor, as GitHub makes them.
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

func runProgram(t *testing.T, program string) {
	if formatted, err := format.Source([]byte(program)); err != nil || string(formatted) != program {
		t.Errorf("the program is not formatted by gofmt (%v):\n%s", err, program)
	}
	var want []string
	if m := outputAtEnd.FindStringSubmatch(program); m != nil {
		for line := range strings.Lines(m[1]) {
			want = append(want, strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "//")))
		}
	} else {
		for _, m := range outputBeside.FindAllStringSubmatch(program, -1) {
			want = append(want, m[1])
		}
	}
	if len(want) == 0 {
		t.Fatalf("the program does not say what it prints:\n%s", program)
	}
	file := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(file, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "go", "run", file).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, out, program)
	}
	if got := strings.TrimSpace(string(out)); got != strings.TrimSpace(strings.Join(want, "\n")) {
		t.Errorf("prints\n%s\nbut says\n%s", got, strings.Join(want, "\n"))
	}
}

// TestSourcesAreShown looks for the tests and the works of the benchmark that docs/sources.md names.
func TestSourcesAreShown(t *testing.T) {
	page, err := os.ReadFile("docs/sources.md")
	if err != nil {
		t.Fatal(err)
	}
	there := make(map[string]bool)
	err = filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, name := range declared.FindAllSubmatch(text, -1) {
			there[string(name[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	help, err := exec.Command("go", "run", "./cmd/vast", "bench", "-help").Output()
	if err != nil {
		t.Skip("no go command:", err)
	}
	works := strings.FieldsFunc(string(help), func(r rune) bool { return r == ' ' || r == ',' || r == '\n' })
	names := 0
	for _, line := range strings.Split(string(page), "\n") {
		_, measured, _ := strings.Cut(line, "bench `")
		measured, _, _ = strings.Cut("`"+measured, ";")
		for _, name := range quoted.FindAllStringSubmatch(line, -1) {
			if declared.MatchString("func " + name[1]) {
				names++
				if !there[name[1]] {
					t.Errorf("there is no %s", name[1])
				}
			}
		}
		for _, name := range quoted.FindAllStringSubmatch(measured, -1) {
			names++
			if !slices.Contains(works, name[1]) {
				t.Errorf("vast bench has no work %s", name[1])
			}
		}
	}
	if names < 100 {
		t.Errorf("only %d names were looked for", names)
	}
}
