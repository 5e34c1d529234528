//go:build (linux || darwin || windows) && !race && (amd64 || arm64 || ppc64 || ppc64le || riscv64 || s390x || loong64 || mips64 || mips64le)

package vast_test

import (
	"encoding/json"
	"fmt"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/vastgo/vast/internal/childtest"
)

var (
	goBlock = regexp.MustCompile("(?s)```go\n(.*?)```")
	// A program states its output in a last comment that begins with "Output:", or in a comment after each
	// call of fmt.Println.
	outputAtEnd   = regexp.MustCompile(`(?s)// Output:(.*?)\n}`)
	outputBeside  = regexp.MustCompile(`(?m)fmt\.Println\(.*\) +// (.*)$`)
	packageClause = regexp.MustCompile(`(?m)^package (\w+)$`)
	testFunction  = regexp.MustCompile(`(?m)^func (Test\w*)\(t \*testing\.T\)`)
)

// documented is a program or a test file in a page.
type documented struct {
	name string // such as guide/start/2 for the second block of the page guide/start
	text string
}

func (d *documented) packageName() string {
	return strings.NewReplacer("/", "_", "-", "_").Replace(d.name)
}

// TestDocumentation compiles and runs the programs and tests in the README and in docs. It compares the
// output of a program with the output that the program states.
//
// Each program becomes a package, and one binary imports all of these packages, because linking a binary for
// each program would take long. A process of the binary runs one program.
func TestDocumentation(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go command:", err)
	}
	if testing.Short() {
		t.Skip("compiles every program of the documentation: run it without -short")
	}
	childtest.Needed(t)
	var programs []*documented
	for _, pattern := range []string{"README.md", "docs/*.md", "docs/guide/*.md"} {
		pages, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, page := range pages {
			text, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			name := strings.TrimSuffix(strings.TrimPrefix(filepath.ToSlash(page), "docs/"), ".md")
			for i, block := range goBlock.FindAllSubmatch(text, -1) {
				programs = append(programs, &documented{fmt.Sprintf("%s/%d", name, i+1), string(block[1])})
			}
		}
	}
	if len(programs) == 0 {
		t.Fatal("the documentation has no programs")
	}
	binary := buildDocumented(t, programs)
	for _, d := range programs {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			d.run(t, binary)
		})
	}
}

// buildDocumented builds one binary of all programs. The files lie in a temporary folder. An overlay makes
// the go command treat them as files of this module.
func buildDocumented(t *testing.T, programs []*documented) (binary string) {
	t.Helper()
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	files := make(map[string]string) // maps a path in the overlay to a path on disk
	add := func(name, text string) {
		real := filepath.Join(dir, strings.ReplaceAll(name, "/", "_"))
		if err := os.WriteFile(real, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		files[filepath.Join(root, "internal", "documented", filepath.FromSlash(name))] = real
	}
	var imports, cases strings.Builder
	for _, d := range programs {
		name := d.packageName()
		add(name+"/program.go", packageClause.ReplaceAllString(d.text, "package "+name))
		add(name+"/run.go", d.runner())
		fmt.Fprintf(&imports, "\t%q\n", "github.com/vastgo/vast/internal/documented/"+name)
		fmt.Fprintf(&cases, "\tcase %q:\n\t\t%s.Run()\n", d.name, name)
	}
	add("main.go", "package main\n\nimport (\n\t\"os\"\n\n"+imports.String()+")\n\n"+
		"func main() {\n\tswitch os.Args[1] {\n"+cases.String()+"\t}\n}\n")
	overlay, err := json.Marshal(map[string]any{"Replace": files})
	if err != nil {
		t.Fatal(err)
	}
	list := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(list, overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	binary = filepath.Join(dir, "documented.exe")
	build := exec.CommandContext(t.Context(), "go", "build", "-overlay", list, "-o", binary,
		"./internal/documented")
	out, err := build.CombinedOutput()
	if err != nil {
		t.Fatalf("a program of the documentation does not compile: %v\n%s", err, out)
	}
	return binary
}

// runner returns a file with a function Run that runs the program or its tests.
func (d *documented) runner() string {
	tests := testFunction.FindAllStringSubmatch(d.text, -1)
	if tests == nil {
		return "package " + d.packageName() + "\n\nfunc Run() { main() }\n"
	}
	var list strings.Builder
	for _, m := range tests {
		fmt.Fprintf(&list, "\t\t{Name: %q, F: %s},\n", m[1], m[1])
	}
	return "package " + d.packageName() + `

import (
	"os"
	"testing"
)

func Run() {
	os.Args = []string{os.Args[0], "-test.v"}
	testing.Main(func(string, string) (bool, error) { return true, nil }, []testing.InternalTest{
` + list.String() + "\t}, nil, nil)\n}\n"
}

func (d *documented) run(t *testing.T, binary string) {
	if formatted, err := format.Source([]byte(d.text)); err != nil || string(formatted) != d.text {
		t.Errorf("the program is not formatted by gofmt (%v):\n%s", err, d.text)
	}
	command := exec.CommandContext(t.Context(), binary, d.name)
	command.Dir = t.TempDir()
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, out, d.text)
	}
	if tests := testFunction.FindAllStringIndex(d.text, -1); tests != nil {
		if passed := strings.Count(string(out), "--- PASS"); passed != len(tests) {
			t.Errorf("%d of %d tests ran:\n%s", passed, len(tests), out)
		}
		return
	}
	want := d.statedOutput()
	if len(want) == 0 {
		t.Fatalf("the program does not state its output:\n%s", d.text)
	}
	if got := strings.TrimSpace(string(out)); got != strings.TrimSpace(strings.Join(want, "\n")) {
		t.Errorf("the program prints\n%s\nbut states\n%s", got, strings.Join(want, "\n"))
	}
}

func (d *documented) statedOutput() (lines []string) {
	if m := outputAtEnd.FindStringSubmatch(d.text); m != nil {
		for line := range strings.Lines(m[1]) {
			line = strings.TrimPrefix(strings.TrimSpace(line), "//")
			lines = append(lines, strings.TrimPrefix(line, " ")) // keeps the indentation of the output
		}
		return lines
	}
	for _, m := range outputBeside.FindAllStringSubmatch(d.text, -1) {
		lines = append(lines, m[1])
	}
	return lines
}
