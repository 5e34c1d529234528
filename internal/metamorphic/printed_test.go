package metamorphic_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vastgo/vast/internal/longtest"
	"github.com/vastgo/vast/internal/metamorphic"
	"github.com/vastgo/vast/internal/metamorphic/testdata/forgetful"
)

// caught is a T that keeps the first message.
type caught struct{ text string }

func (c *caught) Helper() {}
func (c *caught) Fatalf(format string, a ...any) {
	if c.text == "" {
		c.text = fmt.Sprintf(format, a...)
	}
}

// TestPrinted shrinks a stream that fails with a faulty column, prints it as a test and compiles this test.
// The compiled test must fail with the same message.
func TestPrinted(t *testing.T) {
	longtest.Only(t)
	compiler, err := exec.LookPath("go")
	if err != nil {
		t.Skip("the go command is missing")
	}
	root, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	wrong := forgetful.Configurations()
	// Only a stream that adds a component to an entity twice finds the mistake.
	var ops []metamorphic.Op
	for seed := uint64(1); ops == nil; seed++ {
		if seed > 100 {
			t.Fatal("no stream finds the mistake")
		}
		random := metamorphic.Random(rand.New(rand.NewPCG(seed, 6)), 400)
		if metamorphic.Compare(wrong, random) != nil {
			ops = random
		}
	}
	short := metamorphic.Shrink(ops, func(ops []metamorphic.Op) bool {
		return metamorphic.Compare(wrong, ops) != nil
	})
	if len(short) > 4 {
		t.Errorf("Shrink leaves %d of %d operations, want at most 4", len(short), len(ops))
	}
	source := metamorphic.Print(short, "forgetful.Configurations()",
		"github.com/vastgo/vast/internal/metamorphic/testdata/forgetful")
	t.Log(source)
	// The overlay makes the compiler treat the file as a file of the module.
	directory := t.TempDir()
	file := filepath.Join(directory, "shrunk_test.go")
	inModule := filepath.Join(root, "testdata", "shrunk", "shrunk_test.go")
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {inModule: file}})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"shrunk_test.go": source, "overlay.json": string(overlay)} {
		if err := os.WriteFile(filepath.Join(directory, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	program := filepath.Join(directory, "shrunk.test")
	compile := exec.Command(compiler, "test", "-c", "-vet=off", "-overlay",
		filepath.Join(directory, "overlay.json"),
		"-o", program, "./testdata/shrunk")
	if out, err := compile.CombinedOutput(); err != nil {
		t.Fatalf("the printed test does not compile: %v\n%s\n%s", err, out, source)
	}
	command := exec.Command(program)
	command.Dir = directory
	out, err := command.CombinedOutput()
	var told caught
	metamorphic.Check(&told, wrong, short)
	first, _, _ := strings.Cut(told.text, "\n")
	if err == nil || !strings.Contains(string(out), "--- FAIL: TestShrunk") ||
		!strings.Contains(string(out), first) {
		t.Errorf("the printed test does not fail with %q: %v\n%s", first, err, out)
	}
}
