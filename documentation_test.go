//go:build !race && !js && !wasip1

package vast_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	goBlock = regexp.MustCompile("(?s)```go\n(.*?)```")
	// A program says what it prints in the comments of a last paragraph, as an example does, or beside its fmt.Println.
	outputAtEnd  = regexp.MustCompile(`(?s)// Output:(.*?)\n}`)
	outputBeside = regexp.MustCompile(`(?m)fmt\.Println\(.*\) +// (.*)$`)
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

func runProgram(t *testing.T, program string) {
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
