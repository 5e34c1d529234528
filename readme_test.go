//go:build !race

package vast_test

import (
	"os"
	"strings"
	"testing"
)

// TestReadmeProgram holds the program in the README against the example, which is compiled and run.
func TestReadmeProgram(t *testing.T) {
	body := func(file, from, to string) string {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, rest, ok := strings.Cut(string(text), from)
		body, _, ok2 := strings.Cut(rest, to)
		if !ok || !ok2 {
			t.Fatalf("%s: nothing between %q and %q", file, from, to)
		}
		return body
	}
	example := body("example_world_test.go", "func Example() {\n", "\t// Output: ")
	readme := body("README.md", "func main() {\n", "}\n```")
	readme = strings.Replace(readme, " // {1 2} 1000000", "", 1)
	if readme != example {
		t.Errorf("the README's program is\n%s\nbut the example is\n%s", readme, example)
	}
}
