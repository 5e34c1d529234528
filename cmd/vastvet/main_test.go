package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vastgo/vast/internal/longtest"
)

const (
	handleDir  = "./passes/handle/testdata/handle"
	offheapDir = "./passes/offheap/testdata/offheap"
)

func run(t *testing.T, name string, args ...string) (stdout, stderr string, failed bool) {
	t.Helper()
	cmd := exec.Command(name, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return out.String(), errs.String(), err != nil
}

func TestAsACommand(t *testing.T) {
	longtest.Only(t)
	tool := filepath.Join(t.TempDir(), "vastvet.exe")
	if out, err := exec.Command("go", "build", "-o", tool, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Run("go vet", func(t *testing.T) {
		_, text, failed := run(t, "go", "vet", "-vettool="+tool, handleDir, offheapDir)
		if !failed {
			t.Error("no mistake was found")
		}
		// The second message needs facts about other packages. The third needs facts about another function
		// of the same package.
		for _, want := range []string{"handle.go:15:5: a and b are compared by slot only",
			"NewSampledPool[string] panics", "pairs[crew] panics"} {
			if !strings.Contains(text, want) {
				t.Errorf("the output lacks %q:\n%s", want, text)
			}
		}
	})
	t.Run("nothing to find", func(t *testing.T) {
		out, text, failed := run(t, "go", "vet", "-vettool="+tool, "strings", "unsafe", "../../examples/...")
		if failed || out+text != "" {
			t.Errorf("findings in correct packages:\n%s%s", out, text)
		}
	})
	t.Run("json", func(t *testing.T) {
		out, _, _ := run(t, tool, "-json", "-handle", "-offheap", handleDir, offheapDir)
		var found map[string]map[string][]struct {
			Message string                     `json:"message"`
			Fixes   []struct{ Message string } `json:"suggested_fixes"`
		}
		if err := json.Unmarshal([]byte(out), &found); err != nil {
			t.Fatalf("%v in\n%s", err, out)
		}
		by := map[string]int{}
		for pkg, analyzers := range found {
			for name, list := range analyzers {
				by[name] += len(list)
				for _, d := range list {
					if name == "handle" && len(d.Fixes) != 1 {
						t.Errorf("%s: %q has %d fixes, want 1", pkg, d.Message, len(d.Fixes))
					}
				}
			}
		}
		if by["handle"] < 5 || by["offheap"] < 30 || len(by) != 2 {
			t.Errorf("findings by analyzer: %v; want at least 5 of handle, at least 30 of offheap, no others",
				by)
		}
	})
	t.Run("fixes", func(t *testing.T) {
		before, err := os.ReadFile(handleDir + "/handle.go")
		if err != nil {
			t.Fatal(err)
		}
		diff, _, _ := run(t, tool, "-fix", "-diff", "-handle", handleDir)
		if !strings.Contains(diff, "+\tif a == b {") {
			t.Errorf("the fixes are\n%s", diff)
		}
		if after, err := os.ReadFile(handleDir + "/handle.go"); err != nil || !bytes.Equal(before, after) {
			t.Errorf("-diff changed the source file (error %v)", err)
		}
	})
}
