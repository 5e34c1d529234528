// Package nodetest runs Node scripts that use DuckDB and the JavaScript library of Apache Arrow.
package nodetest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// If the environment variable requiredVariable is 1, tests install missing libraries, and fail without Node.
const requiredVariable = "VAST_NPM_REQUIRED"

// Run runs a script with Node and returns what the script prints. The first argument of the script is the
// folder of the libraries. If VAST_NPM_REQUIRED is 1, Run installs missing libraries into the user's cache,
// and fails the test without Node. Otherwise, Run skips the test if Node or a library is missing.
func Run(t *testing.T, script string, args ...string) []byte {
	t.Helper()
	required := os.Getenv(requiredVariable) == "1"
	skipOrFail := t.Skipf
	if required {
		skipOrFail = t.Fatalf
	}
	if _, err := exec.LookPath("node"); err != nil {
		skipOrFail("needs Node: %v", err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		skipOrFail("needs a folder for libraries: %v", err)
	}
	// Raise the number when the versions below change. The file complete marks a complete installation.
	dir := filepath.Join(cache, "vast-test-arrow-1")
	complete := filepath.Join(dir, "complete")
	if _, err := os.Stat(complete); err != nil {
		if !required {
			t.Skip("needs @duckdb/node-api and apache-arrow: set " + requiredVariable + "=1 to install them")
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		c := exec.Command("npm", "install", "--no-audit", "--no-fund", "--no-save", "--prefix", dir,
			"@duckdb/node-api@1.5.6-r.1", "apache-arrow@21.2.0")
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("npm install: %v\n%s", err, out)
		}
		if err := os.WriteFile(complete, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var stderr bytes.Buffer
	c := exec.Command("node", append([]string{script, dir}, args...)...)
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", script, err, &stderr)
	}
	return out
}
